/**
 * A statement in a trace, beside the operations that say what it did to rows: its text, its values and what came back. Only where the recorder was
 * asked to keep them; a verifier passes over these lines.
 *
 *     {"moirai":"statement","session":"311","transaction":"311/1","dialect":"postgres","sql":"SELECT n FROM t WHERE id = $1",
 *      "parameters":[7],"columns":["n"],"rows":[[30]],"count":1}
 */
import { InputError } from '../base/index.ts';
import { fail, type Fields, shown } from './fields.ts';

/** As JSON has it; a value that is too long is its length instead. */
export type StatementValue = string | number | boolean | null | readonly StatementValue[] | { readonly length: number };

export interface TraceStatement {
  readonly session: string;
  /** `null`: none was open and the statement opened none, as SET. */
  readonly transaction: string | null;
  readonly dialect: 'postgres' | 'mysql';
  readonly sql: string;
  /** The first is `$1` or the first `?`. */
  readonly parameters: readonly StatementValue[];
  /** `null`: the server answered with an error, or never. */
  readonly result: StatementResultKept | null;
  /** The server's code of the error. */
  readonly code: string | null;
  /** The text, or some of the rows, columns or parameters, were too many to keep. */
  readonly isShortened: boolean;
}

export interface StatementResultKept {
  readonly columns: readonly string[];
  /** The first ones. */
  readonly rows: readonly (readonly StatementValue[])[];
  /** All rows that came back; without columns, rows that were changed. */
  readonly count: number;
}

export function formatTraceStatement(statement: TraceStatement): string {
  const { session, transaction, dialect, sql, parameters, result, code, isShortened } = statement;
  return JSON.stringify({
    moirai: 'statement',
    session,
    ...(transaction === null ? {} : { transaction }),
    dialect,
    sql,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(result === null ? {} : result.columns.length === 0 ? { count: result.count } : result),
    ...(code === null ? {} : { code }),
    ...(isShortened ? { shortened: true } : {}),
  });
}

export function isTraceStatement({ moirai }: Fields): boolean {
  return moirai === 'statement';
}

/** @throws InputError `trace/statement` */
export function parseTraceStatement(fields: Fields, line: number): TraceStatement {
  const { session, transaction = null, dialect, sql, parameters = [], columns = [], rows = [], code = null } = fields;
  const { count = null, shortened = false } = fields;
  const check = (isRight: boolean, name: string): void => {
    if (!isRight) fail(line, 'trace/statement', `a statement has no such ${name}: ${shown(fields[name])}`);
  };
  check(typeof session === 'string', 'session');
  check(transaction === null || typeof transaction === 'string', 'transaction');
  check(dialect === 'postgres' || dialect === 'mysql', 'dialect');
  check(typeof sql === 'string', 'sql');
  check(Array.isArray(parameters), 'parameters');
  check(Array.isArray(columns) && columns.every((name) => typeof name === 'string'), 'columns');
  check(Array.isArray(rows) && rows.every((row) => Array.isArray(row)), 'rows');
  check(count === null || (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0), 'count');
  check(code === null || typeof code === 'string', 'code');
  return {
    session,
    transaction,
    dialect,
    sql,
    parameters,
    result: count === null ? null : { columns, rows, count },
    code,
    isShortened: shortened === true,
  } as TraceStatement;
}

/** @throws InputError `trace/...` */
export function requireStatements(found: number): void {
  if (found === 0)
    throw new InputError(
      'trace/no-statements',
      'the trace has no statements: record it with moirai record --statements, or with MOIRAI_STATEMENTS=1',
    );
}
