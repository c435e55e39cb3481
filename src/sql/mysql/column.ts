/** Definitions of columns in CREATE TABLE and ALTER TABLE (MySQL 8.0 manual, 15.1.20). */
import type { Node } from '@pgsql/types';
import {
  type CheckParts,
  columnCheck,
  columnDef,
  defaultConstraint,
  generatedConstraint,
  identityConstraint,
  notNullConstraint,
  type ReferentialAction,
  type References,
} from '../tree/definition.ts';
import type { ColumnPlace, MysqlColumn } from '../tree/mysql.ts';
import { skipCharsetName } from './cast-type.ts';
import type { Cursor, Name } from './cursor.ts';
import { collation } from './literal.ts';
import { parseColumnNames, parseTable } from './names.ts';
import { parseExpression } from './nested.ts';
import { parseColumnType, type ColumnType } from './parse-column-type.ts';
import { parseSimple } from './simple-expression.ts';

export interface Column {
  readonly name: Name;
  readonly type: ColumnType;
  readonly isNotNull: boolean;
  readonly isAutoIncrement: boolean;
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
  readonly defaultValue: Node | undefined;
  /** ON UPDATE CURRENT_TIMESTAMP: the call. */
  readonly onUpdate: Node | undefined;
  /** `null`: one that means nothing; `undefined`: the table's. */
  readonly collation: string | null | undefined;
  /** CHECK and GENERATED. */
  readonly clauses: readonly Node[];
}

type Draft = { -readonly [K in keyof Column]: Column[K] } & { clauses: Node[] };

export function parseColumn(cursor: Cursor): Column {
  const name = cursor.name();
  const type = parseColumnType(cursor);
  const column: Draft = {
    name,
    type,
    isNotNull: type.isSerial,
    isAutoIncrement: type.isSerial,
    isUnique: type.isSerial,
    isPrimary: false,
    defaultValue: undefined,
    onUpdate: undefined,
    collation: undefined,
    clauses: [],
  };
  while (parseAttribute(cursor, column));
  return column;
}

/** One attribute; false where none follows. */
function parseAttribute(cursor: Cursor, column: Draft): boolean {
  if (cursor.accept('NOT', 'NULL')) column.isNotNull = true;
  else if (cursor.accept('NULL')) column.isNotNull = false;
  else if (cursor.accept('AUTO_INCREMENT')) column.isAutoIncrement = true;
  else if (cursor.accept('UNIQUE')) {
    cursor.accept('KEY');
    column.isUnique = true;
  } else if (cursor.accept('PRIMARY', 'KEY') || cursor.accept('KEY')) column.isPrimary = true;
  else if (cursor.accept('DEFAULT')) column.defaultValue = parseDefault(cursor);
  else if (cursor.accept('ON', 'UPDATE')) column.onUpdate = parseSimple(cursor);
  else if (cursor.accept('COLLATE')) column.collation = collation(collationName(cursor)) ?? null;
  else if (cursor.is('CONSTRAINT') || cursor.is('CHECK')) column.clauses.push(...columnCheck(parseCheck(cursor)));
  else if (cursor.is('GENERATED') || cursor.is('AS')) column.clauses.push(parseGenerated(cursor));
  else return skipAttribute(cursor);
  return true;
}

export function collationName(cursor: Cursor): string {
  return cursor.accept('BINARY') ? 'binary' : cursor.nameAfterPointOrString();
}

/** What changes nothing that can be seen. Inline REFERENCES are one of them in MySQL 8.0. */
function skipAttribute(cursor: Cursor): boolean {
  if (cursor.accept('COMMENT') || cursor.accept('COLUMN_FORMAT') || cursor.accept('STORAGE')) {
    cursor.take();
    return true;
  }
  if (cursor.accept('REFERENCES')) {
    parseReferences(cursor);
    return true;
  }
  if (cursor.is('CHARACTER', 'SET') || cursor.is('CHARSET')) {
    if (cursor.take().text.toUpperCase() === 'CHARACTER') cursor.take();
    skipCharsetName(cursor);
    return true;
  }
  if (cursor.is('INVISIBLE')) throw cursor.unsupported('INVISIBLE columns');
  return cursor.accept('VISIBLE');
}

