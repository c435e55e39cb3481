/** ALTER TABLE (MySQL 8.0 manual, 15.1.9): the actions that PostgreSQL's ALTER TABLE takes together, others as statements between them. */
import type { Node } from '@pgsql/types';
import {
  alterCommand,
  alterTable,
  changeType,
  drop,
  identityConstraint,
  renameColumn,
  renameRelation,
} from '../tree/definition.ts';
import type { ColumnPlace } from '../tree/mysql.ts';
import { collationOf, columnNode, parseColumn, parseDefault, type Column } from './column.ts';
import { parseTableOptions, uniqueIndex } from './create-table.ts';
import type { Cursor, Name } from './cursor.ts';
import { indexNode, parseKey, primaryKey, primaryName, type Key } from './key.ts';
import { parseTableNames, tableNamed } from './names.ts';
import { type Parsed, parsedTree } from './parsed.ts';

/** Actions of one ALTER TABLE, and whole statements. */
type Step = { readonly kind: 'action'; readonly command: Node } | { readonly kind: 'statement'; readonly tree: Node };

/** Behind ALTER TABLE. */
export function parseAlterTable(cursor: Cursor): Parsed {
  const ifExists = cursor.accept('IF', 'EXISTS');
  const names = parseTableNames(cursor);
  const table = tableNamed(cursor, names);
  const steps = cursor.list(() => parseAction(cursor, names)).flat();
  const parts: Node[] = [];
  let commands: Node[] = [];
  const flush = (): void => {
    if (commands.length > 0) parts.push(alterTable(table, commands, ifExists));
    commands = [];
  };
  for (const step of steps) {
    if (step.kind === 'action') commands.push(step.command);
    else {
      flush();
      parts.push(step.tree);
    }
  }
  flush();
  if (parts.length > 0) return severalTrees('ALTER TABLE', parts);
  return { kind: 'statement', statement: { kind: 'setting', command: 'ALTER TABLE', what: 'nothing' } };
}

export function severalTrees(command: 'ALTER TABLE' | 'RENAME TABLE', parts: readonly Node[]): Parsed {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return parsedTree(only);
  return { kind: 'several', command, isTemporary: false, parts };
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
    const rename = from.value === column.name.value ? [] : [renamedColumn(cursor, table, from, column.name)];
    return [...rename, ...modify(cursor, table, column)];
  }
  if (cursor.accept('ALTER')) return [parseAlterColumn(cursor)];
  if (cursor.accept('RENAME')) return [parseRename(cursor, table)];
  return parseOptions(cursor);
}

function action(...command: Parameters<typeof alterCommand>): Step {
  return { kind: 'action', command: alterCommand(...command) };
}

function statement(tree: Node): Step {
  return { kind: 'statement', tree };
}

function parseAdd(cursor: Cursor, table: readonly Name[]): Step[] {
  const key = cursor.is('COLUMN') ? undefined : parseKey(cursor);
  if (key !== undefined) return [addKey(cursor, table, key)];
  cursor.accept('COLUMN');
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  if (!cursor.is('(')) return addColumn(cursor, table, ifNotExists, parseColumn(cursor));
  const columns = cursor.parenthesized(() => cursor.list(() => parseColumn(cursor)));
  return columns.flatMap((column) => addColumn(cursor, table, ifNotExists, column));
}

function addKey(cursor: Cursor, table: readonly Name[], key: Key): Step {
  if (key.kind === 'constraint') return action('AT_AddConstraint', { def: key.node });
  return statement(indexNode(cursor, tableNamed(cursor, table), key));
}

function addColumn(cursor: Cursor, table: readonly Name[], ifNotExists: boolean, column: Column): Step[] {
  const place = parsePlace(cursor);
  const def = columnNode(cursor, column, { start: undefined, collation: undefined, place });
  return [action('AT_AddColumn', { def, missing_ok: ifNotExists }), ...keysOf(cursor, table, column)];
}

/** The keys that stand in a column's definition. */
function keysOf(cursor: Cursor, table: readonly Name[], column: Column): Step[] {
  const { name } = column;
  const primary = column.isPrimary ? [action('AT_AddConstraint', { def: primaryKey(cursor, [name], name.at) })] : [];
  const unique = column.isUnique ? [addKey(cursor, table, uniqueIndex(column))] : [];
  return [...primary, ...unique];
}

