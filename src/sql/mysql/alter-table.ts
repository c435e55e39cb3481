/** ALTER TABLE (MySQL 8.0 manual, 15.1.9): the actions that PostgreSQL's ALTER TABLE takes together, others as statements between them. */
import { columnOutput, identity, parseColumn, parseDefault, type Column } from './column.ts';
import { parseTableOptions, severalTexts, uniqueIndex } from './create-table.ts';
import type { Cursor, Name } from './cursor.ts';
import { createIndex, parseKey, primaryKey, type Key } from './key.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import type { Rewritten } from './rewritten.ts';
import { parseTableNames } from './names.ts';

/** Actions of one ALTER TABLE, and whole statements. */
type Step =
  | { readonly kind: 'action'; readonly output: Output }
  | { readonly kind: 'statement'; readonly output: Output };

/** Behind ALTER TABLE. */
export function parseAlterTable(cursor: Cursor): Rewritten {
  const ifExists = cursor.accept('IF', 'EXISTS') ? 'IF EXISTS' : '';
  const names = parseTableNames(cursor);
  const table = cursor.quoted(...names);
  const steps = cursor.list(() => parseAction(cursor, names)).flat();
  const texts: Output[] = [];
  let actions: Output[] = [];
  const flush = (): void => {
    if (actions.length > 0) texts.push(['ALTER TABLE', ifExists, table, commaList(actions)]);
    actions = [];
  };
  for (const step of steps) {
    if (step.kind === 'action') actions.push(step.output);
    else {
      flush();
      texts.push(step.output);
    }
  }
  flush();
  if (texts.length > 0) return severalTexts(texts);
  return { kind: 'statement', statement: { kind: 'setting', command: 'ALTER TABLE', what: 'nothing' } };
}

function parseAction(cursor: Cursor, table: readonly Name[]): Step[] {
  if (cursor.accept('ADD')) return parseAdd(cursor, table);
  if (cursor.accept('DROP')) return parseDrop(cursor, table);
  if (cursor.accept('MODIFY')) {
    cursor.accept('COLUMN');
    return modify(cursor, table, parseColumn(cursor));
  }
  if (cursor.accept('CHANGE')) {
    cursor.accept('COLUMN');
    const from = cursor.name();
    const column = parseColumn(cursor);
    const rename = from.value === column.name.value ? [] : [renameColumn(cursor, table, from, column.name)];
    return [...rename, ...modify(cursor, table, column)];
  }
  if (cursor.accept('ALTER')) return [parseAlterColumn(cursor)];
  if (cursor.accept('RENAME')) return [parseRename(cursor, table)];
  return parseOptions(cursor);
}

function action(output: Output): Step {
  return { kind: 'action', output };
}

function statement(output: Output): Step {
  return { kind: 'statement', output };
}

function parseAdd(cursor: Cursor, table: readonly Name[]): Step[] {
  const key = cursor.is('COLUMN') ? undefined : parseKey(cursor);
  if (key !== undefined) return [addKey(cursor, table, key)];
  cursor.accept('COLUMN');
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS') ? 'IF NOT EXISTS' : '';
  if (!cursor.is('(')) return addColumn(cursor, table, ifNotExists, parseColumn(cursor));
  const columns = cursor.parenthesized(() => cursor.list(() => parseColumn(cursor)));
  return columns.flatMap((column) => addColumn(cursor, table, ifNotExists, column));
}

function addKey(cursor: Cursor, table: readonly Name[], key: Key): Step {
  if (key.kind === 'constraint') return action(['ADD', key.output]);
  return statement(createIndex(cursor, cursor.quoted(...table), key));
}

function addColumn(cursor: Cursor, table: readonly Name[], ifNotExists: string, column: Column): Step[] {
  const place = parsePlace(cursor);
  const definition = columnOutput(cursor, column, { start: undefined, collate: '' });
  const steps = [action(['ADD COLUMN', ifNotExists, definition, place])];
  return [...steps, ...keysOf(cursor, table, column)];
}

/** The keys that stand in a column's definition. */
function keysOf(cursor: Cursor, table: readonly Name[], column: Column): Step[] {
  const primary = column.isPrimary ? [action(['ADD', primaryKey([cursor.quoted(column.name)])])] : [];
  const unique = column.isUnique ? [addKey(cursor, table, uniqueIndex(cursor, column))] : [];
  return [...primary, ...unique];
}

function parsePlace(cursor: Cursor): Output {
  if (cursor.accept('FIRST')) return 'CONSTRAINT moirai_first CHECK (1)';
  if (!cursor.accept('AFTER')) return '';
  return ['CONSTRAINT moirai_after CHECK', parenthesized(cursor.quoted(cursor.name()))];
}

