/** Text of either dialect: where statements end, and what one of them is. */
import type { Dialect } from './model/index.ts';
import { prepareMysqlStatement } from './mysql/prepare-mysql.ts';
import { splitMysql } from './mysql/tokens.ts';
import { splitStatements as splitPostgres } from './parse.ts';
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

interface StatementTexts {
  readonly split: (sql: string) => string[];
  readonly prepare: (sql: string, options: PrepareOptions) => Statement;
}

const texts: Readonly<Record<Dialect, StatementTexts>> = {
  postgres: { split: splitPostgres, prepare: preparePostgres },
  mysql: { split: splitMysql, prepare: prepareMysqlStatement },
};
