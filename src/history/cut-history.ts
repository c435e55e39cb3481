/** A text that ends too early, with what stands in it before it was cut. */
import { InputError, isTruncated, type Place } from '../base/index.ts';
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

/**
 * The text of bytes that are its end.
 * @throws InputError `history/truncated` where they end within a character, `history/encoding` where they are no UTF-8
 */
export function decodeLast(
  bytes: Uint8Array,
  decoder: Pick<InstanceType<typeof TextDecoder>, 'decode'>,
  place?: Place,
): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw endsWithinCharacter(bytes)
      ? new InputError('history/truncated', 'the text ends within a character', place)
      : new InputError('history/encoding', 'the text is not UTF-8', place);
  }
}

/** A decoder that expects more bytes takes the beginning of a character. */
function endsWithinCharacter(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
