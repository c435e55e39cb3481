/** ALTER TYPE ... ADD VALUE and ALTER SEQUENCE: tables that use them are updated. */
import type { AlterEnumStmt, AlterSeqStmt, Node } from '@pgsql/types';
import { Sequence, type SequenceOptions, sequenceOptions, sequenceRange } from '../catalog/sequence.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import { notSupported, SqlError, type SqlType, arrayOf } from '../model/index.ts';
import type { Changes } from './changes.ts';
import { replaceTable } from './create-index.ts';
import { givenSequenceOptions, givenSequenceType } from './sequence.ts';
import { replaceOwned, setOwner } from './sequence-owner.ts';

export function alterEnum(statement: AlterEnumStmt, planning: Planning, changes: Changes): void {
  const names = stringsOf(statement.typeName);
  const { newVal = '', oldVal, newValNeighbor, newValIsAfter = false, skipIfNewValExists = false } = statement;
  const schema = planning.creationSchema(names.at(-2));
  const found = planning.catalog.type(schema, names.at(-1) ?? '');
  if (found === undefined) throw new SqlError('42704', `type "${names.join('.')}" does not exist`);
  const labels = [...(found.type.labels ?? [])];
  if (labels.includes(newVal)) {
    if (!skipIfNewValExists) throw new SqlError('42710', `enum label "${newVal}" already exists`);
    changes.notice('42710', `enum label "${newVal}" already exists, skipping`);
    return;
  }
  if (oldVal !== undefined) throw notSupported('ALTER TYPE ... RENAME VALUE');
  const neighbour = newValNeighbor === undefined ? labels.length - 1 : labels.indexOf(newValNeighbor);
  if (neighbour < 0 && newValNeighbor !== undefined)
    throw new SqlError('22023', `"${newValNeighbor}" is not an existing enum label`);
  const place = newValNeighbor === undefined || newValIsAfter ? neighbour + 1 : neighbour;
  const labelOrders = [...(found.type.labelOrders ?? labels.map((_, i) => i + 1))];
  labels.splice(place, 0, newVal);
  labelOrders.splice(place, 0, orderBetween(labelOrders[place - 1], labelOrders[place]));
  const type = { ...found.type, labels, labelOrders };
  const now = (before: SqlType): SqlType => withLabels(before, type);
  // The domains over it, too.
  for (const each of planning.catalog.types()) {
    if (each.type.oid !== type.oid) continue;
    const own = now(each.type);
    changes.did(planning.catalog.putType({ ...each, type: own, arrayType: arrayOf(own) }));
  }
  for (const table of planning.catalog.tables()) {
    if (!table.columns.some((column) => column.type.oid === type.oid)) continue;
    const columns = table.columns.map((column) =>
      column.type.oid === type.oid ? { ...column, type: now(column.type) } : column,
    );
    const indexes = table.indexes.map((index) => ({
      ...index,
      parts: index.parts.map((part) => (part.type.oid === type.oid ? { ...part, type } : part)),
    }));
    replaceTable(table, { ...table, columns, indexes }, planning, changes);
  }
}

/** A domain over the enum stays one. */
function withLabels({ domain }: SqlType, type: SqlType): SqlType {
  return domain === undefined ? type : { ...type, domain: { ...domain, base: type } };
}

/** pg_enum's enumsortorder: the labels that are there keep theirs. */
function orderBetween(before: number | undefined, after: number | undefined): number {
  if (before === undefined) return (after ?? 2) - 1;
  return after === undefined ? before + 1 : Math.fround((before + after) / 2);
}

export function alterSequence(
  { sequence: range = {}, options }: AlterSeqStmt,
  planning: Planning,
  changes: Changes,
): void {
  const found = planning.relation(range);
  if (found.kind !== 'sequence') throw new SqlError('42809', `"${found.name}" is not a sequence`);
  const restart = (options ?? []).find((node) => 'DefElem' in node && node.DefElem.defname === 'restart');
  const others = (options ?? []).filter((node) => node !== restart);
  const made = new Sequence(found.id, found.schema, found.name, alteredOptions(found.options, others));
  const arg = restart !== undefined && 'DefElem' in restart ? restart.DefElem.arg : undefined;
  if (restart === undefined) made.set(found.last, found.isCalled);
  else if (arg !== undefined && 'Integer' in arg) made.set(BigInt(arg.Integer.ival ?? 0), false);
  changes.did(planning.catalog.put(made));
  replaceOwned(found, made, planning, changes);
  setOwner(made, options, planning, changes);
}

/** Of another type: the ends that were those of the old type become those of the new one. */
function alteredOptions(options: SequenceOptions, changes: readonly Node[]): SequenceOptions {
  const type = givenSequenceType(changes) ?? options.type;
  const { min, max, ...kept } = options;
  const [oldest, newest] = [sequenceRange(options.type), sequenceRange(type)];
  const bounds = {
    min: min === oldest.min ? newest.min : min,
    max: max === oldest.max ? newest.max : max,
  };
  return sequenceOptions(type, { ...kept, ...bounds, ...givenSequenceOptions(changes) });
}
