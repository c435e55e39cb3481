/** A fact that our own code guarantees. When it fails, the bug is ours; the message carries the facts. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}
