/** Random window functions with frames, over one table with NULLs and ties. */
import type { Chooser } from '../../src/base/chooser.ts';
import type { Dialect } from '../../src/sql/model/index.ts';
import type { Statement } from './answer.ts';

interface WindowForms {
  readonly table: string;
  readonly aggregates: readonly string[];
  readonly modes: readonly ('ROWS' | 'RANGE' | 'GROUPS')[];
  readonly nulls: readonly string[];
  readonly exclusions: readonly string[];
  readonly days: (count: number) => string;
}

const common = ['sum(k)', 'sum(n)', 'avg(n)', 'count(*)', 'count(k)', 'min(f)', 'max(n)'];

const forms: Readonly<Record<Dialect, WindowForms>> = {
  postgres: {
    table: 'CREATE TABLE w (id int PRIMARY KEY, g int, k int, f double precision, d date, n numeric(6,2))',
    aggregates: [...common, 'sum(k) FILTER (WHERE k > 2)'],
    modes: ['ROWS', 'RANGE', 'GROUPS'],
    nulls: ['', ' NULLS FIRST', ' NULLS LAST'],
    exclusions: ['', ' EXCLUDE NO OTHERS', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP', ' EXCLUDE TIES'],
    days: (count) => `INTERVAL '${count} days'`,
  },
  mysql: {
    table: 'CREATE TABLE w (id int PRIMARY KEY, g int, k int, f double, d date, n decimal(6,2))',
    aggregates: common,
    modes: ['ROWS', 'RANGE'],
    nulls: [''],
    exclusions: [''],
    days: (count) => `INTERVAL ${count} DAY`,
  },
};

/** In an order that is decided. */
const positional = ['first_value(id)', 'last_value(id)', 'nth_value(id, 2)'];
const ranks = ['rank()', 'dense_rank()'];
const places = ['row_number()', 'ntile(3)', 'ntile(7)', 'lag(k)', 'lead(k, 2)'];
/** MariaDB shows ten digits of them. */
const shares = ['percent_rank()', 'cume_dist()'];

export function windowTable(chooser: Chooser, dialect: Dialect): string[] {
  const orNull = (value: string): string => (chooser.choose(7) === 0 ? 'NULL' : value);
  const oneOf = (values: readonly string[]): string => orNull(values[chooser.choose(values.length)] ?? '0');
  const rows = Array.from({ length: 25 }, (_, i) => {
    const date = `'2024-01-${String(1 + chooser.choose(20)).padStart(2, '0')}'`;
    const small = oneOf(['0', '0.5', '1.25', '3', '-2']);
    return `(${i}, ${oneOf(['0', '1', '2'])}, ${orNull(String(chooser.choose(9)))}, ${small}, ${orNull(date)}, ${oneOf(['0.5', '1', '2.25', '7.75'])})`;
  });
  return [forms[dialect].table, `INSERT INTO w VALUES ${rows.join(', ')}`];
}

export function windowStatement(chooser: Chooser, dialect: Dialect): Statement {
  const { aggregates, modes, nulls, exclusions } = forms[dialect];
  const pick = <T>(values: readonly T[]): T => values[chooser.choose(values.length)] as T;
  const partition = pick(['', 'PARTITION BY g ', 'PARTITION BY g, k % 2 ']);
  const key = pick(['k', 'f', 'd', 'n', 'id'] as const);
  const order = `ORDER BY ${key}${pick(['', ' DESC'])}${pick(nulls)}`;
  if (chooser.choose(4) === 0) {
    const isPlace = chooser.choose(2) === 0;
    const call = pick(isPlace ? places : dialect === 'postgres' ? [...ranks, ...shares] : ranks);
    return ordered(`${call} OVER (${partition}${order}${isPlace ? ', id' : ''})`);
  }
  const mode = pick(modes);
  const call = pick(mode === 'ROWS' ? [...aggregates, ...positional] : aggregates);
  const frame = `${mode} BETWEEN ${bounds(chooser, mode, key, dialect)}${pick(exclusions)}`;
  const inOrder = `${partition}${order}${mode === 'ROWS' ? ', id' : ''}`;
  return chooser.choose(3) > 0
    ? ordered(`${call} OVER (${inOrder} ${frame})`)
    : ordered(`${call} OVER (x ${frame})`, ` WINDOW x AS (${inOrder})`);
}

function ordered(expression: string, window = ''): Statement {
  return { sql: `SELECT id, ${expression} AS r FROM w${window} ORDER BY id`, isOrdered: true };
}

/** The end is not before the start: MariaDB counts wrong where the start is further away than the end. */
function bounds(chooser: Chooser, mode: string, key: string, dialect: Dialect): string {
  const start = chooser.choose(4);
  const end = Math.max(start, 1 + chooser.choose(4));
  const [near, far] = [chooser.choose(2), 1 + chooser.choose(3)];
  const offset = (count: number): string =>
    mode === 'RANGE' && key === 'd' ? forms[dialect].days(count) : String(count);
  const side = (kind: number, count: number): string =>
    [
      'UNBOUNDED PRECEDING',
      `${offset(count)} PRECEDING`,
      'CURRENT ROW',
      `${offset(count)} FOLLOWING`,
      'UNBOUNDED FOLLOWING',
    ][kind] ?? '';
  // MariaDB's RANGE takes no intervals.
  if (mode === 'RANGE' && key === 'd' && dialect === 'mysql')
    return chooser.choose(2) === 0 ? 'UNBOUNDED PRECEDING AND CURRENT ROW' : 'CURRENT ROW AND UNBOUNDED FOLLOWING';
  return `${side(start, start === 3 ? near : far)} AND ${side(end, end === 1 ? near : far)}`;
}
