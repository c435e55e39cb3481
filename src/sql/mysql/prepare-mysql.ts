/** From MySQL's text to what the session runs: the rewritten text, planned, with MySQL's names, places and one result put back. */
import { temporarySchema } from '../catalog/temporary.ts';
import type { Execution } from '../expression.ts';
import { prepareStatement, type PrepareOptions } from '../prepare.ts';
import { SqlError, type StatementView, type Waiting } from '../model/index.ts';
import type { DdlOutcome, DdlStatement, QueryStatement, Statement } from '../statement.ts';
import { rewriteMysql, type MysqlRewrite, type SqlRewrite } from './rewrite.ts';

/** Plans one statement of MySQL's. @throws SqlError */
export function prepareMysqlStatement(sql: string, options: PrepareOptions): Statement {
  const { database } = options;
  return prepared(rewriteMysql(sql, database === undefined ? {} : { database }), sql, options);
}

function prepared(rewrite: MysqlRewrite, sql: string, options: PrepareOptions): Statement {
  switch (rewrite.kind) {
    case 'statement':
      return inDatabase(rewrite.statement, options);
    case 'sql':
      return preparedText(rewrite, sql, options);
    case 'several':
      return inOrder(rewrite.parts, sql, options);
  }
}

/**
 * A name that no CREATE DATABASE has made is the database that is there from the start, here as in `name.table`: clients connect to whatever
 * their configuration says.
 */
function inDatabase(statement: Statement, { catalog }: PrepareOptions): Statement {
  if (statement.kind !== 'setting' || statement.what !== 'set' || statement.command !== 'USE') return statement;
  const name = (statement.value ?? '').slice(1, -1).replaceAll('""', '"');
  return catalog.hasSchema(name) ? statement : { ...statement, value: null };
}

function preparedText(rewrite: SqlRewrite, sql: string, options: PrepareOptions): Statement {
  let statement: Statement;
  try {
    statement = prepareStatement(rewrite.text, options);
  } catch (error) {
    throw inSource(error, rewrite, sql);
  }
  if (statement.kind !== 'query') return statement;
  return rewrite.discardsRows ? withoutRows(statement) : withNames(statement, rewrite.longNames);
}

/** A place in the rewritten text is one in the client's; both count characters from 1. */
function inSource(error: unknown, rewrite: SqlRewrite, sql: string): unknown {
  if (!(error instanceof SqlError) || error.detail.position === undefined) return error;
  const before = Array.from(rewrite.text)
    .slice(0, error.detail.position - 1)
    .join('');
  const position = Array.from(sql.slice(0, rewrite.positionOf(before.length))).length + 1;
  return new SqlError(error.code, error.message, { ...error.detail, position });
}

function withNames(statement: QueryStatement, longNames: readonly string[]): QueryStatement {
  if (longNames.length === 0 || statement.columns === null) return statement;
  const nameOf = (name: string): string => {
    const number = /^moirai_name_(\d+)$/.exec(name)?.[1];
    return number === undefined ? name : (longNames[Number(number)] ?? name);
  };
  return { ...statement, columns: statement.columns.map((column) => ({ ...column, name: nameOf(column.name) })) };
}

/** SET and DO: computed for what it does. */
function withoutRows(statement: QueryStatement): QueryStatement {
  return {
    ...statement,
    command: 'SET',
    columns: null,
    *run(execution, view) {
      yield* statement.run(execution, view);
      return { rows: [], rowCount: 0, foundRows: 0, insertId: 0n };
    },
  };
}

/** Each is planned when those before it have run: an index needs its table. When one fails, what was done is undone. */
function inOrder(parts: readonly MysqlRewrite[], sql: string, options: PrepareOptions): DdlStatement {
  const command = commandOf(parts);
  const isTemporary = command === 'CREATE TEMPORARY';
  function* run(execution: Execution, view: StatementView): Waiting<DdlOutcome> {
    // The session's own schema may be made by the first part.
    const own = isTemporary ? [temporarySchema(execution.surroundings.sessionId)] : [];
    const searchPath = [...own, ...options.searchPath.filter((schema) => !own.includes(schema))];
    const done: DdlOutcome[] = [];
    const undo = (): void => {
      for (const outcome of done.toReversed()) outcome.undo();
    };
    try {
      for (const part of parts)
        done.push(yield* runDdl(prepared(part, sql, { ...options, searchPath }), execution, view));
    } catch (error) {
      undo();
      throw error;
    }
    return { undo, rowCount: 0, notices: done.flatMap(({ notices }) => notices) };
  }
  return { kind: 'ddl', command, isTemporary, outsideBlocks: null, locks: () => [], names: () => [], run };
}

function* runDdl(statement: Statement, execution: Execution, view: StatementView): Waiting<DdlOutcome> {
  if (statement.kind === 'ddl') return yield* statement.run(execution, view);
  return { undo: () => undefined, rowCount: 0, notices: [] };
}

/** Two words of the first part's text: CREATE TABLE, ALTER TABLE. */
function commandOf([first]: readonly MysqlRewrite[]): string {
  const text = first?.kind === 'sql' ? first.text : '';
  return /^\w+ \w+/.exec(text)?.[0] ?? '';
}
