/** Relations of Prisma: they are read and written by statements of their own. */
import { newQuery, withCondition } from './query.ts';
import { inList, optionsOf } from './clauses.ts';
import { chosenFields, countedRelations, type Nested, type Written, writtenFields } from './prisma-data.ts';
import { join, notRead } from './fragment.ts';
import { type Abstract, undefinedValue, type Fragment } from '../abstract-value.ts';
import { columnOf, firstRow, ofRows, requireRow } from './chain.ts';
import { identifier } from './identifier.ts';
import { joinedFields, linkOf, type PrismaRelation } from './prisma-schema.ts';
import { firstColumn, insert, type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, relatedCount, whereFragment } from './prisma-where.ts';

export function keysOf(call: PrismaCall, relation: string): readonly string[] {
  const { models, model } = call;
  const known = model.fields.get(relation)?.relation;
  if (known === undefined || known === null) return [];
  return linkOf(models, model, known) === null ? joinedFields(models, model, known).map(([own]) => own) : model.id;
}

/** A statement for each relation, with the keys of the rows that were read. */
export function readRelations(
  call: PrismaCall,
  rows: Abstract,
  relations: readonly (readonly [string, Abstract])[],
): void {
  for (const [name, value] of relations) {
    const relation = call.model.fields.get(name)?.relation;
    const other = relation === undefined || relation === null ? undefined : call.models.get(relation.model);
    if (relation === undefined || relation === null || other === undefined) {
      call.machine.notUnderstood(call.at, `the relation ${name} of ${call.model.name} is not in schema.prisma`);
      continue;
    }
    const inner: PrismaCall = { ...call, model: other, alias: other.table, options: optionsOf(value) };
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

export function childKeys(call: PrismaCall, { nested }: Written): readonly string[] {
  if (nested.some(({ relation }) => linkOf(call.models, call.model, relation) !== null)) return call.model.id;
  return nested.flatMap(({ kind, relation }) =>
    kind === 'create' ? joinedFields(call.models, call.model, relation).map(([own]) => own) : [],
  );
}

/** The library looks for the row that it connects, and throws without one. */
export function requireConnected(call: PrismaCall, { relation, values }: Nested): void {
  const other = call.models.get(relation.model);
  if (other === undefined) return;
  const inner: PrismaCall = { ...call, model: other, alias: other.table };
  const query = withCondition(start(inner, 'select'), whereFragment(inner, values[0]));
  requireRow(call.machine, firstRow(run(inner, { ...query, columns: other.id.map((field) => shown(inner, field)) })));
}

export function createChildren(call: PrismaCall, rows: Abstract, { relation, values }: Nested): void {
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
export function connectLinks(call: PrismaCall, rows: Abstract, { relation, values }: Nested): void {
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

/** `_count` of rows that were written. */
export function readCounts(call: PrismaCall, rows: Abstract): void {
  const columns = counts(call);
  if (columns.length === 0) return;
  const tests = call.model.id.map((key) => inList(call.machine, column(call, key), columnOf(rows, key), false));
  run(call, { ...withCondition(start(call, 'select'), join(tests, ' AND ')), columns });
}

/** A column for each relation whose rows are counted. */
export function counts(call: PrismaCall): readonly Fragment[] {
  return countedRelations(call, call.options).map(([relation, name, where]) => [
    ...relatedCount(call, relation, where),
    ` AS ${identifier(`_count_${name}`, call.machine.dialect)}`,
  ]);
}
