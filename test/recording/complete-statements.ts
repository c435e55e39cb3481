/** Random statements for the tests of completed reads, and what an application can see of an answer. */
import { inspect } from 'node:util';
import { seededRandom } from '../../src/verify/verify.test-support.ts';

export type Value = string | number;

export interface Statement {
  /** With `?` for values. */
  readonly sql: string;
  readonly values: readonly Value[];
  /** Of joined tables and DISTINCT the order of rows that are equal changes from time to time, whoever asks. */
  readonly isOrdered: boolean;
}

export const dollars = (sql: string): string => {
  let number = 0;
  return sql.replaceAll('?', () => `$${(number += 1)}`);
};

export const quoted = ({ sql, values }: Pick<Statement, 'sql' | 'values'>): string => {
  let at = 0;
  return sql.replaceAll('?', () => {
    const value = values[at++];
    return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
  });
};

/** A part of a text with its values. */
type Part = string | readonly [sql: string, ...values: Value[]];

const froms: readonly Part[] = [
  'book',
  'book',
  'book b',
  'book AS b',
  'book b JOIN stock s ON s.w = b.id',
  ['book b LEFT JOIN stock s ON s.w = b.id AND s.n > ?', 6],
  'book b, notes',
  'book JOIN stock s USING (id)',
  'notes',
  'stock s',
  '(SELECT * FROM book) b',
  'book b JOIN book c ON c.author = b.author',
];
const lists: readonly Part[] = [
  'title',
  'title',
  'title, price',
  'b.title',
  'price, author',
  's.item, s.n',
  "'ü', title",
  'title AS t, 1 + 1',
  ['?, title', 7],
  'lower(title)',
  'count(*)',
  'max(price), 1',
  '(SELECT max(n) FROM stock), title',
  '*',
  'b.*',
  'b.*, title',
  'id, title',
  'title AS moirai_1',
  'DISTINCT title',
  'ALL title',
  'title, title',
  'nothing',
];
const wheres: readonly Part[] = [
  '',
  '',
  '',
  ['WHERE title = ?', 'tea'],
  ['WHERE price > ? AND author = ?', 2, 1],
  ['WHERE id = ?', 2],
  'WHERE id IN (1, 2, 9)',
  "WHERE title LIKE 't%'",
  "WHERE title = 'it''s ü'",
  "WHERE title = 'tea; or --not'",
  'WHERE price > 1',
  'WHERE EXISTS (SELECT 1 FROM notes)',
  'WHERE price = title + 1',
];
const orders: readonly Part[] = [
  '',
  '',
  'ORDER BY 1',
  'ORDER BY 2',
  ['ORDER BY ?', 1],
  'ORDER BY title, 2',
  'ORDER BY title, price',
  'ORDER BY lower(title) DESC, price',
  'ORDER BY count(*)',
  'ORDER BY author',
  'GROUP BY title',
  'GROUP BY title HAVING count(*) > 1',
];
const ends: readonly Part[] = [
  '',
  '',
  'LIMIT 2',
  ['LIMIT ?', 1],
  'LIMIT 1 OFFSET 1',
  'FOR UPDATE',
  ';',
  ' ;  ',
  '-- a comment',
  '/* a comment */',
  'UNION SELECT text FROM notes',
];
const writes: readonly Part[] = [
  ['UPDATE book SET price = ? WHERE title = ?', 3, 'tea'],
  ['UPDATE book SET price = price + 1 WHERE author = ?', 1],
  "UPDATE book SET title = 'x'",
  ['INSERT INTO book (id, title) VALUES (?, ?)', 9, 'new'],
  ['INSERT INTO book (id, title) VALUES (?, ?)', 1, 'taken'],
  ['DELETE FROM stock WHERE n > ?', 1],
  'DELETE FROM notes',
];
const othersOfPostgres: readonly Part[] = [
  'DELETE FROM book WHERE author = 1 RETURNING title',
  ['INSERT INTO book VALUES (?, 1, NULL, 2) RETURNING *', 9],
  'UPDATE stock SET n = n + 1 RETURNING item, n;',
  'SELECT "Title" FROM "Shelf"',
  'SELECT title FROM public.book ORDER BY price NULLS FIRST',
  'SELECT JSON_ARRAYAGG(title) FROM book',
  'SELECT title INTO other FROM book',
  'SELECT FROM book',
];
const othersOfMysql: readonly Part[] = [
  'SELECT `Title` FROM `Shelf` AS `S``x`',
  'SELECT Title FROM Shelf',
  'SELECT title FROM test.book',
  'SELECT SQL_NO_CACHE title FROM book',
  'SELECT STRAIGHT_JOIN title FROM book',
  'SELECT title FROM book # a comment',
  'SELECT title INTO @x FROM book LIMIT 1',
  'SELECT @x := author, title FROM book',
  'SELECT group_concat(title) FROM book',
  'SELECT title FROM book HAVING title > ?',
  'SELECT title FROM book LOCK IN SHARE MODE',
];

