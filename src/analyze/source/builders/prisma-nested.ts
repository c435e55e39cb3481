/**
 * What `data` of Prisma writes to other models: rows that the row itself refers to are written before it, all others behind it, by its key. The
 * library reads what it connects and throws without it; where it reads keys first and writes by them, the write stands with the whole condition.
 */
import { type Abstract, constant, type Fragment, undefinedValue } from '../abstract-value.ts';
import { normalCompletion } from '../machine.ts';
import { elementIn, overList } from '../over-list.ts';
import { choose, constantOf, truthOf } from '../value-arithmetic.ts';
import { firstRow, ofRows, requireRow } from './chain.ts';
import { join, operand, parenthesized } from './fragment.ts';
import { identifier } from './identifier.ts';
import { optionsOf } from './clauses.ts';
import { isFirst, type Nested, type Written, writtenFields } from './prisma-data.ts';
import { joinedFields, linkOf, type PrismaRelation } from './prisma-schema.ts';
import { firstColumn, insert, type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, whereFragment } from './prisma-where.ts';
import { newQuery, withCondition } from './query.ts';

/** Fields of the row that the writes behind it need. */
export function neededKeys(call: PrismaCall, { nested }: Written): readonly string[] {
  return nested
    .filter((one) => !isFirst(one))
    .flatMap(({ relation }) =>
      linkOf(call.models, call.model, relation) === null
        ? [...call.model.id, ...joinedFields(call.models, call.model, relation).map(([own]) => own)]
        : call.model.id,
    );
}

/** A row with all that stands in its `data`. */
export function insertNested(
  call: PrismaCall,
  data: Abstract,
  keys: ReadonlyMap<string, Fragment>,
  returned: readonly string[],
): Abstract {
  const written = writtenFields(call, data, 'insert');
  const columns = new Map([...written.columns, ...keys, ...writeFirst(call, written)]);
  const fields = [...new Set([...returned, ...neededKeys(call, written)])];
  const rows = insert(call, [{ ...written, columns }], fields.length === 0 ? call.model.id : fields, []);
  writeOthers(call, rows, written);
  return rows;
}

/** The rows that the row refers to, and the values of its foreign keys. */
export function writeFirst(call: PrismaCall, { nested }: Written): ReadonlyMap<string, Fragment> {
  const keys = new Map<string, Fragment>();
  for (const one of nested.filter(isFirst)) {
    const inner = otherSide(call, one.relation);
    if (inner === null) continue;
    const { fields, references } = one.relation;
    const [given, row] = firstRowOf(inner, one, references);
    for (const [index, own] of fields.entries()) {
      const reference = references[index] ?? 'id';
      keys.set(own, operand(given.get(reference) ?? fieldOfRow(row, reference)));
    }
  }
  return keys;
}

/** What names the row, and the row. */
function firstRowOf(
  inner: PrismaCall,
  { kind, value }: Nested,
  references: readonly string[],
): readonly [ReadonlyMap<string, Abstract>, Abstract] {
  if (kind === 'create') return [new Map(), insertNested(inner, value, new Map(), references)];
  const where = kind === 'connect' ? value : part(inner, value, 'where');
  const found = select(inner, whereFragment(inner, where), references);
  if (kind === 'connect') return [optionsOf(value), (requireRow(inner.machine, firstRow(found)), found)];
  const row = eitherRow(inner, found, () => insertNested(inner, part(inner, value, 'create'), new Map(), references));
  return [new Map(), row];
}

function otherSide(call: PrismaCall, { model }: PrismaRelation): PrismaCall | null {
  const other = call.models.get(model);
  return other === undefined ? null : { ...call, model: other, alias: other.table };
}

function select(inner: PrismaCall, where: Fragment, fields: readonly string[]): Abstract {
  const names = [...new Set([...inner.model.id, ...fields])];
  return run(inner, {
    ...withCondition(start(inner, 'select'), where),
    columns: names.map((name) => shown(inner, name)),
  });
}

/** The rows that were found, or else those that `create` gives. */
function eitherRow(inner: PrismaCall, found: Abstract, create: () => Abstract, update?: () => void): Abstract {
  const isThere = truthOf(firstRow(found));
  let created: Abstract = found;
  inner.machine.fork(
    isThere,
    () => (update?.(), normalCompletion),
    () => ((created = create()), normalCompletion),
  );
  return choose(isThere, found, created);
}

function fieldOfRow(rows: Abstract, field: string): Abstract {
  return ofRows(rows, (statement) => firstColumn(statement, field));
}