/** DEFAULT 1, DEFAULT CURRENT_TIMESTAMP(3), DEFAULT (expression). */
export function parseDefault(cursor: Cursor): Node {
  return cursor.is('(') ? cursor.parenthesized(() => parseExpression(cursor)) : parseSimple(cursor);
}

/** [CONSTRAINT [name]] CHECK (...) [[NOT] ENFORCED]. */
export function parseCheck(cursor: Cursor): CheckParts {
  const at = cursor.at();
  const name = cursor.accept('CONSTRAINT') && !cursor.is('CHECK') ? cursor.nameText() : undefined;
  cursor.expect('CHECK');
  const condition = cursor.parenthesized(() => parseExpression(cursor));
  const isEnforced = !cursor.accept('NOT', 'ENFORCED');
  if (isEnforced) cursor.accept('ENFORCED');
  return { name, condition, isEnforced, at };
}

function parseGenerated(cursor: Cursor): Node {
  const at = cursor.at();
  if (cursor.accept('GENERATED')) cursor.expect('ALWAYS');
  cursor.expect('AS');
  const value = cursor.parenthesized(() => parseExpression(cursor));
  const kind = cursor.acceptOneOf('VIRTUAL', 'STORED', 'PERSISTENT');
  return generatedConstraint(value, kind !== undefined && kind !== 'VIRTUAL', at);
}

const actions: readonly ReferentialAction[] = ['RESTRICT', 'CASCADE', 'SET NULL', 'NO ACTION', 'SET DEFAULT'];

/** Behind REFERENCES: table, columns, actions. */
export function parseReferences(cursor: Cursor): References {
  const table = parseTable(cursor);
  const columns = parseColumnNames(cursor);
  if (cursor.is('MATCH')) throw cursor.unsupported('MATCH');
  const chosen: Record<'onUpdate' | 'onDelete', ReferentialAction> = { onUpdate: 'NO ACTION', onDelete: 'NO ACTION' };
  while (cursor.is('ON', 'DELETE') || cursor.is('ON', 'UPDATE')) {
    cursor.take();
    const event = cursor.take().text.toUpperCase() === 'DELETE' ? 'onDelete' : 'onUpdate';
    const action = actions.find((words) => cursor.accept(...words.split(' ')));
    if (action === undefined) throw cursor.syntaxError();
    chosen[event] = action;
  }
  return { table, columns, ...chosen };
}

export interface ColumnSurroundings {
  /** First value of AUTO_INCREMENT. */
  readonly start: string | undefined;
  readonly collation: string | undefined;
  /** ALTER TABLE: among the other columns. */
  readonly place: ColumnPlace | undefined;
}

/** The collation that a column of characters has. */
export function collationOf({ type, collation: own }: Column, ofTable: string | undefined): string | undefined {
  return type.isCharacter ? (own === undefined ? ofTable : (own ?? undefined)) : undefined;
}

/** The definition; keys go elsewhere. */
export function columnNode(
  cursor: Cursor,
  column: Column,
  { start, collation: ofTable, place }: ColumnSurroundings,
): Node {
  const { name, type, isNotNull, isAutoIncrement, defaultValue, onUpdate, clauses } = column;
  const { at } = name;
  const constraints = [
    ...(isNotNull ? [notNullConstraint(at)] : []),
    ...(defaultValue === undefined ? [] : [defaultConstraint(defaultValue, at)]),
    ...(isAutoIncrement ? [identityConstraint(start, at)] : []),
    ...clauses,
  ];
  const definition: MysqlColumn = {
    ...columnDef(
      { name: cursor.nameText(name), type: type.type, collation: collationOf(column, ofTable), constraints },
      at,
    ),
    ...(onUpdate === undefined ? {} : { onUpdate }),
    ...(place === undefined ? {} : { place }),
  };
  return { ColumnDef: definition };
}
