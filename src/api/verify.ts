/**
 * `moirai/verify`: does the trace of a live database contradict the mechanisms by which its engine gives an isolation level?
 *
 * A trace has each operation of each client with the time at which it was sent and the time at which its answer came. `moirai record`, the
 * preload `moirai/record` and `moirai/recording` write them; docs/verify.md has the format. The four mechanisms are those of Leopard (ICDE
 * 2023).
 *
 * @example
 * ```ts
 * import { verify } from 'moirai/verify';
 *
 * const dirtyRead = [
 *   '{"session":"a","transaction":"t0","op":"write","writes":[["x",0]],"start":-3,"end":-2}',
 *   '{"session":"a","transaction":"t0","op":"commit","start":-1,"end":0}',
 *   '{"session":"a","transaction":"t1","op":"write","writes":[["x",1]],"start":1,"end":2}',
 *   '{"session":"b","transaction":"t2","op":"read","reads":[["x",1]],"start":3,"end":4}',
 *   '{"session":"b","transaction":"t2","op":"commit","start":5,"end":6}',
 *   '{"session":"a","transaction":"t1","op":"abort","start":7,"end":8}',
 * ];
 * const { conclusion, violations } = await verify(dirtyRead, { engine: 'postgres', isolation: 'read committed' });
 * console.log(conclusion.kind, violations[0]?.mechanism);
 * // prints: violated consistent-read
 * ```
 * @module
 */
import type { Conclusion } from '../evidence/index.ts';
import {
  conclusionOfTrace,
  mechanismsFor,
  type MechanismsOptions,
  readTraces,
  type TraceResult,
  TraceVerification,
  type TraceVerificationOptions,
} from '../verify/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export { comparisons, formatTraceLine as formatOperation, operationKinds } from '../trace/index.ts';
export type {
  Comparison,
  Condition,
  PredicateRead,
  RowImage,
  RowValue,
  Scalar,
  TraceLock,
  TraceOperation,
  TraceOperationKind,
} from '../trace/index.ts';
export type {
  Evidence as OperationEvidence,
  MechanismName,
  MechanismsOptions,
  PipelineCounts,
  SmallViolation,
  TraceResult,
  VerifierCounts,
  Violation,
} from '../verify/index.ts';

/**
 * A trace: its text; its lines, with or without their line breaks; or pieces of any size as they come, such as a stream of Node's, which is
 * verified while it is written.
 */
export type TraceSource = string | Iterable<string> | AsyncIterable<Uint8Array | string>;

/** What a trace is compared with, and how much is kept. */
export interface VerifyOptions
  extends MechanismsOptions,
    Pick<TraceVerificationOptions, 'bufferMax' | 'clockError' | 'onViolation' | 'violationsMax'> {}

const verifyOptions: OptionKinds<VerifyOptions> = {
  bufferMax: 'number',
  clockError: 'number',
  engine: 'string',
  isolation: 'string',
  mechanisms: 'string',
  onViolation: 'function',
  violationsMax: 'number',
};

/** What a trace showed. */
export interface VerifyResult extends TraceResult {
  /** `satisfied` with what it takes for granted, `violated`, or `unknown` with the reasons. */
  readonly conclusion: Conclusion;
}

/**
 * Verifies one trace.
 * @returns the verdict, and each violation with the smallest trace that was found to show it. Times of operations are less `base`
 * @throws InputError `option/engine`, `option/isolation`, `option/mechanisms`, `option/usage` for the options; `trace/...` with the line for a trace that
 *   cannot be read, `trace/empty` where there is no operation in it
 */
export function verify(trace: TraceSource, options: VerifyOptions): Promise<VerifyResult> {
  return verifyMerged([trace], options);
}

/**
 * Verifies the traces of several recorders that ran side by side as one. Their clocks are the same, or `clockError` says how far they may be off.
 * @throws InputError as `verify`, and `trace/merge` where the traces do not fit together
 *
 * @example
 * ```ts
 * import { formatOperation, verifyMerged } from 'moirai/verify';
 *
 * const alice = [
 *   '{"session":"a","transaction":"t1","op":"write","writes":[["x",1]],"start":1,"end":2}',
 *   '{"session":"a","transaction":"t1","op":"commit","start":7,"end":8}',
 * ];
 * const bob = [
 *   '{"session":"b","transaction":"t2","op":"write","writes":[["x",2]],"start":3,"end":4}',
 *   '{"session":"b","transaction":"t2","op":"commit","start":9,"end":10}',
 * ];
 * const { violations, base } = await verifyMerged([alice, bob], { engine: 'mysql', isolation: 'repeatable read' });
 * const [first] = violations;
 * console.log(first?.mechanism, first?.transactions.join());
 * // prints: mutual-exclusion t2,t1
 * if (first !== undefined) console.log(first.evidence.length, formatOperation(first.evidence[0]!.operation, base).slice(0, 30));
 * // prints: 4 {"session":"1:a","transaction"
 * ```
 */
export async function verifyMerged(traces: readonly TraceSource[], options: VerifyOptions): Promise<VerifyResult> {
  requireOptions('verify', options, verifyOptions);
  const { engine, isolation, mechanisms, ...limits } = options;
  const verification = new TraceVerification({
    ...limits,
    mechanisms: mechanismsFor({ engine, isolation, mechanisms }),
  });
  const result = await readTraces(traces.map(piecesOf), verification, () => false);
  return { ...result, conclusion: conclusionOfTrace(result, true) };
}

async function* piecesOf(trace: TraceSource): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  if (typeof trace === 'string') yield encoder.encode(trace);
  else if (Symbol.asyncIterator in trace)
    for await (const piece of trace) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
  else for (const line of trace) yield encoder.encode(line.endsWith('\n') ? line : `${line}\n`);
}
