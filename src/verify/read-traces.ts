/** All bytes of one trace, or of several that recorders wrote side by side, through one verification. */
import { InputError } from '../base/index.ts';
import { checkedSum } from '../history/index.ts';
import { mergedTraces } from '../trace/index.ts';
import type { TraceResult } from './verify-trace.ts';

/** What is fed: `TraceVerification`. */
interface Verification {
  push(bytes: Uint8Array): void;
  finish(): TraceResult;
}

/**
 * Reads to the end, merging several traces by their times.
 * @param mayBeEmpty asked at the end: is a trace without an operation no fault?
 * @throws InputError `trace/...`: a line that is wrong, `trace/corrupt` where the checksum is another, `trace/empty`, `trace/merge`
 */
export async function readTraces(
  traces: readonly AsyncIterable<Uint8Array>[],
  verification: Verification,
  mayBeEmpty: () => boolean,
): Promise<TraceResult> {
  const inputs = traces.map((trace) => checkedSum('trace', trace));
  const [only, ...others] = inputs;
  let isOneCut = false;
  const merged = (): AsyncIterable<Uint8Array> => mergedTraces(inputs, () => (isOneCut = true));
  for await (const chunk of only !== undefined && others.length === 0 ? only : merged()) verification.push(chunk);
  const result = verification.finish();
  if (result.counts.operations === 0 && (result.cut ?? 0) === 0 && !mayBeEmpty())
    throw new InputError('trace/empty', 'there is no operation in it');
  return isOneCut ? { ...result, cut: result.cut ?? 0 } : result;
}
