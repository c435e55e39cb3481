/** A client in this process: the protocol's bytes over a pair of streams, without a socket. */
import { randomBytes } from 'node:crypto';
import { converse } from './converse.ts';
import type { StartConversation } from './conversation.ts';
import type { SqlDatabase } from './database.ts';
import { type DuplexEnd, duplexPair } from './duplex-pair.ts';
import { mysqlConversations } from './mysql-conversation.ts';
import { postgresConversations } from './postgres-conversation.ts';
import type { StatementEvent } from './statement-event.ts';
import type { SqlServer } from '../sql/index.ts';

export interface ConnectToOptions {
  /** Reads what a serializable observer of the end reads. */
  readonly readsStrongly?: boolean;
  /** Its name in histories. Default: its number. */
  readonly name?: string;
  readonly onStatement?: (event: StatementEvent) => void;
  /** Told of bugs of ours. */
  readonly onBug?: (error: unknown) => void;
}

/** The client's end: for `new pg.Client({ stream })`, `postgres({ socket })`, mysql2's `{ stream }`. */
export function connectTo(database: SqlDatabase, options: ConnectToOptions = {}): DuplexEnd {
  const [client, server] = duplexPair();
  const { onBug } = options;
  converse(
    server,
    startConversation(attended(database, options), onBug === undefined ? {} : { onBug }),
    onBug === undefined ? {} : { onBug },
  );
  return client;
}

export interface ConversationOptions {
  /** Default: none is asked for. */
  readonly password?: string;
  /** Told of bugs of ours; the client gets an internal error. */
  readonly onBug?: (error: unknown) => void;
}

/** Conversations in the dialect's protocol. */
export function startConversation(server: SqlServer, options: ConversationOptions = {}): StartConversation {
  const common = { server, randomBytes, ...options };
  return server.dialect === 'postgres' ? postgresConversations(common) : mysqlConversations(common);
}

/** The same server, with what is special about this client set on its session. */
function attended(database: SqlDatabase, { name, readsStrongly, onStatement }: ConnectToOptions): SqlServer {
  return {
    dialect: database.dialect,
    reserveId: () => database.reserveId(),
    session: (id) => database.session(id),
    connect: (options) => {
      const session = database.connect(options);
      if (name !== undefined) database.name(session.id, name);
      session.readsStrongly = readsStrongly ?? false;
      session.onStatement = onStatement ?? null;
      return session;
    },
  };
}