/** `where`, `create` and the others of an object, also of one that the source does not say. */
function part({ machine, at }: PrismaCall, value: Abstract, name: string): Abstract {
  return value.kind === 'object' || value.kind === 'value' ? machine.member(value, name, at) : undefinedValue;
}

/** The row's own key, as the other table refers to it. */
interface Side {
  readonly call: PrismaCall;
  readonly inner: PrismaCall;
  readonly rows: Abstract;
  readonly relation: PrismaRelation;
}

/** Behind the row: all that refers to it. */
export function writeOthers(call: PrismaCall, rows: Abstract, { nested }: Written): void {
  for (const { relation, kind, value } of nested.filter((one) => !isFirst(one))) {
    const inner = otherSide(call, relation);
    if (inner === null) continue;
    const side: Side = { call, inner, rows, relation };
    const list = kind === 'createMany' ? part(call, value, 'data') : value;
    if (kind === 'set') clear(side);
    if (constantOf(list) !== false) forEachOf(call, list, (one) => writes[kind]?.(side, one));
  }
}

/** Of a list of which only the origin is known, any number of times. */
export function forEachOf(call: PrismaCall, list: Abstract, write: (one: Abstract) => void): void {
  const isOne = list.kind === 'object' || constantOf(list) !== undefined;
  if (isOne) return write(list);
  overList(call.machine, list, 'element', (element) => (write(elementIn(list, element)), normalCompletion), call.at);
}

const writes: Readonly<Record<string, (side: Side, value: Abstract) => void>> = {
  create: createOther,
  createMany: createOther,
  connect: (side, where) => connectOther(side, where),
  set: (side, where) => connectOther(side, where),
  connectOrCreate: (side, value) => {
    const where = whereFragment(side.inner, part(side.inner, value, 'where'));
    const found = select(side.inner, where, []);
    eitherRow(
      side.inner,
      found,
      () => (createOther(side, part(side.inner, value, 'create')), found),
      () => attach(side, where, found),
    );
  },
  disconnect: (side, where) => detach(side, where),
  delete: (side, where) =>
    void run(side.inner, withCondition(start(side.inner, 'delete'), scoped(side, whereOf(where)))),
  deleteMany: (side, where) =>
    void run(side.inner, withCondition(start(side.inner, 'delete'), scoped(side, whereOf(where)))),
  update: (side, value) => updateOther(side, value),
  updateMany: (side, value) => updateOther(side, value),
  upsert: (side, value) => {
    const found = select(side.inner, scoped(side, part(side.inner, value, 'where')), []);
    eitherRow(
      side.inner,
      found,
      () => (createOther(side, part(side.inner, value, 'create')), found),
      () => updateOther(side, value),
    );
  },
};

/** `true` is the one row of the relation. */
function whereOf(value: Abstract): Abstract | undefined {
  return constantOf(value) === true ? undefined : value;
}

function createOther(side: Side, data: Abstract): void {
  const { call, inner, rows, relation } = side;
  const isOwner = relation.fields.length > 0;
  const keys = isOwner ? [] : joined(side).map(([own, theirs]) => [theirs, operand(fieldOfRow(rows, own))] as const);
  const others = insertNested(inner, data, new Map(keys), isOwner ? relation.references : []);
  insertLink(side, others);
  if (!isOwner) return;
  const set = joined(side).map(([own, theirs]) => assignment(call, own, operand(fieldOfRow(others, theirs))));
  run(call, { ...withCondition(start(call, 'update'), ownRow(side)), assignments: set });
}

function joined({ call, relation }: Side): readonly (readonly [string, string])[] {
  return joinedFields(call.models, call.model, relation);
}

function ownRow({ call, rows }: Side): Fragment {
  const tests = call.model.id.map((key): Fragment => [...column(call, key), ' = ', ...operand(fieldOfRow(rows, key))]);
  return tests.length === 0 ? [constant(true)] : join(tests, ' AND ');
}

function assignment({ model, machine }: PrismaCall, field: string, value: Fragment): Fragment {
  return [`${identifier(model.fields.get(field)?.column ?? field, machine.dialect)} = `, ...value];
}

