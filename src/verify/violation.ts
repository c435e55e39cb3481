/** What the verifier finds, as data: the mechanism that failed and the operations that show it. */
import type { MechanismName } from './mechanisms.ts';
import { formatImage, formatTime, type RowImage, type TraceOperation } from '../trace/index.ts';

/** An operation that takes part in a violation. */
export interface Evidence {
  readonly operation: TraceOperation;
  /** What it has to do with the violation, such as "the snapshot of t3". */
  readonly role: string;
}

/** What contradicts a mechanism, with the operations that show it. */
export interface Violation {
  readonly mechanism: MechanismName;
  /** Why no order of events explains it: a sentence. */
  readonly reason: string;
  /** Transactions by name, the one whose operation showed it first. */
  readonly transactions: readonly string[];
  readonly rows: readonly string[];
  readonly evidence: readonly Evidence[];
  /** All operations that are still known of the transactions and rows above, in order of start: what a smaller trace is made of. */
  readonly context: readonly TraceOperation[];
}

export function formatInterval({ start, end }: { readonly start: number; readonly end: number }, base: bigint): string {
  const from = start === -Infinity ? 'the beginning' : formatTime(start, base);
  return `[${from}, ${end === Infinity ? 'never' : formatTime(end, base)}]`;
}

export function formatVersionImage(image: RowImage | undefined): string {
  if (image === undefined) return 'the initial value';
  return image === null ? 'no row' : formatImage(image);
}
