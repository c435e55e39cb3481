/** Text of either dialect: where statements end, and what one of them is. */
import type { Dialect } from './dialect.ts';
import { prepareMysqlStatement } from './mysql/prepare-mysql.ts';
import { splitMysql } from './mysql/tokens.ts';
import { splitStatements as splitPostgres } from './parse.ts';
import { prepareStatement as preparePostgres, type PrepareOptions } from './prepare.ts';
import type { Statement } from './statement.ts';

/** The texts of the statements, in order; empty ones are left out. @throws SqlError 42601 (PostgreSQL parses all of them first) */
export function splitStatements(sql: string, dialect: Dialect): string[] {
  return dialect === 'mysql' ? splitMysql(sql) : splitPostgres(sql);
}

/** Plans one statement. @throws SqlError */
export function prepareStatement(sql: string, options: PrepareOptions): Statement {
  return options.dialect === 'mysql' ? prepareMysqlStatement(sql, options) : preparePostgres(sql, options);
}
