/** A client in this process: the protocol's bytes over a pair of streams, without a socket. */
import { secretBytes } from '../base/index.ts';
import { converse } from './converse.ts';
import type { StartConversation } from './conversation.ts';
import type { SqlDatabase, Session, AnswerTo, StatementEvent } from '../database/index.ts';
import { type DuplexEnd, duplexPair } from './duplex-pair.ts';
import { mysqlConversations } from './mysql/conversation.ts';
import { postgresConversations } from './postgres/conversation.ts';
import { sentPlaces } from './sent-places.ts';
import type { SqlServer } from '../sql/index.ts';
import { SessionQueries } from './postgres/session-queries.ts';

export interface ConnectToOptions {
  /** Reads what a serializable observer of the end reads. */
  readonly readsStrongly?: boolean;
  /** The number of its session, where no other has it. Default: the next. */
  readonly id?: number;
  /** Its name in histories. Default: its number. */
  readonly name?: string;
  /** Look where in the user's code each statement is sent, for the list of unsupported ones. It costs a stack for every write. Default false. */
  readonly findsPlaces?: boolean;
  /** What the client is answered in place of what its statements return. */
  readonly answerTo?: AnswerTo;
  readonly onStatement?: (event: StatementEvent) => void;
  /** Called with the session when the client has introduced itself. */
  readonly onSession?: (session: Session) => void;
  /** Called with bugs of ours. */
  readonly onBug?: (error: unknown) => void;
}

/** The client's end: for `new pg.Client({ stream })`, `postgres({ socket })`, mysql2's `{ stream }`. */
export function connectTo(database: SqlDatabase, options: ConnectToOptions = {}): DuplexEnd {
  const [client, server] = duplexPair();
  const { onBug, findsPlaces = false } = options;
  const sentFrom = findsPlaces ? sentPlaces(client, server) : null;
  converse(
    server,
    startConversation(attended(database, options, sentFrom), onBug === undefined ? {} : { onBug }),
    onBug === undefined ? {} : { onBug },
  );
  return client;
}

/** The same without the protocol's bytes and without a stream: the statements of a client whose user and database are these. */
export function queriesOf(
  database: SqlDatabase,
  user: string,
  options: Omit<ConnectToOptions, 'findsPlaces' | 'onBug'> = {},
): SessionQueries {
  const server = attended(database, options, null);
  return new SessionQueries(
    server.connect({ user, database: user, parameters: new Map(), onParameter: () => undefined }),
  );
}

export interface ConversationOptions {
  /** Default: none is asked for. */
  readonly password?: string;
  /** Called with bugs of ours; the client gets an internal error. */
  readonly onBug?: (error: unknown) => void;
}

/** Conversations in the dialect's protocol. */
export function startConversation(server: SqlServer, options: ConversationOptions = {}): StartConversation {
  return conversations[server.dialect]({ server, randomBytes: secretBytes, ...options });
}

const conversations = { postgres: postgresConversations, mysql: mysqlConversations } as const;

/** The same server, with what is special about this client set on its session. */
function attended(
  database: SqlDatabase,
  { id: wanted, name, readsStrongly, answerTo, onStatement, onSession }: ConnectToOptions,
  sentFrom: (() => string | null) | null,
): SqlServer {
  return {
    dialect: database.dialect,
    reserveId: () => database.reserveId(),
    session: (id) => database.session(id),
    connect: (options) => {
      const session = database.connect(wanted === undefined ? options : { ...options, id: wanted }, name);
      session.readStrongly(readsStrongly ?? false);
      session.watch.place = sentFrom ?? (() => null);
      session.watch.onEnd = onStatement ?? null;
      if (answerTo !== undefined) session.watch.answerTo = answerTo;
      onSession?.(session);
      return session;
    },
  };
}
