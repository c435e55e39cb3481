/** Statements of a connection without the bytes of a protocol, for programs of moirai's own: a driver takes the stream. */
import type { SessionQueries } from '../serve/index.ts';
import type { SqlConnection } from '../program/index.ts';

type OpenQueries = (user: string) => SessionQueries;

const opened = new WeakMap<SqlConnection, OpenQueries>();

/** @param open makes a connection, as `connect` does */
export function offerQueries(connection: SqlConnection, open: OpenQueries): void {
  opened.set(connection, open);
}

/** `undefined`: there is a stream only. */
export function queriesOfConnection(connection: SqlConnection): OpenQueries | undefined {
  return opened.get(connection);
}
