/** `findMany` of Prisma and the others that read rows. */
import { type Abstract, constant, type Fragment } from '../abstract-value.ts';
import { isNothing } from '../value-arithmetic.ts';
import { entriesOf } from './clauses.ts';
import { constantText, join, notRead, operand } from './fragment.ts';
import { chosenFields } from './prisma-data.ts';
import { counts, keysOf, readRelations } from './prisma-relations.ts';
import { type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, relatedColumn, relatedCount, scalarFields, whereFragment } from './prisma-where.ts';
import type { PrismaRelation } from './prisma-schema.ts';
import { identifier } from './identifier.ts';
import { withCondition } from './query.ts';

export function optional({ options }: PrismaCall, name: string): Fragment | null {
  const value = options.get(name);
  return value === undefined ? null : operand(value);
}

export function find(call: PrismaCall, limit: Fragment | null): Abstract {
  const { options } = call;
  const unread = [...options.keys()].find(
    (name) => !/^(?:where|select|include|omit|orderBy|take|skip|cursor|distinct|relationLoadStrategy)$/.test(name),
  );
  const { fields, relations } = chosenFields(call, options);
  // To find the rows of a relation, its key is read, too.
  const keys = relations.flatMap(([name]) => keysOf(call, name));
  const found = withCondition(start(call, 'select'), whereFragment(call, options.get('where')));
  const query = withCondition(found, fromCursor(call));
  const rows = run(call, {
    ...query,
    columns: [...[...new Set([...fields, ...keys])].map((field) => shown(call, field)), ...counts(call)],
    orderBy: ordered(call, options.get('orderBy')),
    limit,
    offset: optional(call, 'skip'),
    notRead: unread === undefined ? [] : notRead(`\`${unread}\` of a query of Prisma is not read`),
  });
  readRelations(call, rows, relations);
  return rows;
}

/** The rows from the one that the cursor names, in the order of the query: from its own value of each column. */
function fromCursor(call: PrismaCall): Fragment {
  const { options, model, machine } = call;
  const cursor = options.get('cursor');
  if (cursor === undefined || isNothing(cursor)) return [];
  const order = options.get('orderBy');
  const given = (order?.kind === 'array' ? order.elements.value : [order]).flatMap((one_) => entriesOf(one_) ?? []);
  const by = given.filter(([name]) => model.fields.get(name)?.relation === null);
  const keys = by.length > 0 ? by : model.id.map((name) => [name, undefined] as const);
  const alias = `${model.table}_cursor`;
  const inner = { ...call, alias };
  const from = ` FROM ${identifier(model.table, machine.dialect)} AS ${identifier(alias, machine.dialect)} WHERE `;
  const tests = keys.map(([name, way]): Fragment => {
    const sign = way !== undefined && constantText(way) === 'desc' ? ' <= ' : ' >= ';
    return [
      ...column(call, name),
      `${sign}(SELECT `,
      ...column(inner, name),
      from,
      ...whereFragment(inner, cursor),
      ')',
    ];
  });
  return join(tests, ' AND ');
}

/** `{ author: { name: 'asc' } }`, `{ posts: { _count: 'desc' } }`: by a value of the related rows. */
function relatedOrder(call: PrismaCall, relation: PrismaRelation, by: Abstract): Fragment {
  const [[field, direction] = ['?', by] as const] = entriesOf(by) ?? [];
  const way = constantText(direction);
  const suffix = way === undefined ? '' : ` ${way.toUpperCase()}`;
  if (field === '_count') return [...relatedCount(call, relation, undefined), suffix];
  const inner = call.models.get(relation.model)?.fields.get(field);
  return inner === undefined || inner.relation !== null
    ? notRead('an order by a relation of a relation is not read')
    : [...relatedColumn(call, relation, field), suffix];
}

/** `{ id: 'desc' }`, or a list */
function ordered(call: PrismaCall, order: Abstract | undefined): readonly Fragment[] {
  const list = order === undefined ? [] : order.kind === 'array' ? order.elements.value : [order];
  // Of an order that a caller gives, any column may decide.
  const any = [...scalarFields(call.model)].map((field) => [field, constant('asc')] as const);
  return list.flatMap((one_) =>
    (entriesOf(one_) ?? any).map(([field, direction]): Fragment => {
      const relation = call.model.fields.get(field)?.relation;
      if (relation === undefined) return notRead(`the order by ${field} is not read`);
      if (relation !== null) return relatedOrder(call, relation, direction);
      const way = constantText(direction.kind === 'object' ? direction.properties.get('sort')?.value : direction);
      return [...column(call, field), way === undefined ? '' : ` ${way.toUpperCase()}`];
    }),
  );
}
