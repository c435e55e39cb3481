/** What a session did, for those who tell a run's story. */
import {
  formatText,
  type PreparedStatement,
  SqlError,
  type SqlType,
  type SqlValue,
  type StatementResult,
} from '../sql/index.ts';

export interface StatementEvent {
  readonly sql: string;
  readonly parameters: readonly string[];
  /** What it waited for, in order. */
  readonly waits: readonly string[];
  readonly command: string;
  /** `null`: it returns no rows. The first few rows as text. */
  readonly rows: string | null;
  readonly rowCount: number;
  readonly error: SqlError | null;
}

const rowsShown = 3;

export function statementEvent(
  prepared: PreparedStatement,
  parameters: readonly SqlValue[],
  waits: readonly string[],
  outcome: StatementResult | SqlError,
): StatementEvent {
  const base = {
    sql: prepared.sql,
    parameters: parameters.map((value, i) => textOf(value, prepared.parameterTypes[i])),
    waits: [...waits],
  };
  if (outcome instanceof SqlError) return { ...base, command: '', rows: null, rowCount: 0, error: outcome };
  const { command, columns, rows, rowCount } = outcome;
  if (columns === null) return { ...base, command, rows: null, rowCount, error: null };
  const shown = rows
    .slice(0, rowsShown)
    .map((row) => `(${row.map((value, i) => textOf(value, columns[i]?.type)).join(', ')})`);
  const more = rows.length > rowsShown ? ` and ${rows.length - rowsShown} more rows` : '';
  return { ...base, command, rows: rows.length === 0 ? 'no rows' : `${shown.join(' ')}${more}`, rowCount, error: null };
}

function textOf(value: SqlValue, type: SqlType | undefined): string {
  if (value === null) return 'null';
  return type === undefined ? '?' : formatText(value, type);
}