/** @returns statements of which some are wrong */
export function randomStatements(dialect: 'postgres' | 'mysql', count: number, seed: number): Statement[] {
  const random = seededRandom(seed);
  const oneOf = (parts: readonly Part[]): Part => parts[random(parts.length)] ?? '';
  const others = [...writes, ...(dialect === 'postgres' ? othersOfPostgres : othersOfMysql)];
  return Array.from({ length: count }, () => {
    if (random(6) === 0) return joined([oneOf(others)]);
    const from = oneOf(froms);
    const list = oneOf(lists);
    const isOrdered = !/,|JOIN/.test(String(from)) && !/DISTINCT/.test(String(list));
    const end = oneOf(isOrdered ? ends : ends.filter((each) => !String(each).startsWith('LIMIT')));
    const start = oneOf(['SELECT', 'select', ' \n SELECT']);
    return { ...joined([start, list, 'FROM', from, oneOf(wheres), oneOf(orders), end]), isOrdered };
  });
}

function joined(parts: readonly Part[]): Statement {
  const pairs = parts
    .filter((part) => part !== '')
    .map((part) => (typeof part === 'string' ? ([part] as const) : part));
  const sql = pairs.map(([text]) => text).join(' ');
  return { sql, values: pairs.flatMap(([, ...values]) => values), isOrdered: true };
}

const whole = { depth: 6, showHidden: true, maxArrayLength: null, maxStringLength: null };

/** All that can be read of an answer or an error, but for what differs from connection to connection and where in the code it was. */
export function seen(answer: unknown, { isOrdered }: Statement): string {
  const given = answer instanceof Error ? ofError(answer) : answer;
  const text = inspect(given, { ...whole, compact: 1, breakLength: Infinity })
    .replaceAll(/conn:\d+/g, 'conn:N')
    .replaceAll(/(pid|secret): -?\d+/g, '$1: N')
    .replaceAll(/'[a-z\d]{8,}\d+'/g, "'a prepared statement'");
  // A row is a line.
  return isOrdered ? text : text.split('\n').toSorted().join('\n');
}

function ofError(error: Error): object {
  const properties = Object.getOwnPropertyNames(error).map((name) => {
    const value: unknown = (error as unknown as Readonly<Record<string, unknown>>)[name];
    return [name, name === 'stack' ? String(value).replaceAll(/\n {4}at .*/g, '') : value];
  });
  return { error: error.constructor.name, ...Object.fromEntries(properties) };
}

/** The connector's columns tell their names by methods, and have all collations behind them. */
export function ofMariadb(answer: unknown): unknown {
  if (!Array.isArray(answer)) return isColumn(answer) ? columnOf(answer) : answer;
  const list = answer.map((each) => ofMariadb(each));
  const meta = Object.getOwnPropertyDescriptor(answer, 'meta');
  return meta === undefined ? list : { list, meta: { ...meta, value: ofMariadb(meta.value) } };
}

interface MariadbColumn {
  readonly collation: { readonly name: string };
  readonly name: () => string;
  readonly table: () => string;
  readonly orgName: () => string;
}

function isColumn(value: unknown): value is MariadbColumn {
  return typeof (value as { orgName?: unknown } | null)?.orgName === 'function';
}

function columnOf(column: MariadbColumn): object {
  const names = [column.name(), column.table(), column.orgName()];
  return { ...column, collation: column.collation.name, names };
}
