/** CREATE TABLE (MySQL 8.0 manual, 15.1.20): the table with what PostgreSQL's grammar takes, then its indexes. */
import { skipCharsetName } from './cast-type.ts';
import type { Cursor, Name } from './cursor.ts';
import { collationName, columnOutput, parseColumn, type Column } from './column.ts';
import { createIndex, IndexNames, parseKey, primaryKey, type Key } from './key.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import type { Rewritten } from './rewritten.ts';
import { collation } from './literal.ts';
import { parseTableNames } from './names.ts';
import { isQueryAhead, parseQueryExpression } from './nested.ts';

/** Behind CREATE [TEMPORARY] TABLE. */
export function parseCreateTable(cursor: Cursor, isTemporary: boolean): Rewritten {
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  const names = parseTableNames(cursor);
  const table = cursor.quoted(...names);
  const verb = ['CREATE', isTemporary ? 'TEMPORARY' : '', 'TABLE', ifNotExists ? 'IF NOT EXISTS' : '', table];
  const like = parseLike(cursor);
  if (like !== undefined) return { kind: 'text', output: [verb, parenthesized(['LIKE', like, 'INCLUDING ALL'])] };
  const hasDefinitions = cursor.is('(') && !isQueryAhead(cursor, 0);
  const content = hasDefinitions ? parseDefinitions(cursor) : undefined;
  const options = parseTableOptions(cursor);
  const isQuery = cursor.accept('AS') || isQueryAhead(cursor, 0);
  if (isQuery && content !== undefined) throw cursor.unsupported('CREATE TABLE with columns and SELECT');
  if (isQuery) return { kind: 'text', output: [verb, 'AS', parseQueryExpression(cursor)] };
  if (content === undefined) throw cursor.syntaxError();
  const { elements, indexes } = tableElements(cursor, content, options);
  const indexTexts = indexes.map((key) => createIndex(cursor, table, key, ifNotExists));
  return severalTexts([[verb, parenthesized(commaList(elements))], ...indexTexts]);
}

export function severalTexts(outputs: readonly Output[]): Rewritten {
  const parts = outputs.map((output): Rewritten => ({ kind: 'text', output }));
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'several', parts };
}

/** `LIKE t`, `(LIKE t)`. */
function parseLike(cursor: Cursor): Output | undefined {
  if (cursor.accept('LIKE')) return cursor.quoted(...parseTableNames(cursor));
  if (!cursor.is('(', 'LIKE')) return undefined;
  return cursor.parenthesized(() => {
    cursor.expect('LIKE');
    return cursor.quoted(...parseTableNames(cursor));
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
): { readonly elements: readonly Output[]; readonly indexes: readonly Index[] } {
  const elements: Output[] = columns.map((column) =>
    columnOutput(cursor, column, { start: options.autoIncrement, collate: options.collate }),
  );
  const primary = columns.filter((column) => column.isPrimary).map((column) => cursor.quoted(column.name));
  if (primary.length > 0) elements.push(primaryKey(primary));
  elements.push(...keys.flatMap((key) => (key.kind === 'constraint' ? [key.output] : [])));
  const names = new IndexNames();
  const own = columns.filter((column) => column.isUnique).map((column) => uniqueIndex(cursor, column));
  const indexes = [...own, ...keys.filter((key) => key.kind === 'index')];
  return { elements, indexes: indexes.map((key) => ({ ...key, name: names.take(key.name, key.parts) })) };
}

/** The index of a column that is UNIQUE by itself. */
export function uniqueIndex(cursor: Cursor, column: Column): Extract<Key, { kind: 'index' }> {
  const part = { column: column.name, output: cursor.quoted(column.name), prefix: undefined, direction: '' };
  return { kind: 'index', isUnique: true, name: undefined, parts: [part] };
}

export interface TableOptions {
  readonly autoIncrement: string | undefined;
  /** The clause for columns without their own; mostly empty. */
  readonly collate: string;
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
  let collate = '';
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
      collate = collation(collationName(cursor));
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
    } else return { autoIncrement, collate, isEmpty: cursor.mark() === mark };
  }
}

function isOptionWord(text: string | undefined): boolean {
  const word = text?.toUpperCase() ?? '';
  return ['DEFAULT', 'ENGINE', 'AUTO_INCREMENT', 'COLLATE', 'CHARACTER', 'CHARSET', ...ignoredOptions].includes(word);
}
