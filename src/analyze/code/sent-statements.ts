/** What one call of the application's code sent, over all its connections, and what of it committed. */
import type { StatementEvent } from '../../database/index.ts';
import { formatText, SqlError } from '../../sql/model/index.ts';
import type { Dialect } from '../application.ts';
import type { QueryResult } from '../../sql-program/index.ts';
import { type Ran, ranInVain } from '../run-steps.ts';
import { type Role, Roles } from '../traffic/session-statements.ts';
import type { WitnessSession } from '../witness-definition.ts';
import type { CallOutcome } from './application-code.ts';
import { statementKey } from './statement-key.ts';

export interface SentStatement {
  readonly sql: string;
  readonly role: Role['kind'];
  readonly error: SqlError | null;
  /** Does it name a table? A driver or an ORM asks for versions and settings as well. */
  readonly isAboutTables: boolean;
}

export class SentStatements {
  readonly sent: SentStatement[] = [];
  readonly #dialect: Dialect;
  readonly #roles = new Roles();
  #saw: readonly QueryResult[] = [];
  #hasCommitted = false;
  #hasWritten = false;
  /** Has a statement changed a row, committed or not? */
  #hasChanged = false;
  #hasMissed = false;
  readonly #guards: ReadonlySet<string>;

  /** @param guards as of `WitnessSession` */
  constructor(dialect: Dialect, guards: readonly string[]) {
    this.#dialect = dialect;
    this.#guards = new Set(guards.map((sql) => statementKey(sql, dialect)));
  }

  /** A connection begins. @returns what takes its statements */
  connection(): (event: StatementEvent) => void {
    let open: Piece | null = null;
    return (event) => {
      const { kind } = this.#roles.of(event.sql, this.#dialect);
      const isAboutTables = kind !== 'data' || event.tables === null || event.tables.length > 0;
      this.sent.push({ sql: event.sql, role: kind, error: event.error, isAboutTables });
      if (kind === 'begin') open = { saw: [], writes: false };
      if (kind === 'rollback') open = null;
      if (kind === 'commit') {
        // PostgreSQL answers a COMMIT with ROLLBACK where a statement has failed.
        if (open !== null && event.error === null && event.command !== 'ROLLBACK') this.#commit(open);
        open = null;
      }
      if (event.error !== null || !isAboutTables || kind !== 'data') return;
      this.#hasChanged ||= event.command !== 'SELECT' && event.rowCount > 0;
      this.#hasMissed ||= event.rowCount === 0 && this.#guards.has(statementKey(event.sql, this.#dialect));
      const piece = { saw: [resultOf(event, this.#dialect)], writes: event.command !== 'SELECT' };
      if (open === null) this.#commit(piece);
      else open = { saw: [...open.saw, ...piece.saw], writes: open.writes || piece.writes };
    };
  }

  /** As a run of its statements would have ended. What it wrote on the way is not compared: texts of statements have values in them. */
  ran(outcome: CallOutcome, scope: WitnessSession['scope']): Ran {
    const isRefused = this.#hasMissed && !this.#hasChanged;
    if (scope !== 'one transaction' && outcome.kind !== 'returned')
      return ranInVain(this.#hasWritten && !isRefused ? 'partial' : 'aborted');
    return { end: this.#hasCommitted ? 'committed' : 'aborted', saw: this.#saw, wrote: [], decided: [], isRefused };
  }

  #commit({ saw, writes }: Piece): void {
    this.#hasCommitted = true;
    this.#hasWritten ||= writes;
    this.#saw = [...this.#saw, ...saw];
  }
}

interface Piece {
  readonly saw: readonly QueryResult[];
  readonly writes: boolean;
}

function resultOf({ answer }: StatementEvent, dialect: Dialect): QueryResult {
  if (answer instanceof SqlError) return { rows: [], count: 0 };
  const columns = answer.columns ?? [];
  const rows = answer.rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, type }, at) => {
        const value = row[at] ?? null;
        return [name, value === null ? null : formatText(value, type, dialect)];
      }),
    ),
  );
  return { rows, count: answer.rowCount };
}
