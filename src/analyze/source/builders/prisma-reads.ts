/** `findMany` of Prisma and the others that read rows. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import { entriesOf } from './clauses.ts';
import { constantText, notRead, operand } from './fragment.ts';
import { chosenFields } from './prisma-data.ts';
import { counts, keysOf, readRelations } from './prisma-relations.ts';
import { type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, whereFragment } from './prisma-where.ts';
import { withCondition } from './query.ts';

export function optional({ options }: PrismaCall, name: string): Fragment | null {
  const value = options.get(name);
  return value === undefined ? null : operand(value);
}

export function find(call: PrismaCall, limit: Fragment | null): Abstract {
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
    columns: [...[...new Set([...fields, ...keys])].map((field) => shown(call, field)), ...counts(call)],
    orderBy: ordered(call, options.get('orderBy')),
    limit,
    offset: optional(call, 'skip'),
    notRead: unread === undefined ? [] : notRead(`\`${unread}\` of a query of Prisma is not read`),
  });
  readRelations(call, rows, relations);
  return rows;
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
