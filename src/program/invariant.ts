/** Does the invariant hold at the end of a run? */
import { before, LATE } from '../base/deadline.ts';
import type { Key, Value } from '../history/index.ts';
import { mark } from './marks.ts';
import type { End, Program } from './program.ts';

export type InvariantVerdict =
  | { readonly kind: 'holds' }
  | { readonly kind: 'fails'; readonly message: string }
  | { readonly kind: 'late' };

/** @param deadlineMs when an invariant that is asynchronous must have settled, in `monotonicMs` */
export async function judge(program: Program, end: End, deadlineMs = Infinity): Promise<InvariantVerdict> {
  try {
    const judged = program.invariant(end);
    const verdict = await (judged instanceof Promise ? before(deadlineMs, judged) : judged);
    if (verdict === LATE) return { kind: 'late' };
    if (verdict === false) return { kind: 'fails', message: 'the invariant does not hold' };
    return typeof verdict === 'string' ? { kind: 'fails', message: verdict } : { kind: 'holds' };
  } catch (error) {
    return { kind: 'fails', message: errorText(error) };
  }
}

/** What an invariant is given. @param drawFinal called where it looks at the final state, once */
export function endOf(results: End['results'], marks: Map<string, boolean>, drawFinal: () => Record<Key, Value>): End {
  let final: Record<Key, Value> | null = null;
  return {
    results,
    get final() {
      final ??= drawFinal();
      return final;
    },
    sometimes: (name, condition = true) => mark(marks, name, condition),
  };
}

/** What was thrown, in one line. */
export function errorText(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}`
    : `${String(error)} was thrown`;
}
