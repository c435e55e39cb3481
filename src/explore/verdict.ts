/** The verdict on one history: the sessions' errors and the invariant, for every final state that the history allows. */
import { exploring, nextPath } from '../base/index.ts';
import { endOf, errorText, judge, type JudgeLimits, type Program } from '../program/index.ts';
import type { Ending, HistoryVerdict } from './behaviours.ts';
import type { ExploringStore } from './exploring-store.ts';

/** Of the run that the store holds. Final states are only looked at where the invariant does. */
export async function verdictOf(
  program: Program,
  store: ExploringStore,
  ending: Ending,
  limits: JudgeLimits = {},
): Promise<HistoryVerdict> {
  if (ending.verdict !== undefined) return ending.verdict;
  if (ending.kind === 'threw') return failure(ending);
  const marks = new Map(ending.marks);
  for (let path: number[] | null = []; path !== null; ) {
    const chooser = exploring(path);
    const end = endOf(ending.results, marks, () => store.finalState((options) => chooser.choose(options)));
    const verdict = await judge(program, end, limits);
    if (verdict.kind === 'late') return { message: null, marks, isLate: true };
    if (verdict.kind === 'fails') {
      const { message, mistake } = verdict;
      return { message, marks, ...(mistake === null ? {} : { mistake }) };
    }
    path = nextPath(chooser.path, chooser.options);
  }
  return { message: null, marks };
}

/** The same for a run that was cut off: the invariant is about the whole program. */
export function verdictOfPart(ending: Ending): HistoryVerdict {
  return ending.kind === 'threw' ? failure(ending) : { message: null, marks: ending.marks };
}

function failure({ session, error, marks }: Ending & { readonly kind: 'threw' }): HistoryVerdict {
  return { message: `session "${session}" failed: ${errorText(error)}`, marks };
}

export function isSameVerdict(a: HistoryVerdict, b: HistoryVerdict): boolean {
  if (a.message !== b.message || a.marks.size !== b.marks.size) return false;
  for (const [name, held] of a.marks) if (b.marks.get(name) !== held) return false;
  return true;
}
