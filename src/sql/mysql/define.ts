/** CREATE, ALTER, DROP, RENAME, TRUNCATE (MySQL 8.0 manual, 15.1). */
import { parseAlterTable, renameTable } from './alter-table.ts';
import { parseCreateTable, parseTableOptions, severalTexts } from './create-table.ts';
import type { Cursor } from './cursor.ts';
import { createIndex, parseKeyParts, skipIndexOptions } from './key.ts';
import { commaList, type Output } from './output.ts';
import type { DdlStatement } from '../statement.ts';
import type { Rewritten } from './rewritten.ts';
import { parseDeallocate } from './session-statement.ts';
import { parseNameList, parseTableName, parseTableNames } from './names.ts';
import { parseQueryExpression } from './nested.ts';

export function parseDefinition(cursor: Cursor): Rewritten | undefined {
  for (const words of accounts) if (cursor.accept(...words)) return parseAccounts(cursor, words.join(' '));
  if (cursor.accept('CREATE')) return parseCreate(cursor);
  if (cursor.is('DROP', 'PREPARE')) {
    cursor.take();
    return parseDeallocate(cursor);
  }
  if (cursor.accept('DROP')) return { kind: 'text', output: parseDrop(cursor) };
  if (cursor.accept('ALTER')) return parseAlter(cursor);
  if (cursor.accept('TRUNCATE')) {
    cursor.accept('TABLE');
    return { kind: 'text', output: ['TRUNCATE', parseTableName(cursor), 'RESTART IDENTITY'] };
  }
  if (cursor.accept('RENAME', 'TABLE')) return parseRenameTable(cursor);
  return undefined;
}

/** What is said of users (MySQL 8.0 manual, 15.7.1): every user may do everything here, so that it only commits. */
const accounts = [['CREATE', 'USER'], ['ALTER', 'USER'], ['DROP', 'USER'], ['RENAME', 'USER'], ['GRANT'], ['REVOKE']];

function parseAccounts(cursor: Cursor, command: string): Rewritten {
  while (!cursor.isAtEnd()) cursor.take();
  const statement: DdlStatement = {
    kind: 'ddl',
    command,
    isTemporary: false,
    outsideBlocks: null,
    locks: () => [],
    names: () => [],
    // It waits for nothing.
    // oxlint-disable-next-line require-yield
    *run() {
      return { undo: () => undefined, rowCount: 0, notices: [] };
    },
  };
  return { kind: 'statement', statement };
}

function parseCreate(cursor: Cursor): Rewritten {
  const orReplace = cursor.accept('OR', 'REPLACE');
  const isTemporary = cursor.accept('TEMPORARY');
  if (cursor.accept('TABLE')) {
    if (orReplace) throw cursor.unsupported('CREATE OR REPLACE TABLE');
    return parseCreateTable(cursor, isTemporary);
  }
  if (cursor.acceptOneOf('DATABASE', 'SCHEMA') !== undefined) {
    const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS') ? 'IF NOT EXISTS' : '';
    const name = cursor.quoted(cursor.name());
    parseTableOptions(cursor);
    return { kind: 'text', output: ['CREATE SCHEMA', ifNotExists, name] };
  }
  const isUnique = cursor.accept('UNIQUE');
  if (cursor.accept('INDEX')) return { kind: 'text', output: parseCreateIndex(cursor, isUnique) };
  skipViewOptions(cursor);
  if (cursor.accept('VIEW')) return { kind: 'text', output: parseCreateView(cursor, orReplace) };
  throw cursor.unsupported(`CREATE ${cursor.peek()?.text.toUpperCase() ?? ''}`);
}

function parseCreateIndex(cursor: Cursor, isUnique: boolean): Output {
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  const name = cursor.name();
  skipIndexOptions(cursor);
  cursor.expect('ON');
  const table = parseTableName(cursor);
  const parts = parseKeyParts(cursor);
  skipIndexOptions(cursor);
  return createIndex(cursor, table, { isUnique, name, parts }, ifNotExists);
}

/** Who runs it and how: one user, one way. */
function skipViewOptions(cursor: Cursor): void {
  if (cursor.accept('ALGORITHM', '=')) cursor.take();
  if (cursor.accept('DEFINER', '=')) {
    cursor.take();
    if (cursor.accept('(')) cursor.expect(')');
    if (cursor.isKind('user-variable')) cursor.take();
  }
  if (cursor.accept('SQL', 'SECURITY')) cursor.take();
}

function parseCreateView(cursor: Cursor, orReplace: boolean): Output {
  const name = parseTableName(cursor);
  const columns = cursor.is('(') ? parseNameList(cursor) : '';
  cursor.expect('AS');
  const query = parseQueryExpression(cursor);
  if (cursor.is('WITH')) throw cursor.unsupported('WITH CHECK OPTION');
  return ['CREATE', orReplace ? 'OR REPLACE' : '', 'VIEW', name, columns, 'AS', query];
}

/** CASCADE and RESTRICT do nothing in MySQL. */
function parseDrop(cursor: Cursor): Output {
  const isTemporary = cursor.accept('TEMPORARY');
  const what = cursor.acceptOneOf('TABLE', 'TABLES', 'VIEW', 'INDEX', 'DATABASE', 'SCHEMA');
  if (what === undefined) throw cursor.unsupported(`DROP ${cursor.peek()?.text.toUpperCase() ?? ''}`);
  const ifExists = cursor.accept('IF', 'EXISTS') ? 'IF EXISTS' : '';
  if (what === 'DATABASE' || what === 'SCHEMA')
    return ['DROP SCHEMA', ifExists, cursor.quoted(cursor.name()), 'CASCADE'];
  if (what === 'INDEX') {
    const name = cursor.acceptOneOf('PRIMARY') === undefined ? cursor.name() : { value: 'PRIMARY', at: 0 };
    cursor.expect('ON');
    const table = parseTableNames(cursor);
    skipIndexOptions(cursor);
    return ['DROP INDEX', ifExists, cursor.quoted(...table, name)];
  }
  const names = cursor.list(() => (isTemporary ? ['pg_temp.', cursor.quoted(cursor.name())] : parseTableName(cursor)));
  cursor.acceptOneOf('CASCADE', 'RESTRICT');
  return [what === 'VIEW' ? 'DROP VIEW' : 'DROP TABLE', ifExists, commaList(names)];
}

function parseAlter(cursor: Cursor): Rewritten {
  if (cursor.accept('TABLE')) return parseAlterTable(cursor);
  if (cursor.acceptOneOf('DATABASE', 'SCHEMA') === undefined)
    throw cursor.unsupported(`ALTER ${cursor.peek()?.text.toUpperCase() ?? ''}`);
  if (cursor.isName()) cursor.name();
  if (parseTableOptions(cursor).isEmpty) throw cursor.syntaxError();
  return { kind: 'statement', statement: { kind: 'setting', command: 'ALTER DATABASE', what: 'nothing' } };
}

function parseRenameTable(cursor: Cursor): Rewritten {
  const outputs = cursor.list(() => {
    const from = parseTableNames(cursor);
    cursor.expect('TO');
    return renameTable(cursor, from, parseTableNames(cursor));
  });
  return severalTexts(outputs);
}