function parsePlace(cursor: Cursor): ColumnPlace | undefined {
  if (cursor.accept('FIRST')) return { kind: 'first' };
  return cursor.accept('AFTER') ? { kind: 'after', column: cursor.nameText() } : undefined;
}

/** Everything of the column is said anew: what is not there is taken away. */
function modify(cursor: Cursor, table: readonly Name[], column: Column): Step[] {
  if (cursor.isOneOf('FIRST', 'AFTER')) throw cursor.unsupported('moving a column');
  if (column.onUpdate !== undefined) throw cursor.unsupported('ON UPDATE in MODIFY and CHANGE');
  if (column.clauses.length > 0) throw cursor.unsupported('CHECK and GENERATED in MODIFY and CHANGE');
  const name = cursor.nameText(column.name);
  const { at } = column.name;
  const { defaultValue, type } = column;
  const steps: Step[] = [
    { kind: 'action', command: changeType(name, type.type, collationOf(column, undefined), at) },
    action(column.isNotNull || column.isPrimary ? 'AT_SetNotNull' : 'AT_DropNotNull', { name }),
    action('AT_ColumnDefault', defaultValue === undefined ? { name } : { name, def: defaultValue }),
    column.isAutoIncrement
      ? action('AT_AddIdentity', { name, def: identityConstraint(undefined, at) })
      : action('AT_DropIdentity', { name, missing_ok: true }),
  ];
  return [...steps, ...keysOf(cursor, table, column)];
}

function parseDrop(cursor: Cursor, table: readonly Name[]): Step[] {
  if (cursor.accept('PRIMARY', 'KEY')) return [action('AT_DropConstraint', { name: primaryName })];
  if (cursor.acceptOneOf('INDEX', 'KEY') !== undefined) {
    const ifExists = cursor.accept('IF', 'EXISTS');
    return [statement(drop('OBJECT_INDEX', [cursor.checked(...table, cursor.name())], ifExists))];
  }
  const isConstraint = cursor.accept('FOREIGN', 'KEY') || cursor.acceptOneOf('CONSTRAINT', 'CHECK') !== undefined;
  if (!isConstraint) cursor.accept('COLUMN');
  const ifExists = cursor.accept('IF', 'EXISTS');
  const name = cursor.nameText();
  cursor.acceptOneOf('RESTRICT', 'CASCADE');
  return [action(isConstraint ? 'AT_DropConstraint' : 'AT_DropColumn', { name, missing_ok: ifExists })];
}

function parseAlterColumn(cursor: Cursor): Step {
  if (cursor.isOneOf('INDEX', 'CHECK', 'CONSTRAINT')) throw cursor.unsupported('ALTER of an index or a constraint');
  cursor.accept('COLUMN');
  const name = cursor.nameText();
  if (cursor.accept('DROP', 'DEFAULT')) return action('AT_ColumnDefault', { name });
  cursor.expect('SET', 'DEFAULT');
  return action('AT_ColumnDefault', { name, def: parseDefault(cursor) });
}

function renamedColumn(cursor: Cursor, table: readonly Name[], from: Name, to: Name): Step {
  return statement(renameColumn(tableNamed(cursor, table), cursor.nameText(from), cursor.nameText(to)));
}

function parseRename(cursor: Cursor, table: readonly Name[]): Step {
  if (cursor.accept('COLUMN')) {
    const from = cursor.name();
    cursor.expect('TO');
    return renamedColumn(cursor, table, from, cursor.name());
  }
  if (cursor.acceptOneOf('INDEX', 'KEY') !== undefined) {
    const from = cursor.name();
    cursor.expect('TO');
    const index = tableNamed(cursor, [...table, from]);
    return statement(renameRelation('OBJECT_INDEX', index, cursor.nameText()));
  }
  cursor.acceptOneOf('TO', 'AS');
  return statement(renameTable(cursor, table, parseTableNames(cursor)));
}

/** @throws SqlError 0A000 into another database */
export function renameTable(cursor: Cursor, from: readonly Name[], to: readonly Name[]): Node {
  const name = to.at(-1);
  const isMoved = to.length > 1 && to[0]?.value !== (from.length > 1 ? from[0]?.value : cursor.database);
  if (name === undefined || isMoved) throw cursor.unsupported('renaming a table into another database');
  return renameRelation('OBJECT_TABLE', tableNamed(cursor, from), cursor.nameText(name));
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
