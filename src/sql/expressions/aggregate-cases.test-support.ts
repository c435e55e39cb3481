/** Aggregates over two columns x and y of literal rows, compared with a real PostgreSQL. */
import type { Node } from '@pgsql/types';
import type { Expression, Frame, Scope } from '../expression.ts';
import { SqlError } from '../model/sql-error.ts';
import { formatText } from '../model/text-format.ts';
import type { Row } from '../model/storage.ts';
import { cell } from '../model/storage.ts';
import { aggregateOf, isAggregate } from './aggregate-call.ts';
import { compileExpression } from './compile.ts';
import { parseExpression, testFrame, testScope } from './expression.test-support.ts';
import { unify } from './coerce.ts';

const integers = '(1, 10), (2, 20), (NULL, 30), (2, NULL), (7, 10)';
const numerics = '(1.5, 1), (2.25, 2), (NULL, 3), (10.125, 4)';
const doubles = '(1.5::float8, 1), (2.25, 2), (NULL, 3), (0.1, 4)';
const texts = "('b'::text, 1), ('a', 2), (NULL, 3), ('b', 4), ('', 5)";
const truths = '(true, 1), (NULL, 2), (false, 3)';
const dates = "(date '2020-01-01', 1), (NULL, 2), (date '2019-05-06', 3)";
const intervals = "(interval '1 day', 1), (interval '1 mon 2 hours', 2), (NULL, 3)";
const nothing = '(NULL::int4, NULL::int4)';

const numberCalls =
  'count(*)|count(x)|sum(x)|avg(x)|min(x)|max(x)|stddev(x)|stddev_pop(x)|stddev_samp(x)|variance(x)|var_pop(x)|count(DISTINCT x)|sum(DISTINCT x)|array_agg(x)|array_agg(x ORDER BY x DESC)|array_agg(DISTINCT x)|json_agg(x)|jsonb_agg(x)|sum(x) FILTER (WHERE y > 1)|count(*) FILTER (WHERE x IS NULL)|sum(x + y)';
const textCalls =
  "string_agg(x, ',')|string_agg(x, ',' ORDER BY x)|string_agg(DISTINCT x, ',' ORDER BY x)|min(x)|max(x)|count(x)|array_agg(x)|json_object_agg(coalesce(x, 'n'), y)|jsonb_object_agg(coalesce(x, 'n'), y)|jsonb_agg(x ORDER BY y DESC)|sum(x)|avg(x)|json_object_agg(x, y)|string_agg(x, y)|jsonb_agg(row(x, y))";

export const aggregateCases: readonly (readonly [call: string, rows: string])[] = [
  ...[integers, numerics, doubles, nothing].flatMap((rows) =>
    numberCalls.split('|').map((call) => [call, rows] as const),
  ),
  ...[integers, '(1::int8, 2), (9223372036854775807, 3)', '(1::int2, 2), (3::int2, 4)'].flatMap((rows) =>
    ['bit_and(x)', 'bit_or(x)', 'sum(x)', 'avg(x)', 'variance(x)'].map((call) => [call, rows] as const),
  ),
  ...textCalls.split('|').map((call) => [call, texts] as const),
  ...'bool_and(x)|bool_or(x)|every(x)|min(x)|count(x)|array_agg(x)'.split('|').map((call) => [call, truths] as const),
  ...'min(x)|max(x)|array_agg(x ORDER BY x NULLS FIRST)|sum(x)|json_agg(x)'
    .split('|')
    .map((call) => [call, dates] as const),
  ...'sum(x)|avg(x)|min(x)|max(x)'.split('|').map((call) => [call, intervals] as const),
];

/** `value :type`, or `!` and the SQLSTATE. */
export function aggregateOutcome(call: string, rows: string): string {
  try {
    const { columns, values } = tableOf(rows);
    const scope: Scope = testScope('postgres', { x: columnOf(columns, 0), y: columnOf(columns, 1) });
    const node = parseExpression(call);
    if (!('FuncCall' in node) || !isAggregate(node.FuncCall)) throw new Error(`${call} is no aggregate`);
    const aggregate = aggregateOf(node.FuncCall, scope);
    const state = aggregate.start();
    for (const row of values) state.add(frameOf(row));
    const value = state.result(testFrame());
    return `${value === null ? 'null' : formatText(value, aggregate.type, 'postgres')} :${aggregate.type.oid}`;
  } catch (error) {
    if (error instanceof SqlError) return `!${error.code}`;
    throw error;
  }
}

function columnOf(columns: readonly Expression[], index: number): Expression {
  const type = columns[index]?.type;
  if (type === undefined) throw new Error('two columns are wanted');
  const evaluate = ({ rows: [row] }: Frame): ReturnType<Expression['evaluate']> => (row ? cell(row, index) : null);
  return { type, modifier: -1, isRowFree: false, evaluate };
}

function frameOf(row: Row): Frame {
  return { ...testFrame(), rows: [row] };
}

function tableOf(text: string): { readonly columns: readonly Expression[]; readonly values: readonly Row[] } {
  const list = parseExpression(`1 IN (VALUES ${text})`);
  const select = 'SubLink' in list ? list.SubLink.subselect : undefined;
  const lists = select !== undefined && 'SelectStmt' in select ? (select.SelectStmt.valuesLists ?? []) : [];
  const scope = testScope();
  const parts = lists.map((row) =>
    ('List' in row ? (row.List.items ?? []) : []).map((node: Node) => compileExpression(node, scope)),
  );
  const columns = [0, 1].map((i) =>
    unify(
      parts.flatMap((row) => row[i] ?? []),
      'VALUES',
      scope,
    ),
  );
  const values = parts.map((_, i) => ({
    table: 1,
    id: i,
    values: columns.map((column) => column[i]?.evaluate(testFrame()) ?? null),
    load: () => null,
  }));
  return { columns: columns.flatMap((column) => column.slice(0, 1)), values };
}
