/**
 * Statements of sessions that moirai could not do and the engine could. A run with one of them shows what the program makes of the error, not
 * what the engine does, so those who judge runs ask for this list. A statement is one entry however often it is sent; entries are bounded.
 */
import { InputError } from '../../base/index.ts';
import type { UnsupportedStatement } from '../../evidence/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { statementLine } from '../../sql/index.ts';
import { WireError } from '../../wire/index.ts';

/** What a client sent, and from where. */
export interface SentStatement {
  /** The session's name in histories. */
  readonly session: string;
  readonly sql: string;
  /** `src/jobs.ts:31`; `null`: not known. */
  readonly place: string | null;
}

export class UnsupportedStatements {
  readonly #statementsMax: number;
  readonly #onFirst: (statement: UnsupportedStatement) => void;
  readonly #byKey = new Map<string, UnsupportedStatement>();
  /** Statements that were reported, whichever session sent them. */
  readonly #listed = new Set<string>();
  /** An error passes several hands on its way out of a session. */
  readonly #noted = new WeakSet<Error>();

  /** @param onFirst called once for each statement, whichever sessions send it */
  constructor(onFirst: (statement: UnsupportedStatement) => void = () => {}, statementsMax = 100) {
    this.#onFirst = onFirst;
    this.#statementsMax = statementsMax;
  }

  get list(): readonly UnsupportedStatement[] {
    return [...this.#byKey.values()];
  }

  /** Notes the error's statement where moirai is at fault: what it does not support, and its own failures. */
  note(error: unknown, { session, sql, place }: SentStatement): void {
    if (!(error instanceof Error) || !isOurs(error) || this.#noted.has(error)) return;
    this.#noted.add(error);
    const statement = shortened(sql);
    const reason = reasonOf(error);
    const key = `${session}\0${statement}\0${reason}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#byKey.set(key, { ...known, count: known.count + 1, place: known.place ?? place });
    else this.#add(key, { session, statement, reason, place, count: 1 });
  }

  #add(key: string, entry: UnsupportedStatement): void {
    if (this.#byKey.size < this.#statementsMax) this.#byKey.set(key, entry);
    // Connections of a pool send the same: the list may be full of them.
    const entryKey = `${entry.statement}\0${entry.reason}`;
    if (this.#listed.has(entryKey) || this.#listed.size === this.#statementsMax) return;
    this.#listed.add(entryKey);
    this.#onFirst(entry);
  }
}

/** The lists of several runs as one: an entry for each statement, with the sum of its counts. */
export function mergedUnsupported(lists: Iterable<readonly UnsupportedStatement[]>): readonly UnsupportedStatement[] {
  const byKey = new Map<string, UnsupportedStatement>();
  for (const list of lists) {
    for (const each of list) {
      const key = `${each.session}\0${each.statement}\0${each.reason}`;
      const known = byKey.get(key);
      const count = (known?.count ?? 0) + each.count;
      byKey.set(key, { ...each, place: known?.place ?? each.place, count });
    }
  }
  return [...byKey.values()];
}

/** A SqlError that says so, and every other throw: a bug of ours is no answer of the engine's either. */
function isOurs(error: Error): boolean {
  if (error instanceof SqlError) return error.isUnsupported;
  return !(error instanceof WireError || error instanceof InputError);
}

function reasonOf(error: Error): string {
  if (!(error instanceof SqlError)) return `moirai failed: ${error.message}`;
  const { message, code } = error;
  return code === '42601' ? `moirai's grammar of MySQL does not read it: ${message} (${code})` : `${message} (${code})`;
}

function shortened(sql: string): string {
  const text = statementLine(sql);
  return text.length <= STATEMENT_MAX ? text : `${text.slice(0, STATEMENT_MAX - 3)}...`;
}

const STATEMENT_MAX = 200;
