/** `create`, `update`, `delete` and `upsert` of Prisma, with what they do to relations. */
import { find } from './prisma-reads.ts';
import { type Abstract, undefinedValue, unknown, type Fragment } from '../abstract-value.ts';
import { normalCompletion } from '../machine.ts';
import { choose, truthOf, valueOf } from '../value-arithmetic.ts';
import { firstRow, requireRow } from './chain.ts';
import { entriesOf } from './clauses.ts';
import { join, parenthesized } from './fragment.ts';
import { identifier } from './identifier.ts';
import { chosenFields, type Written, writtenFields } from './prisma-data.ts';
import { forEachOf, insertNested, neededKeys, writeFirst, writeOthers } from './prisma-nested.ts';
import { counts, keysOf, readCounts, readRelations } from './prisma-relations.ts';
import { insert, type PrismaCall, run, shown, start, together } from './prisma-statement.ts';
import { whereFragment } from './prisma-where.ts';
import { withCondition } from './query.ts';
import { same } from '../conditions.ts';

/** With relations, the parts are one transaction. */
export function create(call: PrismaCall): Abstract {
  const written = writtenFields(call, call.options.get('data'), 'insert');
  const { fields, relations } = chosenFields(call, call.options);
  const body = (own: PrismaCall): Abstract => {
    const rows = insertNested(own, own.options.get('data') ?? undefinedValue, new Map(), fields);
    readRelations(own, rows, relations);
    readCounts(own, rows);
    return firstRow(rows);
  };
  return written.nested.length > 0 || relations.length > 0 || counts(call).length > 0
    ? together(call, body)
    : body(call);
}

export function insertRows(call: PrismaCall, returns: boolean): Abstract {
  const data = call.options.get('data') ?? undefinedValue;
  const isKnown = data.kind === 'object' || (data.kind === 'array' && data.elements.value.every(isOneRow));
  if (!isKnown) return insertEach(call, data, returns);
  const list = data.kind === 'array' ? data.elements.value : [data];
  const skips = call.options.has('skipDuplicates') ? [' ON CONFLICT DO NOTHING'] : [];
  const rows = list.map((row) => writtenFields(call, row, 'insert'));
  return insert(call, rows, returns ? chosenFields(call, call.options).fields : [], skips);
}

function isOneRow(row: Abstract): boolean {
  return row.kind === 'object' || (row.kind === 'value' && row.value.kind === 'argument');
}

/** Of a list of which only the origin is known, a statement for each row: what all of them write, the one statement of the library writes. */
function insertEach(call: PrismaCall, data: Abstract, returns: boolean): Abstract {
  return together(call, (own) => {
    const skips = own.options.has('skipDuplicates') ? [' ON CONFLICT DO NOTHING'] : [];
    const returned = returns ? chosenFields(own, own.options).fields : [];
    forEachOf(own, data, (row) => void insert(own, [writtenFields(own, row, 'insert')], returned, skips));
    return unknown('the rows that a list makes');
  });
}

export function updateRows(call: PrismaCall, written: Written, returned: readonly string[]): Abstract {
  const { machine, model, options } = call;
  const query = withCondition(start(call, 'update'), whereFragment(call, options.get('where')));
  return run(call, {
    ...query,
    assignments: [...written.columns].map(([field, value]) => [
      `${identifier(model.fields.get(field)?.column ?? field, machine.dialect)} = `,
      ...value,
    ]),
    returning: returned.map((field) => shown(call, field)),
    notRead: written.notRead,
  });
}

