/** CREATE SEQUENCE and the options of identity columns. */
import type { CreateSeqStmt, Node } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { notSupported, SqlError } from '../model/index.ts';
import { Sequence, type SequenceOptions, sequenceOptions } from '../catalog/sequence.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import type { Changes } from './changes.ts';
import { setOwner } from './sequence-owner.ts';

type Given = { -readonly [K in keyof SequenceOptions]?: SequenceOptions[K] };

export function givenSequenceOptions(options: readonly Node[] | undefined): Given {
  const given: Given = {};
  for (const node of options ?? []) {
    assert('DefElem' in node, 'options of a sequence are a list');
    const { defname, arg } = node.DefElem;
    const value = integerOf(arg);
    switch (defname) {
      case 'increment':
        if (value !== undefined) given.increment = value;
        break;
      case 'minvalue':
        if (value !== undefined) given.min = value;
        break;
      case 'maxvalue':
        if (value !== undefined) given.max = value;
        break;
      case 'start':
        if (value !== undefined) given.start = value;
        break;
      case 'cycle':
        given.isCycle = arg === undefined || !('Boolean' in arg) || arg.Boolean.boolval === true;
        break;
      case 'cache':
      case 'owned_by':
      case 'as':
      case 'sequence_name':
        break;
      default:
        throw notSupported(`${defname} of a sequence`);
    }
  }
  return given;
}

function integerOf(node: Node | undefined): bigint | undefined {
  if (node === undefined) return undefined;
  if ('Integer' in node) return BigInt(node.Integer.ival ?? 0);
  if ('Float' in node) return BigInt(node.Float.fval ?? '0');
  return undefined;
}

export function createSequence(statement: CreateSeqStmt, planning: Planning, changes: Changes): void {
  const { sequence: range = {}, options, if_not_exists: ifNotExists = false } = statement;
  const { catalog } = planning;
  const schema = planning.creationSchema(range.schemaname);
  const name = range.relname ?? '';
  if (catalog.isTaken(schema, name)) {
    if (!ifNotExists) throw new SqlError('42P07', `relation "${name}" already exists`);
    changes.notice('42P07', `relation "${name}" already exists, skipping`);
    return;
  }
  const made = new Sequence(
    catalog.newId(),
    schema,
    name,
    sequenceOptions(givenSequenceType(options) ?? 'int8', givenSequenceOptions(options)),
  );
  changes.did(catalog.put(made));
  setOwner(made, options, planning, changes);
}

/** AS smallint, integer or bigint. */
export function givenSequenceType(options: readonly Node[] | undefined): SequenceOptions['type'] | undefined {
  for (const node of options ?? []) {
    if (!('DefElem' in node) || node.DefElem.defname !== 'as') continue;
    const { arg } = node.DefElem;
    const name = arg !== undefined && 'TypeName' in arg ? stringsOf(arg.TypeName.names).at(-1) : undefined;
    if (name === 'int2' || name === 'int4' || name === 'int8') return name;
  }
  return undefined;
}
