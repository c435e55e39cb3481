/** From what a trace showed to a verdict. */
import { counted, stopText } from '../base/index.ts';
import { conclude, type Conclusion, noEvidence } from '../evidence/index.ts';
import type { TraceResult } from './verify-trace.ts';

/**
 * The verdict on a trace. A violation is one also where the trace is cut off; `satisfied` needs all of it.
 * @param isWhole `false`: the reader of the trace was interrupted
 */
export function conclusionOfTrace(result: TraceResult, isWhole: boolean): Conclusion {
  const { counts, cut, afterLastMark, isMarked } = result;
  const skipped = `${counted(counts.skipped, 'read')} not checked: opaque statements may have written their rows, or their sessions fell too far behind`;
  // Of one whose fate is not known nothing can be contradicted.
  const isFateKnown = counts.transactions === 0 || counts.transactions > counts.unknown;
  const cuts = [
    ...(isWhole ? [] : [stopText('interrupted')]),
    ...(cut === null ? [] : [cutText(cut, result)]),
    ...(afterLastMark === 0 ? [] : [`${counted(afterLastMark, 'operation')} after the last mark`]),
    ...(counts.skipped === 0 ? [] : [skipped]),
    ...(isFateKnown ? [] : [noFate(counts.transactions)]),
  ];
  const looked = [
    { count: counts.committed, nothing: 'no transaction was seen to commit' },
    { count: counts.named, nothing: nothingNamed(counts) },
  ];
  return conclude({
    ...noEvidence,
    violations: counts.violations,
    // Where the trace is not whole, that is why.
    looked: cuts.length === 0 ? looked : [],
    cut: cuts,
    assumed: [
      ...(isMarked ? [] : ['the trace has no marks: it is whole']),
      ...(counts.opaque === 0 ? [] : [opaqueText(counts)]),
    ],
  });
}

function nothingNamed({ opaque }: TraceResult['counts']): string {
  const why = opaque === 0 ? '' : `: all that was read or written is in ${counted(opaque, 'opaque statement')}`;
  return `no read or write whose rows are known was compared${why}`;
}

function opaqueText({ opaque }: TraceResult['counts']): string {
  return `${counted(opaque, 'opaque statement')} read and wrote the right rows where none are named`;
}

function noFate(transactions: number): string {
  return `of ${counted(transactions, 'transaction')} none is known to have been committed or rolled back`;
}

/** What was not checked of a trace that is cut off, as a clause. */
export function cutText(cut: number, { endsInLine, isMarked }: TraceResult): string {
  const verb = cut > 1 ? 'were' : 'was';
  if (endsInLine && !isMarked)
    return `the trace ends in the middle of a line: ${counted(cut, 'operation')} ${verb} not checked`;
  const what = cut === 0 ? 'what came after it' : `${counted(cut, 'operation')} after the mark`;
  return `the trace ends without its last mark: ${what} ${verb} not checked`;
}
