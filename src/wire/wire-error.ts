/**
 * Bytes that are not what their protocol says. It ends a message or, when the place of the next one cannot be found any more, the connection;
 * never the server.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  /**
   * `malformed`: the bytes make no message; `too-large`: a message over a limit; `out-of-order`: a number that should count up did not;
   * `encoding`: text that is not UTF-8.
   */
  readonly kind: 'malformed' | 'too-large' | 'out-of-order' | 'encoding';

  constructor(kind: WireError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
