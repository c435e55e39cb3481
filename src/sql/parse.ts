/**
 * Text -> statement trees, by PostgreSQL's own parser (libpg-query). Its locations are bytes of UTF-8 from 0; what clients get to see are
 * characters from 1, so everything that leaves here as a position goes through `characterPosition`.
 */
import type { Node, ParseResult } from '@pgsql/types';
import { loadModule, parseSync, scanSync } from 'libpg-query';
import { SqlError } from './model/index.ts';
import { withoutNested } from './nested-comments.ts';
import { RecentTexts } from './recent-texts.ts';

/** Loads the parser, once; nothing can be parsed before. */
export function loadParser(): Promise<void> {
  return loadModule();
}

export interface ParsedStatement {
  readonly tree: Node;
  readonly sql: string;
}

/** The statement of a text with at most one; `null` for the empty text and comments. @throws SqlError 42601 */
export function parseStatement(sql: string): Node | null {
  const statements = parse(sql);
  if (statements.length > 1) throw new SqlError('42601', 'cannot insert multiple commands into a prepared statement');
  return statements[0]?.stmt ?? null;
}

/** The texts of the statements of a simple query, in order; empty ones are left out. @throws SqlError 42601 */
export function splitStatements(sql: string): string[] {
  const statements = parse(sql);
  if (statements.length <= 1) return statements.length === 0 ? [] : [sql];
  const bytes = isAscii(sql) ? null : new TextEncoder().encode(sql);
  return statements.map(({ stmt_location: from = 0, stmt_len: length }) => {
    const to = length === undefined || length === 0 ? undefined : from + length;
    if (bytes === null) return sql.slice(from, to).trim();
    return new TextDecoder().decode(bytes.subarray(from, to)).trim();
  });
}

export interface SqlToken {
  /** As it stands in the text. */
  readonly text: string;
  /** Bytes of UTF-8 from 0. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'parameter' | 'integer' | 'decimal' | 'string' | 'reserved' | 'other';
}

/** The tokens of a text without its comments; `null`: it has no end, as a string without its quote. O(length) */
export function tokensOf(sql: string): readonly SqlToken[] | null {
  try {
    const bytes = Buffer.from(sql);
    return scanSync(withoutNested(sql)).tokens.flatMap(({ start, end, tokenName, keywordName }) => {
      if (tokenName === 'SQL_COMMENT' || tokenName === 'C_COMMENT') return [];
      const kind = tokenKinds[tokenName] ?? (keywordName === 'RESERVED_KEYWORD' ? 'reserved' : 'other');
      return [{ text: bytes.subarray(start, end).toString(), start, end, kind }];
    });
  } catch {
    return null;
  }
}

const tokenKinds: Readonly<Record<string, SqlToken['kind']>> = {
  PARAM: 'parameter',
  ICONST: 'integer',
  FCONST: 'decimal',
  SCONST: 'string',
};

/** A byte offset from 0 in the parser's tree as a character from 1. */
export function characterPosition(sql: string, byteOffset: number): number {
  if (isAscii(sql)) return byteOffset + 1;
  const before = new TextEncoder().encode(sql).subarray(0, byteOffset);
  return Array.from(new TextDecoder().decode(before)).length + 1;
}

type Statements = NonNullable<ParseResult['stmts']>;

/** Trees are never changed. */
const recent = new RecentTexts<Statements>();

function parse(sql: string): Statements {
  if (isBlank(sql)) return [];
  return recent.get(sql, () => {
    try {
      return parseSync(withoutNested(sql)).stmts ?? [];
    } catch (error) {
      throw syntaxError(sql, error);
    }
  });
}

/** Blank and comments only: the parser's wrapper refuses the empty text, its scanner knows comments. */
function isBlank(sql: string): boolean {
  if (sql.trim() === '') return true;
  if (!/^\s*(--|\/\*|;)/.test(sql)) return false;
  try {
    return scanSync(withoutNested(sql)).tokens.every(
      ({ tokenName }) => tokenName === 'SQL_COMMENT' || tokenName === 'C_COMMENT' || tokenName === 'ASCII_59',
    );
  } catch {
    return false;
  }
}

function syntaxError(sql: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const details = (error as { sqlDetails?: { cursorPosition: number } }).sqlDetails;
  if (details === undefined && !/syntax|unterminated|invalid/i.test(error.message)) return error;
  const position = details === undefined ? 0 : Math.min(details.cursorPosition, sql.length) + 1;
  // The grammar refuses impossible frames with a code of their own; its wrapper gives no codes.
  const code = /^frame (starting|start|end)/.test(error.message) ? '42P20' : '42601';
  return new SqlError(code, error.message, position === 0 ? {} : { position });
}

function isAscii(sql: string): boolean {
  for (let i = 0; i < sql.length; i++) if (sql.charCodeAt(i) > 127) return false;
  return true;
}
