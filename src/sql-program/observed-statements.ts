/** What the statements of a session come to, for code that runs the session in another thread: no driver of this one has its answers. */
import type { StatementEvent } from '../database/index.ts';
import type { SqlConnection } from '../program/index.ts';

type Observer = (event: StatementEvent) => void;

const observers = new WeakMap<SqlConnection, Observer>();

/** @param observer called when a statement of the session has ended, on any of its connections */
export function observeStatements(connection: SqlConnection, observer: Observer): void {
  observers.set(connection, observer);
}

export function observerOf(connection: SqlConnection): Observer | undefined {
  return observers.get(connection);
}
