/** `count`, `aggregate` and `groupBy` of Prisma. */
import { type Abstract, objectOf, type Fragment } from '../abstract-value.ts';
import { ofRows } from './chain.ts';
import { entriesOf } from './clauses.ts';
import { constantText, notRead, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { firstColumn, type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, whereFragment } from './prisma-where.ts';
import { withCondition } from './query.ts';

export function count(call: PrismaCall): Abstract {
  const rows = aggregates(call, [['count(*) AS count']], []);
  return ofRows(rows, (statement) => firstColumn(statement, 'count'));
}

function aggregates(call: PrismaCall, columns: readonly Fragment[], by: readonly Fragment[]): Abstract {
  const query = withCondition(start(call, 'select'), whereFragment(call, call.options.get('where')));
  const unread = [...call.options.keys()].find((name) => !/^(?:where|by|orderBy|take|skip|_\w+)$/.test(name));
  return run(call, {
    ...query,
    columns,
    groupBy: by,
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

export function aggregate(call: PrismaCall): Abstract {
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

export function groupBy(call: PrismaCall): Abstract {
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
}
