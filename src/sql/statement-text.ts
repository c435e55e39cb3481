/** Text of either dialect: where statements end, and what one of them is. */
import type { Node } from '@pgsql/types';
import { type Dialect, SqlError } from './model/index.ts';
import { parseMysql } from './mysql/parse-mysql.ts';
import { prepareMysqlStatement } from './mysql/prepare-mysql.ts';
import { splitMysql } from './mysql/tokens.ts';
import { parseStatement, splitStatements as splitPostgres } from './parse.ts';
import { prepareStatement as preparePostgres, type PrepareOptions } from './prepare.ts';
import type { Statement } from './statement.ts';

/** The texts of the statements, in order; empty ones are left out. @throws SqlError 42601 (PostgreSQL parses all of them first) */
export function splitStatements(sql: string, dialect: Dialect): string[] {
  return texts[dialect].split(sql);
}

/** Plans one statement. @throws SqlError */
export function prepareStatement(sql: string, options: PrepareOptions): Statement {
  return texts[options.dialect].prepare(sql, options);
}

/** In PostgreSQL's grammar, MySQL's too; `null`: no statement. @throws SqlError */
export function statementTree(sql: string, dialect: Dialect): Node | null {
  return texts[dialect].tree(sql);
}

/** A name with the quotes in which any name can stand. */
export function quotedName(name: string, dialect: Dialect): string {
  const { quote } = texts[dialect];
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
}

interface StatementTexts {
  readonly split: (sql: string) => string[];
  readonly prepare: (sql: string, options: PrepareOptions) => Statement;
  readonly tree: (sql: string) => Node | null;
  readonly quote: string;
}

const texts: Readonly<Record<Dialect, StatementTexts>> = {
  postgres: { split: splitPostgres, prepare: preparePostgres, tree: parseStatement, quote: '"' },
  mysql: { split: splitMysql, prepare: prepareMysqlStatement, tree: mysqlTree, quote: '`' },
};

function mysqlTree(sql: string): Node | null {
  const parsed = parseMysql(sql);
  if (parsed.kind === 'tree') return parsed.tree;
  if (parsed.kind === 'effects' || parsed.kind === 'into') return { SelectStmt: parsed.query };
  if (parsed.kind === 'statement' && parsed.statement.kind === 'empty') return null;
  const word = /^\s*(\w*)/.exec(sql)?.[1]?.toUpperCase();
  throw new SqlError('0A000', `${word} is neither SELECT, INSERT, UPDATE nor DELETE`);
}
