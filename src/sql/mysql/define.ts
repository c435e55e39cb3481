/** CREATE, ALTER, DROP, RENAME, TRUNCATE (MySQL 8.0 manual, 15.1). */
import type { Node } from '@pgsql/types';
import type { DdlStatement } from '../statement.ts';
import { drop } from '../tree/definition.ts';
import { nameNodes } from '../tree/expression.ts';
import { parseAlterTable, renameTable, severalTrees } from './alter-table.ts';
import { parseCreateTable, parseTableOptions } from './create-table.ts';
import type { Cursor } from './cursor.ts';
import { indexNode, parseKeyParts, primaryName, skipIndexOptions } from './key.ts';
import { parseColumnNames, parseTable, parseTableNames } from './names.ts';
import { parseQueryExpression } from './nested.ts';
import { type Parsed, parsedTree } from './parsed.ts';
import { parseDeallocate } from './session-statement.ts';

export function parseDefinition(cursor: Cursor): Parsed | undefined {
  for (const words of accounts) if (cursor.accept(...words)) return parseAccounts(cursor, words.join(' '));
  if (cursor.accept('CREATE')) return parseCreate(cursor);
  if (cursor.is('DROP', 'PREPARE')) {
    cursor.take();
    return parseDeallocate(cursor);
  }
  if (cursor.accept('DROP')) return parsedTree(parseDrop(cursor));
  if (cursor.accept('ALTER')) return parseAlter(cursor);
  if (cursor.accept('TRUNCATE')) {
    cursor.accept('TABLE');
    const relations = [{ RangeVar: parseTable(cursor) }];
    return parsedTree({ TruncateStmt: { relations, restart_seqs: true, behavior: 'DROP_RESTRICT' } });
  }
  if (cursor.accept('RENAME', 'TABLE')) return parseRenameTable(cursor);
  return undefined;
}

/** What is said of users (MySQL 8.0 manual, 15.7.1): every user may do everything here, so that it only commits. */
const accounts = [['CREATE', 'USER'], ['ALTER', 'USER'], ['DROP', 'USER'], ['RENAME', 'USER'], ['GRANT'], ['REVOKE']];

function parseAccounts(cursor: Cursor, command: string): Parsed {
  while (!cursor.isAtEnd()) cursor.take();
  const statement: DdlStatement = {
    kind: 'ddl',
    command,
    isTemporary: false,
    outsideBlocks: null,
    locks: () => [],
    names: () => [],
    makesNamesFirst: false,
    // It waits for nothing.
    // oxlint-disable-next-line require-yield
    *run() {
      return { undo: () => undefined, rowCount: 0, notices: [] };
    },
  };
  return { kind: 'statement', statement };
}

function parseCreate(cursor: Cursor): Parsed {
  const orReplace = cursor.accept('OR', 'REPLACE');
  const isTemporary = cursor.accept('TEMPORARY');
  if (cursor.accept('TABLE')) {
    if (orReplace) throw cursor.unsupported('CREATE OR REPLACE TABLE');
    return parseCreateTable(cursor, isTemporary);
  }
  if (cursor.acceptOneOf('DATABASE', 'SCHEMA') !== undefined) {
    const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS') ? { if_not_exists: true } : {};
    const schemaname = cursor.nameText();
    parseTableOptions(cursor);
    return parsedTree({ CreateSchemaStmt: { schemaname, ...ifNotExists } });
  }
  const isUnique = cursor.accept('UNIQUE');
  if (cursor.accept('INDEX')) return parsedTree(parseCreateIndex(cursor, isUnique));
  skipViewOptions(cursor);
  if (cursor.accept('VIEW')) return parsedTree(parseCreateView(cursor, orReplace));
  throw cursor.unsupported(`CREATE ${cursor.peek()?.text.toUpperCase() ?? ''}`);
}

function parseCreateIndex(cursor: Cursor, isUnique: boolean): Node {
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  const name = cursor.name();
  skipIndexOptions(cursor);
  cursor.expect('ON');
  const table = parseTable(cursor);
  const parts = parseKeyParts(cursor);
  skipIndexOptions(cursor);
  return indexNode(cursor, table, { isUnique, name, parts }, ifNotExists);
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

function parseCreateView(cursor: Cursor, orReplace: boolean): Node {
  const view = parseTable(cursor);
  const columns = parseColumnNames(cursor);
  cursor.expect('AS');
  const query = { SelectStmt: parseQueryExpression(cursor) };
  if (cursor.is('WITH')) throw cursor.unsupported('WITH CHECK OPTION');
  return {
    ViewStmt: {
      view,
      ...(columns.length === 0 ? {} : { aliases: nameNodes(columns) }),
      query,
      ...(orReplace ? { replace: true } : {}),
      withCheckOption: 'NO_CHECK_OPTION',
    },
  };
}

/** CASCADE and RESTRICT do nothing in MySQL. */
function parseDrop(cursor: Cursor): Node {
  const isTemporary = cursor.accept('TEMPORARY');
  const what = cursor.acceptOneOf('TABLE', 'TABLES', 'VIEW', 'INDEX', 'DATABASE', 'SCHEMA');
  if (what === undefined) throw cursor.unsupported(`DROP ${cursor.peek()?.text.toUpperCase() ?? ''}`);
  const ifExists = cursor.accept('IF', 'EXISTS');
  if (what === 'DATABASE' || what === 'SCHEMA') return drop('OBJECT_SCHEMA', [[cursor.nameText()]], ifExists);
  if (what === 'INDEX') {
    const name = cursor.accept('PRIMARY') ? { value: primaryName, at: 0 } : cursor.name();
    cursor.expect('ON');
    const table = parseTableNames(cursor);
    skipIndexOptions(cursor);
    return drop('OBJECT_INDEX', [cursor.checked(...table, name)], ifExists);
  }
  const names = cursor.list(() =>
    isTemporary ? ['pg_temp', cursor.nameText()] : cursor.checked(...parseTableNames(cursor)),
  );
  cursor.acceptOneOf('CASCADE', 'RESTRICT');
  return drop(what === 'VIEW' ? 'OBJECT_VIEW' : 'OBJECT_TABLE', names, ifExists);
}

function parseAlter(cursor: Cursor): Parsed {
  if (cursor.accept('TABLE')) return parseAlterTable(cursor);
  if (cursor.acceptOneOf('DATABASE', 'SCHEMA') === undefined)
    throw cursor.unsupported(`ALTER ${cursor.peek()?.text.toUpperCase() ?? ''}`);
  if (cursor.isName()) cursor.name();
  if (parseTableOptions(cursor).isEmpty) throw cursor.syntaxError();
  return { kind: 'statement', statement: { kind: 'setting', command: 'ALTER DATABASE', what: 'nothing' } };
}

function parseRenameTable(cursor: Cursor): Parsed {
  const parts = cursor.list(() => {
    const from = parseTableNames(cursor);
    cursor.expect('TO');
    return renameTable(cursor, from, parseTableNames(cursor));
  });
  return severalTrees('RENAME TABLE', parts);
}
