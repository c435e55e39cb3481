/**
 * Bytes that are not what their protocol says. The place cannot be found again in the stream, so whoever reads it tells the peer, if the
 * protocol has a way to, and hangs up.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** `too-large`: a message over the limit that the reader was given; `out-of-order`: a number that should count up did not. */
  readonly kind: 'malformed' | 'too-large' | 'out-of-order';

  constructor(kind: WireError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
