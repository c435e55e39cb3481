/**
 * A protocol's server side as a function of bytes: what arrives goes in through `receive`, what is to be sent comes out through the
 * transport. The same conversation speaks over a socket (`listener.ts`), a pair of streams in the same process, or an array in a test.
 */

/** The server's side of one client connection. Its methods never throw: what a client does wrong is answered, or ends the connection. */
export interface Conversation {
  /** Bytes from the client, in whatever pieces they come. The conversation may keep views of `chunk`; the caller must not change it. */
  receive(chunk: Uint8Array): void;
  /** No more bytes will come. What came before is still worked on and answered, as servers do; then the conversation closes. */
  ended(): void;
  /** After `send` said false: there is room again. */
  drained(): void;
  /** The connection is gone in both directions: transactions are rolled back at once, nothing is sent any more. May come twice. */
  closed(): void;
}

/** What a conversation can do to its connection. */
export interface Transport {
  /**
   * Sends bytes; the transport may keep them, so they must not change afterwards. @returns is there room for more? When not, a conversation
   * with much to say waits for `drained`. After `close`, and when the client is gone, bytes are dropped and the answer is true.
   */
  send(bytes: Uint8Array): boolean;
  /** Call `receive` no more until `resume`: the client sends faster than it is answered. */
  pause(): void;
  resume(): void;
  /** The client has logged in: the limits of those that have not no longer hold. */
  loggedIn(): void;
  /** Ends the connection when everything sent so far has been delivered; `closed` is called some time after. */
  close(): void;
}

/**
 * Opens a conversation; those whose server speaks first send at once.
 * @param admission `full`: there are too many connections; say so in the protocol's words and close
 */
export type StartConversation = (transport: Transport, admission: 'welcome' | 'full') => Conversation;