/** Throws where there is no row. Without data, the row is only read. */
export function update(call: PrismaCall): Abstract {
  const written = writtenFields(call, call.options.get('data'), 'update');
  const { fields, relations } = chosenFields(call, call.options);
  const keys = [...relations.flatMap(([name]) => keysOf(call, name)), ...neededKeys(call, written)];
  const returned = [...new Set([...fields, ...keys])];
  const body = (own: PrismaCall): Abstract => {
    const columns = new Map([...written.columns, ...writeFirst(own, written)]);
    const isRead = written.columns.size === 0 && written.notRead.length === 0;
    const rows = isRead
      ? find({ ...own, options: new Map([...own.options].filter(([name]) => name !== 'data')) }, null)
      : updateRows(own, { ...written, columns }, returned.length === 0 ? own.model.id : returned);
    const row = requireRow(own.machine, firstRow(rows));
    writeOthers(own, rows, written);
    if (!isRead) {
      readRelations(own, rows, relations);
      readCounts(own, rows);
    }
    return row;
  };
  return written.nested.length > 0 || relations.length > 0 || counts(call).length > 0
    ? together(call, body)
    : body(call);
}

export function remove(call: PrismaCall, returned: readonly string[]): Abstract {
  const query = withCondition(start(call, 'delete'), whereFragment(call, call.options.get('where')));
  return run(call, { ...query, returning: returned.map((field) => shown(call, field)) });
}

/** INSERT ... ON CONFLICT where the row is named by one unique field to which `create` gives the same value; else a read, then one of both. */
export function upsert(call: PrismaCall): Abstract {
  const { machine, options, model } = call;
  const created = writtenFields(call, options.get('create'), 'insert');
  const updated = writtenFields(call, options.get('update'), 'update');
  const { fields, relations } = chosenFields(call, options);
  const [key, ...others] = entriesOf(options.get('where')) ?? [];
  const isNative =
    key !== undefined &&
    others.length === 0 &&
    created.nested.length + updated.nested.length + relations.length + counts(call).length === 0 &&
    updated.columns.size > 0 &&
    uniqueFields(call, key).every(([field, value]) => {
      const [given] = created.columns.get(field) ?? [];
      return (
        given !== undefined &&
        typeof given === 'object' &&
        given.kind !== 'column-part' &&
        given.kind !== 'not-read' &&
        same(valueOf(given), valueOf(value))
      );
    });
  if (isNative) {
    const target = uniqueFields(call, key).map(
      ([field]): Fragment => [identifier(model.fields.get(field)?.column ?? field, machine.dialect)],
    );
    const set = [...updated.columns].map(
      ([field, value]): Fragment => [
        `${identifier(model.fields.get(field)?.column ?? field, machine.dialect)} = `,
        ...value,
      ],
    );
    const where = whereFragment(call, options.get('where'));
    const conflict = [
      ' ON CONFLICT ',
      ...parenthesized(join(target, ', ')),
      ' DO UPDATE SET ',
      ...join(set, ', '),
      ' WHERE ',
      ...where,
    ];
    return firstRow(
      insert(call, [{ ...created, notRead: [...created.notRead, ...updated.notRead] }], fields, conflict),
    );
  }
  return together(call, (own) => {
    const query = withCondition(start(own, 'select'), whereFragment(own, options.get('where')));
    const found = firstRow(run(own, { ...query, columns: model.id.map((field) => shown(own, field)) }));
    const rest = new Map([...options].filter(([name]) => name !== 'create' && name !== 'update'));
    const [onCreate, onUpdate] = [options.get('create'), options.get('update')].map(
      (value) => value ?? undefinedValue,
    ) as [Abstract, Abstract];
    const isThere = truthOf(found);
    let [updatedRow, createdRow]: [Abstract, Abstract] = [found, found];
    machine.fork(
      isThere,
      () => ((updatedRow = update({ ...own, options: new Map([...rest, ['data', onUpdate]]) })), normalCompletion),
      () => ((createdRow = create({ ...own, options: new Map([...rest, ['data', onCreate]]) })), normalCompletion),
    );
    return choose(isThere, updatedRow, createdRow);
  });
}

/** The fields of a unique key with the values in `where`. */
function uniqueFields(
  { model }: PrismaCall,
  [name, value]: readonly [string, Abstract],
): readonly (readonly [string, Abstract])[] {
  return model.compound.has(name) && !model.fields.has(name) ? (entriesOf(value) ?? []) : [[name, value]];
}
