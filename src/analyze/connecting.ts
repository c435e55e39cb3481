/** How the programs that analyze makes are connected to their database. */
import type { Duplex } from 'node:stream';
import type { SqlDatabase, StatementEvent } from '../database/index.ts';
import type { SqlConnection } from '../program/index.ts';
import { connectTo, queriesOf, type SessionQueries } from '../serve/index.ts';
import { observeStatements, queriesOfConnection } from '../sql-program/index.ts';

/** Makes a connection each time. */
export interface Connecting {
  /** @param onStatement called when a statement of any of them has ended */
  readonly stream: (onStatement?: (event: StatementEvent) => void) => Duplex;
  /** Without the bytes of a protocol. */
  readonly queries: ((user: string) => SessionQueries) | undefined;
}

export function connectingTo(database: SqlDatabase): Connecting {
  return {
    stream: (onStatement) => connectTo(database, onStatement === undefined ? {} : { onStatement }),
    queries: (user) => queriesOf(database, user),
  };
}

export function connectingAs(connection: SqlConnection): Connecting {
  return {
    stream: (onStatement) => {
      if (onStatement !== undefined) observeStatements(connection, onStatement);
      return connection.connect() as Duplex;
    },
    queries: queriesOfConnection(connection),
  };
}
