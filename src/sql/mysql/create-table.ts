/** CREATE TABLE (MySQL 8.0 manual, 15.1.20): the table with what PostgreSQL's grammar takes, then its indexes. */
import type { Node, RangeVar } from '@pgsql/types';
import { isSameName, SqlError } from '../model/index.ts';
import { stringsOf } from '../plan/tree.ts';
import { createTable, createTableAs, tableLike } from '../tree/definition.ts';
import { skipCharsetName } from './cast-type.ts';
import { collationName, columnNode, parseColumn, type Column } from './column.ts';
import type { Cursor, Name } from './cursor.ts';
import { IndexNames, indexNode, parseKey, primaryKey, type Key } from './key.ts';
import { collation } from './literal.ts';
import { parseTable } from './names.ts';
import { isQueryAhead, parseQueryExpression } from './nested.ts';
import { type Parsed, parsedTree } from './parsed.ts';

/** Behind CREATE [TEMPORARY] TABLE. */
export function parseCreateTable(cursor: Cursor, isTemporary: boolean): Parsed {
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  const table = parseTable(cursor);
  const made: RangeVar = isTemporary ? { ...table, relpersistence: 't' } : table;
  const like = parseLike(cursor);
  if (like !== undefined) return parsedTree(createTable(made, [tableLike(like)], ifNotExists));
  const hasDefinitions = cursor.is('(') && !isQueryAhead(cursor, 0);
  const content = hasDefinitions ? parseDefinitions(cursor) : undefined;
  const options = parseTableOptions(cursor);
  const isQuery = cursor.accept('AS') || isQueryAhead(cursor, 0);
  if (isQuery && content !== undefined) throw cursor.unsupported('CREATE TABLE with columns and SELECT');
  if (isQuery) return parsedTree(createTableAs(made, { SelectStmt: parseQueryExpression(cursor) }, ifNotExists));
  if (content === undefined) throw cursor.syntaxError();
  const { elements, indexes } = tableElements(cursor, content, options);
  const statement = createTable(made, elements, ifNotExists);
  if (indexes.length === 0) return parsedTree(statement);
  const parts = [statement, ...indexes.map((key) => indexNode(cursor, table, key, ifNotExists))];
  return { kind: 'several', command: 'CREATE TABLE', isTemporary, parts };
}

/** `LIKE t`, `(LIKE t)`. */
function parseLike(cursor: Cursor): RangeVar | undefined {
  if (cursor.accept('LIKE')) return parseTable(cursor);
  if (!cursor.is('(', 'LIKE')) return undefined;
  return cursor.parenthesized(() => {
    cursor.expect('LIKE');
    return parseTable(cursor);
  });
}

interface Definitions {
  readonly columns: readonly Column[];
  readonly keys: readonly Key[];
}

function parseDefinitions(cursor: Cursor): Definitions {
  const columns: Column[] = [];
  const keys: Key[] = [];
  cursor.parenthesized(() =>
    cursor.list(() => {
      const key = parseKey(cursor);
      if (key === undefined) columns.push(parseColumn(cursor));
      else keys.push(key);
    }),
  );
  return { columns, keys };
}

export type Index = Extract<Key, { kind: 'index' }> & { readonly name: Name };

function tableElements(
  cursor: Cursor,
  { columns, keys }: Definitions,
  options: TableOptions,
): { readonly elements: readonly Node[]; readonly indexes: readonly Index[] } {
  const { autoIncrement: start, collation: ofTable } = options;
  const elements = columns.map((column) => columnNode(cursor, column, { start, collation: ofTable, place: undefined }));
  const primary = columns.filter((column) => column.isPrimary).map(({ name }) => name);
  if (primary.length > 0) elements.push(primaryKey(cursor, primary, primary[0]?.at ?? 0));
  elements.push(...keys.flatMap((key) => (key.kind === 'constraint' ? [key.node] : [])));
  const names = new IndexNames();
  const own = columns.filter((column) => column.isUnique).map(uniqueIndex);
  const indexes = [...own, ...keys.filter((key) => key.kind === 'index')];
  checkNumbered(columns, [...elements.flatMap(firstOfConstraint), ...indexes.flatMap(firstOfIndex)]);
  return { elements, indexes: indexes.map((key) => ({ ...key, name: names.take(key.name, key.parts) })) };
}

