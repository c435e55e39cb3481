/** The mock SQL database as users see it: the few things that they ask of one that is open. */
import { InputError } from '../base/index.ts';
import {
  openSqlDatabase as openRoom,
  type Profile,
  settleWithin,
  type SqlDatabase as Room,
  type SqlDatabaseOptions as RoomOptions,
  type StatementEvent as RoomEvent,
} from '../database/index.ts';
import type { UnsupportedStatement } from '../evidence/index.ts';
import type { History } from '../history/index.ts';
import type { AnyStream } from '../program/index.ts';
import { connectTo, type ConnectToOptions } from '../serve/index.ts';
import { prepareSchema } from '../sql-program/index.ts';
import type { OptionKinds } from './given-options.ts';

/** What a mock SQL database is opened with. */
export interface SqlDatabaseOptions
  extends Pick<RoomOptions, 'abortRate' | 'computeMsMax' | 'operationsMax' | 'pauses' | 'seed' | 'sessionsMax'> {
  /** The engine that is mocked and its level, or a level of the axioms: see `parseProfile`. */
  readonly profile: Profile;
  /** Statements that make tables and first rows. They run one after the other before anyone connects; the history begins after them. */
  readonly schema?: string | readonly string[];
  /** Called once for each statement that moirai cannot do and the engine could. */
  readonly onUnsupported?: (statement: UnsupportedStatement) => void;
}

/** @internal */
export const databaseOptions: OptionKinds<SqlDatabaseOptions> = {
  abortRate: 'number',
  computeMsMax: 'number',
  onUnsupported: 'function',
  operationsMax: 'number',
  pauses: 'boolean',
  profile: 'profile!',
  schema: 'texts',
  seed: 'number',
  sessionsMax: 'number',
};

/** How a client connects. */
export interface ConnectOptions extends Pick<ConnectToOptions, 'name' | 'readsStrongly'> {
  /** Called with every statement of the client when it has ended. */
  readonly onStatement?: (event: StatementEvent) => void;
}

/** A statement that has ended. */
export interface StatementEvent
  extends Pick<RoomEvent, 'sql' | 'parameters' | 'waits' | 'command' | 'rows' | 'rowCount'> {
  /** `null`: it succeeded. `code` is an SQLSTATE. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A mock SQL database in this process. Clients are drivers: they connect by a stream, or to the port of `moirai/serve`. */
export interface SqlDatabase {
  readonly profile: Profile;
  /**
   * A stream of Node's that speaks the protocol of the dialect, for one client: `new pg.Client({ stream: () => database.connect() })`,
   * `postgres({ socket: () => database.connect() })`, `mysql2.createConnection({ stream: database.connect() })`.
   */
  connect(options?: ConnectOptions): AnyStream;
  /**
   * What happened since the schema, or since `start`; sessions have the names that they connected with, or their numbers.
   * @throws Error with the code 54000 where there were more reads and writes than `operationsMax`
   */
  history(): History;
  /** What is stored now is the initial state: the history begins here. */
  start(): void;
  /** Empties the database, and draws from the seed again; what is under way ends with 57P01, connections stay. */
  reset(): void;
  /** Statements so far that moirai cannot do and the engine could. Histories lack them. */
  unsupported(): readonly UnsupportedStatement[];
  /** Closes every session; statements under way end with 57P01. */
  close(): void;
}

/** @internal The database of a room, and how users see it. */
export async function openForUsers(
  options: SqlDatabaseOptions,
  windowMs: number | null,
): Promise<{ readonly room: Room; readonly database: SqlDatabase }> {
  const { schema = [], ...others } = options;
  const window =
    windowMs === null
      ? {}
      : ({ settle: settleWithin(windowMs), holdsBack: windowMs === 0 ? 'never' : 'sometimes' } as const);
  const room = await openRoom({ ...others, ...window });
  try {
    await prepareSchema(room, typeof schema === 'string' ? [schema] : schema);
  } catch (error) {
    room.close();
    throw new InputError('database/schema', error instanceof Error ? error.message : String(error));
  }
  room.start();
  return { room, database: seenByUsers(room) };
}

function seenByUsers(room: Room): SqlDatabase {
  return {
    profile: room.profile,
    connect: (options = {}) => connectTo(room, options),
    history: () => room.history(),
    start: () => room.start(),
    reset: () => room.reset(),
    unsupported: () => room.unsupported.list,
    close: () => room.close(),
  };
}
