/** A text that ends too early, with what stands in it before it was cut. */
import { InputError, isTruncated } from '../base/input-error.ts';
import type { CompactHistory } from './compact-history.ts';

/**
 * `history/truncated`. What the rest violates, the whole history violates too, if no missing transaction wrote a value that one of the rest wrote:
 * each level asks of a part of a history less than of the whole. That the rest satisfies a level says nothing.
 */
export class CutHistoryError extends InputError {
  /** The transactions that are whole, without reads of which the named writer is missing. Reads of what is missing are out of thin air in it. */
  readonly rest: () => CompactHistory;

  constructor({ code, message, place }: InputError, rest: () => CompactHistory) {
    super(code, message, place);
    this.rest = rest;
  }

  override in(file: string): CutHistoryError {
    return new CutHistoryError(super.in(file), this.rest);
  }
}

/** What `read` gives. @throws CutHistoryError where that throws `history/truncated`; InputError */
export function orCut(read: () => CompactHistory, rest: () => CompactHistory): CompactHistory {
  try {
    return read();
  } catch (error) {
    throw error instanceof InputError && isTruncated(error) ? new CutHistoryError(error, rest) : error;
  }
}
