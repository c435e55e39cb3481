/**
 * The shape of a statement: its text with every constant taken out, so that the statements of one place in a program are one, however its client
 * puts values into them. A constant that never differs is put back: it is the program's own.
 */
import type { StatementValue } from '../../trace/index.ts';
import { type SqlToken, tokensOf, tokenize } from '../../sql/index.ts';
import type { Dialect } from '../../sql/model/index.ts';
import { dialects } from '../source/builders/dialect.ts';

/** A value of the text by its number: first its parameters, then its constants. */
export type Slot = number;

export interface Shape {
  /** The same for texts that differ in constants, comments and space only. */
  readonly key: string;
  readonly dialect: Dialect;
  readonly pieces: readonly (string | { readonly slot: Slot; readonly text: string })[];
  /** Bound values come first among the slots. */
  readonly parameters: number;
  readonly constants: readonly StatementValue[];
}

/** O(length). A text that is no SQL is a shape of its own. */
export function shapeOf(sql: string, dialect: Dialect): Shape {
  const tokens = tokensIn[dialect](sql);
  if (tokens === null) return { key: sql, dialect, pieces: [sql], parameters: 0, constants: [] };
  const parameters = tokens.reduce((most, { parameter = 0 }) => Math.max(most, parameter), 0);
  const constants: StatementValue[] = [];
  const pieces: (string | { slot: Slot; text: string })[] = [];
  const key: string[] = [];
  for (const { text, before, parameter, constant } of tokens) {
    if (before !== '') pieces.push(before);
    if (parameter !== undefined) pieces.push({ slot: parameter - 1, text });
    else if (constant === undefined) pieces.push(text);
    else {
      pieces.push({ slot: parameters + constants.length, text });
      constants.push(constant);
    }
    key.push(constant === undefined ? text : '?');
  }
  return { key: `${dialect} ${key.join(' ')}`, dialect, pieces, parameters, constants };
}

export interface ShapedText {
  readonly sql: string;
  /** What its parameters are, in their order. */
  readonly slots: readonly Slot[];
}

/** The text with these constants as parameters. The numbers of those that it has stay. */
export function textOfShape({ pieces, parameters, dialect }: Shape, isParameter: (slot: Slot) => boolean): ShapedText {
  const { placeholder, numbersPlaceholders } = dialects[dialect];
  const slots = numbersPlaceholders ? Array.from({ length: parameters }, (_, slot) => slot) : [];
  let sql = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') sql += piece;
    else if (piece.slot < parameters) {
      sql += piece.text;
      if (!numbersPlaceholders) slots.push(piece.slot);
    } else if (!isParameter(piece.slot)) sql += piece.text;
    else {
      slots.push(piece.slot);
      sql += placeholder(slots.length);
    }
  }
  return { sql: sql.trim(), slots };
}

interface ShapeToken {
  readonly text: string;
  /** Space before it, if there is any; comments count as such. */
  readonly before: string;
  /** From 1. */
  readonly parameter?: number;
  readonly constant?: StatementValue;
}

const tokensIn: Readonly<Record<Dialect, (sql: string) => readonly ShapeToken[] | null>> = {
  postgres: postgresTokens,
  mysql: mysqlTokens,
};

/** Behind these a constant is a value; behind a name it is part of a type, as in `date '2020-01-01'`. */
const beforeValue = /^(?:[-+*/%=<>(,|]|<=|>=|<>|!=|\|\||like|ilike|between|values?)$/i;
/** Behind these `-` is a sign. */
const beforeSign = /^(?:[=<>(,]|<=|>=|<>|!=)$/;

function postgresTokens(sql: string): readonly ShapeToken[] | null {
  const found: ShapeToken[] = [];
  let last: SqlToken | undefined;
  for (const token of tokensOf(sql) ?? [null]) {
    if (token === null) return null;
    const { text, kind } = token;
    const previous = found.at(-1);
    const base = { text, before: last !== undefined && token.start > last.end ? ' ' : '' };
    const isValue = last?.kind === 'reserved' || (previous !== undefined && beforeValue.test(previous.text));
    const constant = isValue ? constantOf(kind, text) : undefined;
    const sign = previous?.text === '-' && beforeSign.test(found.at(-2)?.text ?? '') ? previous : undefined;
    if (kind === 'parameter') found.push({ ...base, parameter: Number(text.slice(1)) });
    else if (typeof constant === 'number' && sign !== undefined)
      found[found.length - 1] = { text: `-${text}`, before: sign.before, constant: -constant };
    else found.push(constant === undefined ? base : { ...base, constant });
    last = token;
  }
  return found;
}

function constantOf(kind: SqlToken['kind'], text: string): StatementValue | undefined {
  if (kind === 'integer' && Number.isSafeInteger(Number(text))) return Number(text);
  // 2.50 is another text than 2.5, and an integer may be too long for a number.
  if (kind === 'integer' || kind === 'decimal') return String(Number(text)) === text ? Number(text) : text;
  if (kind !== 'string' || !text.startsWith("'")) return undefined;
  return text.slice(1, -1).replaceAll("''", "'");
}

function mysqlTokens(sql: string): readonly ShapeToken[] | null {
  const found: ShapeToken[] = [];
  let before = '';
  let parameters = 0;
  for (const { kind, text, value } of tokenize(sql)) {
    if (kind === 'unterminated') return null;
    if (kind === 'space') {
      before = found.length === 0 ? '' : ' ';
      continue;
    }
    const previous = found.at(-1)?.text ?? '';
    const isValue =
      beforeValue.test(previous) || /^(?:where|and|or|not|in|limit|then|else|set|select)$/i.test(previous);
    if (kind === 'parameter') found.push({ text, before, parameter: (parameters += 1) });
    else if (isValue && kind === 'string') found.push({ text, before, constant: value });
    else if (isValue && kind === 'number') found.push({ text, before, constant: constantOf('decimal', text) ?? text });
    else found.push({ text, before });
    before = '';
  }
  return found;
}
