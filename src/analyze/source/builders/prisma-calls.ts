/** The statements that Prisma sends for a call of a model (seen with Prisma 7.10): reads of relations are statements of their own. */
import type ts from 'typescript';
import { type Abstract, objectOf, undefinedValue } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import { goesOn, type Machine, type Owner } from '../machine.ts';
import { choose, same, truthOf, valueOf } from '../value-arithmetic.ts';
import { columnOf, firstRow, ofRows, requireRow, rowCount, runFragment } from './chain.ts';
import { entriesOf, inList } from './clauses.ts';
import { constantText, type Fragment, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { chosenFields, type Nested, one, writtenFields, type Written } from './prisma-data.ts';
import { joinedFields, linkOf, type PrismaRelation } from './prisma-schema.ts';
import { column, type ModelTable, whereFragment } from './prisma-where.ts';
import { newQuery, printQuery, type Query, withCondition } from './query.ts';

export interface PrismaCall extends ModelTable {
  readonly machine: Machine;
  readonly owner: Owner;
  /** Of the only argument. */
  readonly options: ReadonlyMap<string, Abstract>;
  readonly at: ts.Node;
}

type Run = (call: PrismaCall) => Abstract;

export const prismaCalls: Readonly<Record<string, Run>> = {
  findUnique: (call) => firstRow(find(call, null)),
  findUniqueOrThrow: (call) => requireRow(call.machine, firstRow(find(call, null))),
  findFirst: (call) => firstRow(find(call, one)),
  findFirstOrThrow: (call) => requireRow(call.machine, firstRow(find(call, one))),
  findMany: (call) => find(call, optional(call, 'take')),
  create,
  createMany: (call) => counted(insertRows(call, false)),
  createManyAndReturn: (call) => insertRows(call, true),
  update: (call) => update(call),
  updateMany: (call) => counted(updateRows(call, writtenFields(call, call.options.get('data'), 'update'), [])),
  updateManyAndReturn: (call) =>
    updateRows(call, writtenFields(call, call.options.get('data'), 'update'), chosenFields(call, call.options).fields),
  delete: (call) => requireRow(call.machine, firstRow(remove(call, chosenFields(call, call.options).fields))),
  deleteMany: (call) => counted(remove(call, [])),
  upsert,
  count: (call) => {
    const rows = aggregates(call, [['count(*) AS count']], []);
    return ofRows(rows, (statement) => firstColumn(statement, 'count'));
  },
  aggregate,
  groupBy: (call) => {
    const by = call.options.get('by');
    const fields = (by?.kind === 'array' ? by.elements.value : by === undefined ? [] : [by]).map(
      (field) => constantText(field) ?? '?',
    );
    const columns = [...fields.map((field) => shown(call, field)), ...sums(call).map(({ sql }) => sql)];
    return aggregates(
      call,
      columns,
      fields.map((field) => column(call, field)),
    );
  },
};

function counted(rows: Abstract): Abstract {
  return objectOf({ count: rowCount(rows) });
}

function firstColumn(statement: string, name: string): Abstract {
  return { kind: 'value', value: { kind: 'column', statement, column: name, row: 'first' } };
}

function optional({ options }: PrismaCall, name: string): Fragment | null {
  const value = options.get(name);
  return value === undefined ? null : operand(value);
}

function start(call: PrismaCall, verb: Query['verb']): Query {
  const { machine, model, alias } = call;
  return newQuery(verb, [[identifier(model.table, machine.dialect)]], alias);
}

function run(call: PrismaCall, query: Query): Abstract {
  const { machine, owner, at } = call;
  return runFragment(machine, owner, printQuery(query, machine.dialect), [at], at);
}

/** The column under the name of its field. */
function shown(call: PrismaCall, field: string): Fragment {
  const name = call.model.fields.get(field)?.column ?? field;
  const alias: Fragment = name === field ? [] : [` AS ${identifier(field, call.machine.dialect)}`];
  return [...column(call, field), ...alias];
}

function find(call: PrismaCall, limit: Fragment | null): Abstract {
  const { options } = call;
  const unread = [...options.keys()].find(
    (name) => !/^(?:where|select|include|omit|orderBy|take|skip|distinct|relationLoadStrategy)$/.test(name),
  );
  const { fields, relations } = chosenFields(call, options);
  // To find the rows of a relation, its key is read, too.
  const keys = relations.flatMap(([name]) => keysOf(call, name));
  const query = withCondition(start(call, 'select'), whereFragment(call, options.get('where')));
  const rows = run(call, {
    ...query,
    columns: [...new Set([...fields, ...keys])].map((field) => shown(call, field)),
    orderBy: ordered(call, options.get('orderBy')),
    limit,
    offset: optional(call, 'skip'),
    notRead: unread === undefined ? [] : notRead(`\`${unread}\` of a query of Prisma is not read`),
  });
  readRelations(call, rows, relations);
  return rows;
}

function keysOf(call: PrismaCall, relation: string): readonly string[] {
  const { models, model } = call;
  const known = model.fields.get(relation)?.relation;
  if (known === undefined || known === null) return [];
  return linkOf(models, model, known) === null ? joinedFields(models, model, known).map(([own]) => own) : model.id;
}

/** `{ id: 'desc' }`, or a list; of a relation's field, the order reads that table: not known. */
function ordered(call: PrismaCall, order: Abstract | undefined): readonly Fragment[] {
  const list = order === undefined ? [] : order.kind === 'array' ? order.elements.value : [order];
  return list.flatMap((one_) =>
    (entriesOf(one_) ?? [['?', one_] as const]).map(([field, direction]): Fragment => {
      if (!call.model.fields.has(field) || call.model.fields.get(field)?.relation !== null)
        return notRead('an order by a relation is not read');
      const way = constantText(direction.kind === 'object' ? direction.properties.get('sort')?.value : direction);
      return [...column(call, field), way === undefined ? '' : ` ${way.toUpperCase()}`];
    }),
  );
}

/** A statement for each relation, with the keys of the rows that were read. */
function readRelations(call: PrismaCall, rows: Abstract, relations: readonly (readonly [string, Abstract])[]): void {
  for (const [name, value] of relations) {
    const relation = call.model.fields.get(name)?.relation;
    const other = relation === undefined || relation === null ? undefined : call.models.get(relation.model);
    if (relation === undefined || relation === null || other === undefined) {
      call.machine.notUnderstood(call.at, `the relation ${name} of ${call.model.name} is not in schema.prisma`);
      continue;
    }
    const inner: PrismaCall = { ...call, model: other, alias: other.table, options: new Map(entriesOf(value) ?? []) };
    const joined = joinedFields(call.models, call.model, relation);
    const link = linkOf(call.models, call.model, relation);
    const linkPart = (side: string): Fragment => [{ kind: 'column-part', table: link?.table ?? '', name: side }];
    const ids = columnOf(rows, call.model.id[0] ?? 'id');
    const keys =
      link === null
        ? joined.map(([own, theirs]) => inList(call.machine, column(inner, theirs), columnOf(rows, own), false))
        : [inList(call.machine, linkPart(link.own), ids, false)];
    const joins: readonly Fragment[] =
      link === null
        ? []
        : [
            [
              `JOIN ${identifier(link.table, call.machine.dialect)} ON `,
              ...linkPart(link.other),
              ' = ',
              ...column(inner, other.id[0] ?? 'id'),
            ],
          ];
    if (keys.length === 0) {
      call.machine.notUnderstood(call.at, `the fields of the relation ${name} are not known`);
      continue;
    }
    const { fields, relations: further } = chosenFields(inner, inner.options);
    const found = withCondition(start(inner, 'select'), join(keys, ' AND '));
    const query = withCondition(found, whereFragment(inner, inner.options.get('where')));
    const others = run(inner, {
      ...query,
      joins,
      columns: [...new Set([...fields, ...joined.map(([, theirs]) => theirs)])].map((field) => shown(inner, field)),
    });
    readRelations(inner, others, further);
  }
}

function insert(call: PrismaCall, rows: readonly Written[], returned: readonly string[], conflict: Fragment): Abstract {
  const names = [...new Set(rows.flatMap(({ columns }) => [...columns.keys()]))];
  return run(call, {
    ...start(call, 'insert'),
    insertColumns:
      names.length === 0
        ? null
        : names.map((name) => identifier(call.model.fields.get(name)?.column ?? name, call.machine.dialect)),
    rows: rows.map(({ columns }) => names.map((name) => columns.get(name) ?? ['DEFAULT'])),
    conflict,
    returning: returned.map((field) => shown(call, field)),
    notRead: rows.flatMap((row) => row.notRead),
  });
}

/** With relations, the parts are one transaction. */
function create(call: PrismaCall): Abstract {
  const written = writtenFields(call, call.options.get('data'), 'insert');
  const { fields, relations } = chosenFields(call, call.options);
  const body = (own: PrismaCall): Abstract => {
    for (const nested of written.nested.filter(({ kind }) => kind === 'connect')) requireConnected(own, nested);
    const rows = insert(
      own,
      [written],
      fields.length === 0 ? own.model.id : [...new Set([...fields, ...childKeys(own, written)])],
      [],
    );
    for (const nested of written.nested.filter(({ kind }) => kind === 'create')) createChildren(own, rows, nested);
    for (const nested of written.nested.filter(({ kind }) => kind === 'link')) connectLinks(own, rows, nested);
    readRelations(own, rows, relations);
    return firstRow(rows);
  };
  return written.nested.length > 0 || relations.length > 0 ? together(call, body) : body(call);
}

function childKeys(call: PrismaCall, { nested }: Written): readonly string[] {
  if (nested.some(({ relation }) => linkOf(call.models, call.model, relation) !== null)) return call.model.id;
  return nested.flatMap(({ kind, relation }) =>
    kind === 'create' ? joinedFields(call.models, call.model, relation).map(([own]) => own) : [],
  );
}

/** The library looks for the row that it connects, and throws without one. */
function requireConnected(call: PrismaCall, { relation, values }: Nested): void {
  const other = call.models.get(relation.model);
  if (other === undefined) return;
  const inner: PrismaCall = { ...call, model: other, alias: other.table };
  const query = withCondition(start(inner, 'select'), whereFragment(inner, values[0]));
  requireRow(call.machine, firstRow(run(inner, { ...query, columns: other.id.map((field) => shown(inner, field)) })));
}

function createChildren(call: PrismaCall, rows: Abstract, { relation, values }: Nested): void {
  const other = call.models.get(relation.model);
  if (other === undefined) return;
  const inner: PrismaCall = { ...call, model: other, alias: other.table };
  for (const data of values) {
    const written = writtenFields(inner, data, 'insert');
    const keys = joinedFields(call.models, call.model, relation).map(
      ([own, theirs]) => [theirs, [ofRows(rows, (statement) => firstColumn(statement, own))]] as const,
    );
    const columns = new Map([...written.columns, ...keys]);
    const faults = written.nested.length > 0 ? notRead('a relation of a nested `create` is not read') : [];
    const children = insert(inner, [{ ...written, columns, notRead: [...written.notRead, ...faults] }], other.id, []);
    insertLink(call, rows, relation, children);
  }
}

/** Of a many-to-many relation: the row that joins both. */
function insertLink(call: PrismaCall, rows: Abstract, relation: PrismaRelation, others: Abstract): void {
  const link = linkOf(call.models, call.model, relation);
  const other = call.models.get(relation.model);
  if (link === null || other === undefined) return;
  const own = ofRows(rows, (statement) => firstColumn(statement, call.model.id[0] ?? 'id'));
  const theirs = ofRows(others, (statement) => firstColumn(statement, other.id[0] ?? 'id'));
  const values: Readonly<Record<string, Abstract>> = { [link.own]: own, [link.other]: theirs };
  const columns = Object.keys(values).toSorted();
  run(call, {
    ...newQuery('insert', [[identifier(link.table, call.machine.dialect)]]),
    insertColumns: columns.map((name) => identifier(name, call.machine.dialect)),
    rows: [columns.map((name): Fragment => [values[name] ?? undefinedValue])],
    conflict: [' ON CONFLICT DO NOTHING'],
  });
}

/** `connect` of a many-to-many relation: the other rows are looked for, which throws without one. */
function connectLinks(call: PrismaCall, rows: Abstract, { relation, values }: Nested): void {
  const other = call.models.get(relation.model);
  if (other === undefined) return;
  const inner: PrismaCall = { ...call, model: other, alias: other.table };
  for (const where of values) {
    const query = withCondition(start(inner, 'select'), whereFragment(inner, where));
    const found = run(inner, { ...query, columns: other.id.map((field) => shown(inner, field)) });
    requireRow(call.machine, firstRow(found));
    insertLink(call, rows, relation, found);
  }
}

function insertRows(call: PrismaCall, returns: boolean): Abstract {
  const data = call.options.get('data');
  const list = data?.kind === 'array' ? data.elements.value : [data ?? undefinedValue];
  const skips = call.options.has('skipDuplicates') ? [' ON CONFLICT DO NOTHING'] : [];
  const rows = list.map((row) => writtenFields(call, row, 'insert'));
  return insert(call, rows, returns ? chosenFields(call, call.options).fields : [], skips);
}

function updateRows(call: PrismaCall, written: Written, returned: readonly string[]): Abstract {
  const { machine, model, options } = call;
  const query = withCondition(start(call, 'update'), whereFragment(call, options.get('where')));
  const faults = written.nested.some(({ kind }) => kind === 'create')
    ? notRead('a nested `create` of an update is not read')
    : [];
  return run(call, {
    ...query,
    assignments: [...written.columns].map(([field, value]) => [
      `${identifier(model.fields.get(field)?.column ?? field, machine.dialect)} = `,
      ...value,
    ]),
    returning: returned.map((field) => shown(call, field)),
    notRead: [...written.notRead, ...faults],
  });
}

/** Throws where there is no row. Without data, the row is only read. */
function update(call: PrismaCall): Abstract {
  const written = writtenFields(call, call.options.get('data'), 'update');
  const { fields, relations } = chosenFields(call, call.options);
  const returned = [...new Set([...fields, ...relations.flatMap(([name]) => keysOf(call, name))])];
  const body = (own: PrismaCall): Abstract => {
    for (const nested of written.nested.filter(({ kind }) => kind === 'connect')) requireConnected(own, nested);
    const isRead = written.columns.size === 0 && written.notRead.length === 0;
    const rows = isRead
      ? find({ ...own, options: new Map([...own.options].filter(([name]) => name !== 'data')) }, null)
      : updateRows(own, written, returned.length === 0 ? own.model.id : returned);
    const row = requireRow(own.machine, firstRow(rows));
    for (const nested of written.nested.filter(({ kind }) => kind === 'link')) connectLinks(own, rows, nested);
    if (!isRead) readRelations(own, rows, relations);
    return row;
  };
  return written.nested.length > 0 || relations.length > 0 ? together(call, body) : body(call);
}

function remove(call: PrismaCall, returned: readonly string[]): Abstract {
  const query = withCondition(start(call, 'delete'), whereFragment(call, call.options.get('where')));
  return run(call, { ...query, returning: returned.map((field) => shown(call, field)) });
}

/** INSERT ... ON CONFLICT where the row is named by one unique field to which `create` gives the same value; else a read, then one of both. */
function upsert(call: PrismaCall): Abstract {
  const { machine, options, model } = call;
  const created = writtenFields(call, options.get('create'), 'insert');
  const updated = writtenFields(call, options.get('update'), 'update');
  const { fields, relations } = chosenFields(call, options);
  const [key, ...others] = entriesOf(options.get('where')) ?? [];
  const isNative =
    key !== undefined &&
    others.length === 0 &&
    created.nested.length + updated.nested.length + relations.length === 0 &&
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
      () => ((updatedRow = update({ ...own, options: new Map([...rest, ['data', onUpdate]]) })), goesOn),
      () => ((createdRow = create({ ...own, options: new Map([...rest, ['data', onCreate]]) })), goesOn),
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

/** In one transaction, at the database's level, unless one is open. */
function together(call: PrismaCall, body: (call: PrismaCall) => Abstract): Abstract {
  if (call.owner !== null) return body(call);
  const connection: Connection = { nextLevel: null };
  return call.machine.inTransaction(connection, null, call.at, () => body({ ...call, owner: connection }));
}

function aggregates(call: PrismaCall, columns: readonly Fragment[], groupBy: readonly Fragment[]): Abstract {
  const query = withCondition(start(call, 'select'), whereFragment(call, call.options.get('where')));
  const unread = [...call.options.keys()].find((name) => !/^(?:where|by|orderBy|take|skip|_\w+)$/.test(name));
  return run(call, {
    ...query,
    columns,
    groupBy,
    notRead: unread === undefined ? [] : notRead(`\`${unread}\` of an aggregate of Prisma is not read`),
  });
}

interface Sum {
  readonly operation: string;
  readonly field: string;
  readonly name: string;
  readonly sql: Fragment;
}

/** `_sum: { balance: true }`, `_count: true` */
function sums(call: PrismaCall): readonly Sum[] {
  return [...call.options].flatMap(([operation, value]): readonly Sum[] => {
    if (!operation.startsWith('_')) return [];
    const fields = entriesOf(value)?.map(([field]) => field) ?? ['_all'];
    return fields.map((field) => {
      const name = `${operation}_${field}`;
      const inner: Fragment =
        field === '_all'
          ? ['*']
          : call.model.fields.has(field)
            ? column(call, field)
            : notRead(`a field of ${operation} is ${whyNotConstant(value)}`);
      return {
        operation,
        field,
        name,
        sql: [`${operation.slice(1)}(`, ...inner, `) AS ${identifier(name, call.machine.dialect)}`],
      };
    });
  });
}

function aggregate(call: PrismaCall): Abstract {
  const all = sums(call);
  const rows = aggregates(
    call,
    all.map(({ sql }) => sql),
    [],
  );
  const operations = [...new Set(all.map(({ operation }) => operation))];
  const objects = operations.map((operation): readonly [string, Abstract] => {
    const fields = all.filter((each) => each.operation === operation);
    const values = fields.map(
      ({ field, name }) => [field, ofRows(rows, (statement) => firstColumn(statement, name))] as const,
    );
    return [operation, objectOf(Object.fromEntries(values))];
  });
  return objectOf(Object.fromEntries(objects));
}
