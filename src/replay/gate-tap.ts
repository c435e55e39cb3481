/** One connection of a session to a real server, as a function of bytes: every statement waits at the gate until it is granted. */
import type { IsolationName } from '../sql/index.ts';

/** As whom the gate logs in; what the program's own driver says is not asked. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Of transactions that name none; `null`: as the server has it. */
  readonly isolation: IsolationName | null;
}

/** What the server answered a statement, or several that came as one. */
export interface Answer {
  /** Rows by their values: `(50)`, `1 row changed`. */
  readonly text: string;
  /** `null`: it succeeded. PostgreSQL's SQLSTATE, MySQL's number. */
  readonly error: ServerError | null;
}

export interface ServerError {
  readonly code: string;
  readonly message: string;
}

export interface GateTapOptions {
  readonly login: Login;
  readonly toClient: (bytes: Uint8Array) => void;
  readonly toServer: (bytes: Uint8Array) => void;
  /** The server has let the client in, and knows the connection by this number. */
  readonly onOpen: (id: number) => void;
  /** It has not, or it ends the connection by itself. */
  readonly onRefused: (error: ServerError) => void;
  /** The client has said that it ends the connection. */
  readonly onEnd: () => void;
  /** The client has sent a statement; `pass` gives it to the server. The next is announced after the answer. */
  readonly onStatement: (sql: string, pass: () => void) => void;
  /** The server has answered the statement that was passed last. */
  readonly onAnswer: (answer: Answer) => void;
}

export interface GateTap {
  /** @throws WireError the bytes are no messages of the protocol */
  readonly fromClient: (chunk: Uint8Array) => void;
  /** @throws WireError */
  readonly fromServer: (chunk: Uint8Array) => void;
}
