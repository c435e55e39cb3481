/**
 * Bytes that are not the protocol: a frame that is cut short, too large, or of an unknown kind. It ends a connection or a message, never the
 * server. `malformed`: the bytes make no message; `limit`: they might, but it would be larger than allowed.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code: 'malformed' | 'limit';

  constructor(code: 'malformed' | 'limit', message: string) {
    super(message);
    this.code = code;
  }
}
