/** What the database answered the statements of one session in one run: did it find rows, and which statements are wrong by their own text? */
import type { AnswerEvidence, StatementEvidence } from '../evidence/index.ts';
import { AnswerTally } from '../program/index.ts';
import type { StatementEvent } from '../database/index.ts';
import { SqlError } from '../sql/model/index.ts';
import { statementLine } from '../sql/index.ts';

export class StatementAnswers {
  readonly #tally = new AnswerTally();

  get answers(): AnswerEvidence {
    return this.#tally.answers;
  }

  ended(event: StatementEvent): void {
    const { sql, error, parameters } = event;
    const statement = shortened(sql);
    if (error !== null) {
      const failure = isOfItsText(error) ? `${error.code} ${error.message}` : null;
      this.#tally.addStatement({ statement, hasSucceeded: false, failure, rows: failure === null ? 'some' : null });
      // A constraint, a lock or a conflict has shown it a row.
      this.#tally.addFound();
      return;
    }
    const found = findingOf(event);
    const rows = rowsOf(event, found);
    this.#tally.addStatement({ statement, hasSucceeded: true, failure: null, rows });
    if (found === 'some') this.#tally.addFound();
    else if (found === 'none')
      this.#tally.addNone(parameters.length === 0 ? statement : `${statement} [${parameters.join(', ')}]`);
  }
}

/** Of one that changes rows, or whose aggregates are of none. */
function rowsOf({ command, answer }: StatementEvent, found: 'some' | 'none' | null): StatementEvidence['rows'] {
  if (changesRows.test(command)) return found === 'none' ? 'none-changed' : found;
  if (command !== 'SELECT' || answer instanceof SqlError) return null;
  return answer.metNoRow === true ? 'none-found' : 'some';
}

/** `null`: it did not look for rows, and did nothing that others can notice. */
function findingOf({ sql, command, rowCount, answer }: StatementEvent): 'some' | 'none' | null {
  if (doesNothing.test(command)) return null;
  if (!countsRows.test(command) || definesTable.test(sql)) return 'some';
  const count = answer instanceof SqlError ? rowCount : Math.max(rowCount, answer.foundRows);
  if (count === 0) return meetsConflict.test(sql) ? 'some' : 'none';
  return isConstant.test(sql) && callsOf(sql).every((name) => withoutEffect.has(name)) ? null : 'some';
}

function callsOf(sql: string): string[] {
  return [...sql.matchAll(/(\w+)\s*\(/g)].map(([, name = '']) => name.toLowerCase());
}

/** Is the statement itself wrong, whatever the data and the timing? */
export function isOfItsText({ code, isUnsupported }: SqlError): boolean {
  return !isUnsupported && codesOfText.has(code);
}

export function shortened(sql: string): string {
  const line = statementLine(sql);
  return line.length <= STATEMENT_MAX ? line : `${line.slice(0, STATEMENT_MAX - 3)}...`;
}

/**
 * PostgreSQL 15, appendix A, class 42: what the analysis of a statement refuses before it looks at rows. Objects that are there already are
 * none of them: that depends on who came first.
 */
const codesOfText: ReadonlySet<string> = new Set([
  '42601', // syntax error
  '42702', // ambiguous column
  '42703', // undefined column
  '42725', // ambiguous function
  '42803', // grouping
  '42804', // datatype mismatch
  '42846', // cannot coerce
  '42883', // undefined function
  '42P01', // undefined table
  '42P02', // undefined parameter
  '42P10', // invalid column reference: ON CONFLICT without such a key
  '42P18', // indeterminate datatype
]);

const doesNothing =
  /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|SHOW|USE|DISCARD|PREPARE|DEALLOCATE|DECLARE CURSOR|CLOSE CURSOR|)$/i;
const changesRows = /^(?:INSERT|UPDATE|DELETE|MERGE|REPLACE)\b/i;
const countsRows = /^(?:SELECT|VALUES|FETCH|INSERT|UPDATE|DELETE|MERGE|REPLACE)\b/i;
/** Their command is SELECT. */
const definesTable = /^\s*create\b|^\s*select\b[^]*\binto\b/i;
/** It changes nothing because there is such a row. */
const meetsConflict = /\bon\s+conflict\b|^\s*insert\s+ignore\b/i;
/** `select 1`, as clients send to try a connection. */
const isConstant = /^\s*(?:select|values)\b(?![^]*\b(?:from|table)\b)/i;
const withoutEffect: ReadonlySet<string> = new Set([
  'version',
  'now',
  'current_database',
  'current_schema',
  'current_setting',
  'set_config',
  'connection_id',
  'pg_backend_pid',
  'database',
  'schema',
  'user',
  'pg_sleep',
  'sleep',
  'values',
]);
const STATEMENT_MAX = 200;
