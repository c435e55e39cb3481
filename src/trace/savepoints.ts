/**
 * Which savepoints each session has: a name that was never set is a mistake in the trace, not something to guess about. As in PostgreSQL, where
 * a name that is set again hides the older one until it is released. Memory: the savepoints of transactions that are open.
 */
import { fail } from './fields.ts';
import type { TraceOperation } from './trace.ts';

export class SavepointNames {
  readonly #sessions = new Map<string, { readonly transaction: string; names: string[] }>();

  /** Sessions that have one. */
  get size(): number {
    return this.#sessions.size;
  }

  knows(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** @throws InputError `trace/savepoint` with the line */
  check(operation: TraceOperation, line: number): void {
    const { session, transaction, kind, savepoint, failed } = operation;
    if (savepoint === undefined) {
      if (this.#sessions.size > 0 && this.#isOver(operation)) this.#sessions.delete(session);
      return;
    }
    if (failed) return;
    let known = this.#sessions.get(session);
    if (known === undefined || known.transaction !== transaction) {
      known = { transaction, names: [] };
      this.#sessions.set(session, known);
    }
    if (kind === 'savepoint') {
      known.names.push(savepoint);
      return;
    }
    const at = known.names.lastIndexOf(savepoint);
    if (at < 0) fail(line, 'trace/savepoint', `transaction ${transaction} has no savepoint ${savepoint}`);
    known.names.length = kind === 'release' ? at : at + 1;
  }

  #isOver({ session, transaction, kind }: TraceOperation): boolean {
    const known = this.#sessions.get(session);
    if (known === undefined) return false;
    return kind === 'commit' || kind === 'abort' || kind === 'end' || known.transaction !== transaction;
  }
}