/** Everything of the column is said anew: what is not there is taken away. */
function modify(cursor: Cursor, table: readonly Name[], column: Column): Step[] {
  if (cursor.isOneOf('FIRST', 'AFTER')) throw cursor.unsupported('moving a column');
  if (column.onUpdate !== undefined) throw cursor.unsupported('ON UPDATE in MODIFY and CHANGE');
  if (column.clauses.length > 0) throw cursor.unsupported('CHECK and GENERATED in MODIFY and CHANGE');
  const lead = ['ALTER COLUMN', cursor.quoted(column.name)];
  const { defaultValue, type } = column;
  const hasOrder = type.isCharacter ? (column.collate ?? '') : '';
  const steps = [
    action([lead, 'TYPE', type.text, hasOrder]),
    action([lead, column.isNotNull || column.isPrimary ? 'SET NOT NULL' : 'DROP NOT NULL']),
    action(defaultValue === undefined ? [lead, 'DROP DEFAULT'] : [lead, 'SET DEFAULT', defaultValue]),
    action([lead, column.isAutoIncrement ? `ADD ${identity(undefined)}` : 'DROP IDENTITY IF EXISTS']),
  ];
  return [...steps, ...keysOf(cursor, table, column)];
}

function parseDrop(cursor: Cursor, table: readonly Name[]): Step[] {
  if (cursor.accept('PRIMARY', 'KEY')) return [action('DROP CONSTRAINT "PRIMARY"')];
  if (cursor.acceptOneOf('INDEX', 'KEY') !== undefined) {
    const ifExists = cursor.accept('IF', 'EXISTS') ? 'IF EXISTS' : '';
    return [statement(['DROP INDEX', ifExists, cursor.quoted(...table, cursor.name())])];
  }
  const isConstraint = cursor.accept('FOREIGN', 'KEY') || cursor.acceptOneOf('CONSTRAINT', 'CHECK') !== undefined;
  if (!isConstraint) cursor.accept('COLUMN');
  const ifExists = cursor.accept('IF', 'EXISTS') ? 'IF EXISTS' : '';
  const name = cursor.quoted(cursor.name());
  cursor.acceptOneOf('RESTRICT', 'CASCADE');
  return [action([isConstraint ? 'DROP CONSTRAINT' : 'DROP COLUMN', ifExists, name])];
}

function parseAlterColumn(cursor: Cursor): Step {
  if (cursor.isOneOf('INDEX', 'CHECK', 'CONSTRAINT')) throw cursor.unsupported('ALTER of an index or a constraint');
  cursor.accept('COLUMN');
  const lead = ['ALTER COLUMN', cursor.quoted(cursor.name())];
  if (cursor.accept('DROP', 'DEFAULT')) return action([lead, 'DROP DEFAULT']);
  cursor.expect('SET', 'DEFAULT');
  return action([lead, 'SET DEFAULT', parseDefault(cursor)]);
}

function renameColumn(cursor: Cursor, table: readonly Name[], from: Name, to: Name): Step {
  return statement([
    'ALTER TABLE',
    cursor.quoted(...table),
    'RENAME COLUMN',
    cursor.quoted(from),
    'TO',
    cursor.quoted(to),
  ]);
}

function parseRename(cursor: Cursor, table: readonly Name[]): Step {
  if (cursor.accept('COLUMN')) {
    const from = cursor.name();
    cursor.expect('TO');
    return renameColumn(cursor, table, from, cursor.name());
  }
  if (cursor.acceptOneOf('INDEX', 'KEY') !== undefined) {
    const from = cursor.name();
    cursor.expect('TO');
    return statement(['ALTER INDEX', cursor.quoted(...table, from), 'RENAME TO', cursor.quoted(cursor.name())]);
  }
  cursor.acceptOneOf('TO', 'AS');
  return statement(renameTable(cursor, table, parseTableNames(cursor)));
}

/** @throws SqlError 0A000 into another database */
export function renameTable(cursor: Cursor, from: readonly Name[], to: readonly Name[]): Output {
  const name = to.at(-1);
  const isMoved = to.length > 1 && to[0]?.value !== (from.length > 1 ? from[0]?.value : cursor.database);
  if (name === undefined || isMoved) throw cursor.unsupported('renaming a table into another database');
  return ['ALTER TABLE', cursor.quoted(...from), 'RENAME TO', cursor.quoted(name)];
}

/** Options, and hints that change nothing. */
function parseOptions(cursor: Cursor): Step[] {
  if (cursor.accept('CONVERT', 'TO')) return parseOptions(cursor);
  if (cursor.accept('ENABLE', 'KEYS') || cursor.accept('DISABLE', 'KEYS') || cursor.accept('FORCE')) return [];
  const options = parseTableOptions(cursor);
  if (options.isEmpty) throw cursor.syntaxError();
  if (options.autoIncrement !== undefined) throw cursor.unsupported('ALTER TABLE ... AUTO_INCREMENT');
  return [];
}