/** The rows of the relation that the conditions choose. */
function scoped(side: Side, where: Abstract | undefined): Fragment {
  const { inner, rows, call } = side;
  const link = linkOf(call.models, call.model, side.relation);
  const own = (name: string): Fragment => operand(fieldOfRow(rows, name));
  const name = (text: string): string => identifier(text, call.machine.dialect);
  const tests: readonly Fragment[] =
    link === null
      ? joined(side).map(([mine, theirs]) => [...column(inner, theirs), ' = ', ...own(mine)])
      : [
          [
            ...column(inner, inner.model.id[0] ?? 'id'),
            ` IN (SELECT ${name(link.other)} FROM ${name(link.table)} WHERE ${name(link.own)} = `,
            ...own(call.model.id[0] ?? 'id'),
            ')',
          ],
        ];
  const given = whereFragment(inner, where);
  return join([...(given.length === 0 ? [] : [given]), ...tests], ' AND ');
}

/** The other row is looked for, which throws without one. */
function connectOther(side: Side, where: Abstract): void {
  const test = whereFragment(side.inner, where);
  const found = select(side.inner, test, []);
  requireRow(side.call.machine, firstRow(found));
  attach(side, test, found);
}

function attach(side: Side, where: Fragment, found: Abstract): void {
  const { inner, rows } = side;
  if (linkOf(side.call.models, side.call.model, side.relation) !== null) return insertLink(side, found);
  const set = joined(side).map(([own, theirs]) => assignment(inner, theirs, operand(fieldOfRow(rows, own))));
  run(inner, { ...withCondition(start(inner, 'update'), where), assignments: set });
}

/** Of a many-to-many relation: the row that joins both. */
function insertLink({ call, inner, rows, relation }: Side, others: Abstract): void {
  const link = linkOf(call.models, call.model, relation);
  if (link === null) return;
  const values: Readonly<Record<string, Abstract>> = {
    [link.own]: fieldOfRow(rows, call.model.id[0] ?? 'id'),
    [link.other]: fieldOfRow(others, inner.model.id[0] ?? 'id'),
  };
  const columns = Object.keys(values).toSorted();
  run(call, {
    ...newQuery('insert', [[identifier(link.table, call.machine.dialect)]]),
    insertColumns: columns.map((name) => identifier(name, call.machine.dialect)),
    rows: [columns.map((name): Fragment => [values[name] ?? undefinedValue])],
    conflict: [' ON CONFLICT DO NOTHING'],
  });
}

/** No row is joined any more. */
function clear(side: Side): void {
  detachAll(side, []);
}

function detach(side: Side, where: Abstract): void {
  detachAll(side, whereFragment(side.inner, whereOf(where)));
}

function detachAll(side: Side, where: Fragment): void {
  const { call, inner, rows, relation } = side;
  const link = linkOf(call.models, call.model, relation);
  const { dialect } = call.machine;
  if (link === null) {
    const keys = joined(side);
    const tests = keys.map(
      ([own, theirs]): Fragment => [...column(inner, theirs), ' = ', ...operand(fieldOfRow(rows, own))],
    );
    const all = where.length === 0 ? tests : [parenthesized(where), ...tests];
    const set = keys.map(([, theirs]) => assignment(inner, theirs, ['NULL']));
    run(inner, { ...withCondition(start(inner, 'update'), join(all, ' AND ')), assignments: set });
    return;
  }
  const found = where.length === 0 ? null : select(inner, where, []);
  const equal = (name: string, value: Abstract): Fragment => [`${identifier(name, dialect)} = `, ...operand(value)];
  const own = equal(link.own, fieldOfRow(rows, call.model.id[0] ?? 'id'));
  const test =
    found === null ? own : [...own, ' AND ', ...equal(link.other, fieldOfRow(found, inner.model.id[0] ?? 'id'))];
  run(call, withCondition(newQuery('delete', [[identifier(link.table, dialect)]]), test));
}

/** `{ where, data }`, or the fields of the one row. */
function updateOther(side: Side, value: Abstract): void {
  const { inner } = side;
  const options = optionsOf(value);
  const isWrapped = options.has('data') || options.has('update');
  const data = options.get('data') ?? options.get('update') ?? value;
  const written = writtenFields(inner, data, 'update');
  const columns = new Map([...written.columns, ...writeFirst(inner, written)]);
  const where = scoped(side, isWrapped ? options.get('where') : undefined);
  const isRead = columns.size === 0 && written.notRead.length === 0;
  const rows = isRead
    ? select(inner, where, neededKeys(inner, written))
    : run(inner, {
        ...withCondition(start(inner, 'update'), where),
        assignments: [...columns].map(([field, one]) => assignment(inner, field, one)),
        returning: [...new Set([...inner.model.id, ...neededKeys(inner, written)])].map((field) => shown(inner, field)),
        notRead: written.notRead,
      });
  writeOthers(inner, rows, written);
}
