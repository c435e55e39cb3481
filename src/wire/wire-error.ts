/**
 * Bytes that are not the protocol: a frame that is cut short, too large, or of an unknown kind. It ends a connection or a message, never the
 * server. `malformed`: the bytes make no message; `limit`: they might, but it would be larger than allowed; `encoding`: text that is not
 * UTF-8.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code: 'malformed' | 'limit' | 'encoding';

  constructor(code: 'malformed' | 'limit' | 'encoding', message: string) {
    super(message);
    this.code = code;
  }
}
