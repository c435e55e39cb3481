/** Definitions of columns in CREATE TABLE and ALTER TABLE (MySQL 8.0 manual, 15.1.20). */
import { skipCharsetName } from './cast-type.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { parenthesized, type Output } from './output.ts';
import { parseColumnType, type ColumnType } from './parse-column-type.ts';
import { collation } from './literal.ts';
import { parseSimple } from './simple-expression.ts';
import { parseTableNames } from './names.ts';

export interface Column {
  readonly name: Name;
  readonly type: ColumnType;
  readonly isNotNull: boolean;
  readonly isAutoIncrement: boolean;
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
  readonly defaultValue: Output | undefined;
  /** ON UPDATE CURRENT_TIMESTAMP: the call. */
  readonly onUpdate: Output | undefined;
  /** Its own collation, as a clause; `undefined`: the table's. */
  readonly collate: string | undefined;
  /** CHECK and GENERATED, ready. */
  readonly clauses: readonly Output[];
}

type Draft = { -readonly [K in keyof Column]: Column[K] } & { clauses: Output[] };

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
    collate: undefined,
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
  else if (cursor.accept('ON', 'UPDATE')) column.onUpdate = parseSimple(cursor).output;
  else if (cursor.accept('COLLATE')) column.collate = collation(collationName(cursor));
  else if (cursor.is('CONSTRAINT') || cursor.is('CHECK')) column.clauses.push(parseCheck(cursor));
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
export function parseDefault(cursor: Cursor): Output {
  return cursor.is('(')
    ? parenthesized(cursor.parenthesized(() => parseExpression(cursor)))
    : parseSimple(cursor).output;
}

/** [CONSTRAINT [name]] CHECK (...) [[NOT] ENFORCED]. */
export function parseCheck(cursor: Cursor): Output {
  const name = cursor.accept('CONSTRAINT') && !cursor.is('CHECK') ? ['CONSTRAINT', cursor.quoted(cursor.name())] : '';
  cursor.expect('CHECK');
  const condition = cursor.parenthesized(() => parseExpression(cursor));
  const isOff = cursor.accept('NOT', 'ENFORCED');
  if (!isOff) cursor.accept('ENFORCED');
  return [name, 'CHECK', parenthesized(condition), isOff ? 'NOT ENFORCED' : ''];
}

function parseGenerated(cursor: Cursor): Output {
  if (cursor.accept('GENERATED')) cursor.expect('ALWAYS');
  cursor.expect('AS');
  const value = cursor.parenthesized(() => parseExpression(cursor));
  const kind = cursor.acceptOneOf('VIRTUAL', 'STORED', 'PERSISTENT');
  const storage = kind === undefined || kind === 'VIRTUAL' ? 'VIRTUAL' : 'STORED';
  return ['GENERATED ALWAYS AS', parenthesized(value), storage];
}

const actions = ['RESTRICT', 'CASCADE', 'SET NULL', 'NO ACTION', 'SET DEFAULT'];

/** Behind REFERENCES: table, columns, actions. */
export function parseReferences(cursor: Cursor): Output {
  const table = cursor.quoted(...parseTableNames(cursor));
  const columns = cursor.is('(')
    ? parenthesized(
        cursor
          .parenthesized(() => cursor.list(() => cursor.quoted(cursor.name())))
          .flatMap((name, i) => (i === 0 ? [name] : [',', name])),
      )
    : '';
  if (cursor.is('MATCH')) throw cursor.unsupported('MATCH');
  const clauses: Output[] = [];
  while (cursor.is('ON', 'DELETE') || cursor.is('ON', 'UPDATE')) {
    cursor.take();
    const event = cursor.take().text.toUpperCase();
    const action = actions.find((words) => cursor.accept(...words.split(' ')));
    if (action === undefined) throw cursor.syntaxError();
    clauses.push(`ON ${event} ${action}`);
  }
  return [table, columns, clauses];
}

export interface ColumnSurroundings {
  /** First value of AUTO_INCREMENT. */
  readonly start: string | undefined;
  readonly collate: string;
}

/** The definition in PostgreSQL's grammar; keys go elsewhere. */
export function columnOutput(cursor: Cursor, column: Column, surroundings: ColumnSurroundings): Output {
  const { type, defaultValue, onUpdate } = column;
  return [
    cursor.quoted(column.name),
    type.text,
    type.isCharacter ? (column.collate ?? surroundings.collate) : '',
    column.isNotNull ? 'NOT NULL' : '',
    defaultValue === undefined ? '' : ['DEFAULT', defaultValue],
    column.isAutoIncrement ? identity(surroundings.start) : '',
    onUpdate === undefined ? '' : ['CONSTRAINT moirai_on_update CHECK', parenthesized(onUpdate)],
    column.clauses,
  ];
}

export function identity(start: string | undefined): string {
  return `GENERATED BY DEFAULT AS IDENTITY${start === undefined ? '' : ` (START WITH ${start})`}`;
}