function firstOfConstraint(node: Node): readonly string[] {
  return 'Constraint' in node ? stringsOf(node.Constraint.keys).slice(0, 1) : [];
}

function firstOfIndex({ parts: [first] }: Extract<Key, { kind: 'index' }>): readonly string[] {
  return first !== undefined && 'column' in first.key ? [first.key.column.value] : [];
}

/** @param firsts the columns with which keys begin @throws SqlError 1075 */
function checkNumbered(columns: readonly Column[], firsts: readonly string[]): void {
  const [numbered, another] = columns.filter(({ isAutoIncrement }) => isAutoIncrement);
  if (numbered === undefined) return;
  const isKey = firsts.some((name) => isSameName(name, numbered.name.value, 'mysql'));
  if (isKey && another === undefined) return;
  const message = 'Incorrect table definition; there can be only one auto column and it must be defined as a key';
  throw new SqlError('42000', message, { mysqlNumber: 1075 });
}

/** The index of a column that is UNIQUE by itself. */
export function uniqueIndex({ name: column }: Column): Extract<Key, { kind: 'index' }> {
  const part = { key: { column }, prefix: undefined, direction: undefined };
  return { kind: 'index', isUnique: true, name: undefined, parts: [part] };
}

export interface TableOptions {
  readonly autoIncrement: string | undefined;
  /** For columns without their own. */
  readonly collation: string | undefined;
  /** Was there any? */
  readonly isEmpty: boolean;
}

const ignoredOptions = [
  'COMMENT',
  'ROW_FORMAT',
  'KEY_BLOCK_SIZE',
  'AVG_ROW_LENGTH',
  'MAX_ROWS',
  'MIN_ROWS',
  'CHECKSUM',
  'DELAY_KEY_WRITE',
  'PACK_KEYS',
  'STATS_AUTO_RECALC',
  'STATS_PERSISTENT',
  'STATS_SAMPLE_PAGES',
  'COMPRESSION',
  'ENCRYPTION',
  'ALGORITHM',
  'LOCK',
];

/** ENGINE=InnoDB and the like. Of them all only AUTO_INCREMENT and a collation that tells case apart can be seen. */
export function parseTableOptions(cursor: Cursor): TableOptions {
  let autoIncrement: string | undefined;
  let ofTable: string | undefined;
  const mark = cursor.mark();
  for (;;) {
    if (cursor.mark() > mark && cursor.is(',') && isOptionWord(cursor.peek(1)?.text)) cursor.take();
    if (cursor.is('PARTITION', 'BY')) throw cursor.unsupported('PARTITION BY');
    cursor.accept('DEFAULT');
    if (cursor.accept('AUTO_INCREMENT')) {
      cursor.accept('=');
      if (!cursor.isKind('number')) throw cursor.syntaxError();
      autoIncrement = cursor.take().text;
    } else if (cursor.accept('COLLATE')) {
      cursor.accept('=');
      ofTable = collation(collationName(cursor));
    } else if (cursor.accept('CHARACTER', 'SET') || cursor.accept('CHARSET')) {
      cursor.accept('=');
      skipCharsetName(cursor);
    } else if (cursor.accept('ENGINE')) {
      cursor.accept('=');
      if (!/^innodb$/i.test(cursor.peek()?.value ?? ''))
        throw cursor.unsupported(`ENGINE = ${cursor.peek()?.text ?? ''}`);
      cursor.take();
    } else if (cursor.acceptOneOf(...ignoredOptions) !== undefined) {
      cursor.accept('=');
      cursor.take();
    } else return { autoIncrement, collation: ofTable, isEmpty: cursor.mark() === mark };
  }
}

function isOptionWord(text: string | undefined): boolean {
  const word = text?.toUpperCase() ?? '';
  return ['DEFAULT', 'ENGINE', 'AUTO_INCREMENT', 'COLLATE', 'CHARACTER', 'CHARSET', ...ignoredOptions].includes(word);
}
