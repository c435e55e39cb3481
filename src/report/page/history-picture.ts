/** A history of a program of keys as the picture of a run: a step for each read and write, and one for the end of each transaction. */
import type { History, Operation } from '../../history/index.ts';
import { explain, explainNoViolation, exampleOf, summarize, weakestViolation } from '../../isolation/index.ts';
import { type DraftPicture, type DraftStep, initialOf, pictureEdges, stepsWithReads } from './picture-steps.ts';
import type { RunPicture } from './report-data.ts';

export interface FailingHistory {
  readonly message: string;
  readonly history: History;
  /** Reads, as `transaction operation`, that saw an older write than the newest that they could have seen. */
  readonly older: ReadonlySet<string>;
  readonly replay: string | null;
}

export function historyPicture({ message, history, older, replay }: FailingHistory): RunPicture {
  const draft: DraftPicture = {
    history,
    older,
    transactions: history.transactions.map(({ id: name, session, status }) => ({ name, session, status })),
    steps: history.transactions.flatMap((_, t) => draftSteps(history, t)),
    boxOf: new Map(history.transactions.map((_, t) => [t, t])),
  };
  const found = weakestViolation(history, { abortedReads: 'constrained' })?.verdict ?? null;
  const cycle = found === null ? [] : exampleOf(found).cycle;
  const texts = found === null ? [] : explain(history, exampleOf(found));
  const cause = found === null ? [explainNoViolation(history, { abortedReads: 'constrained' })] : [summarize(found)];
  return {
    message,
    count: null,
    // A read that no commit order explains has no cycle, and one sentence.
    cause: cycle.length === 0 ? [...cause, ...texts] : cause,
    cycle: pictureEdges(draft, cycle, texts),
    replay,
    sessions: history.sessions,
    transactions: draft.transactions,
    steps: stepsWithReads(draft),
    initial: initialOf(history),
  };
}

function draftSteps({ transactions }: History, t: number): DraftStep[] {
  const { session, status, operations } = transactions[t] ?? { session: 0, status: 'unknown', operations: [] };
  const step = {
    session,
    transaction: t,
    part: 'whole',
    parameters: [],
    outcome: '',
    isError: false,
    waitedFor: null,
    takesSnapshot: null,
    readsOlder: false,
    ends: null,
    places: [],
  } as const;
  const ends = status === 'unknown' ? null : status;
  const texts = { committed: 'commit', aborted: 'abort', unknown: 'commit, of which no answer came' };
  return [
    ...operations.map((operation, o) => ({
      ...step,
      text: operationText(operation),
      places: [{ transaction: t, operation: o }],
    })),
    { ...step, text: texts[status], ends },
  ];
}

function operationText({ kind, key }: Operation): string {
  return `${kind} ${key}`;
}
