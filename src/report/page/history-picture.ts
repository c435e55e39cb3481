/** A history of keys as a picture: a step for each read and write, and one for the end of each transaction. */
import type { History, Key, Operation, TransactionIndex } from '../../history/index.ts';
import {
  exampleOf,
  explain,
  explainChoice,
  explainNoViolation,
  summarize,
  type Violated,
  weakestViolation,
} from '../../isolation/index.ts';
import { counted } from '../../base/index.ts';
import { emptyRun, emptyStep } from './empty-picture.ts';
import { orderOfTransactions } from './order-of-transactions.ts';
import { type DraftPicture, type DraftStep, initialOf, pictureEdges, stepsWithReads } from './picture-steps.ts';
import type { RunPicture } from './report-data.ts';

export interface FailingHistory {
  readonly message: string;
  readonly history: History;
  /** Reads, as `transaction operation`, that saw an older write than the newest that they could have seen. */
  readonly older: ReadonlySet<string>;
  readonly replay: string | null;
}

/** Of a run of a program: its transactions stand in the order in which they ran. */
export function historyPicture({ message, history, older, replay }: FailingHistory): RunPicture {
  const found = weakestViolation(history, { abortedReads: 'constrained' })?.verdict ?? null;
  const draft = draftOf(history, [...history.transactions.keys()], { older, isShown: () => true });
  const causes =
    found === null
      ? { cause: [explainNoViolation(history, { abortedReads: 'constrained' })], cycle: [] }
      : causesOf(draft, found, [summarize(found)]);
  return { ...emptyRun, message, ...causes, replay, state: 'sessions', ...drawn(draft) };
}

/** Of a transaction with more operations, only those on keys of the cycle are drawn. */
const operationsShownMax = 12;

/** Of a recorded history. @param only the transactions that are drawn */
export function violationPicture(
  history: History,
  verdict: Violated,
  { message, only }: { readonly message: string; readonly only: readonly TransactionIndex[] },
): RunPicture {
  const { cycle, read } = exampleOf(verdict);
  const keys = new Set<Key | undefined>([...cycle.map(({ key }) => key), read?.key]);
  const isShown = (t: TransactionIndex, { key }: Operation): boolean =>
    keys.has(key) || (history.transactions[t]?.operations.length ?? 0) <= operationsShownMax;
  const { order, text } = orderOfTransactions(history, only);
  const draft = draftOf(history, order, { older: new Set(), isShown });
  const causes = causesOf(draft, verdict, explainChoice(history, verdict));
  return { ...emptyRun, message, ...causes, order: text, ...drawn(draft) };
}

/** @param before what is said above the cycle */
function causesOf(
  draft: DraftPicture,
  verdict: Violated,
  before: readonly string[],
): Pick<RunPicture, 'cause' | 'cycle'> {
  const example = exampleOf(verdict);
  const texts = explain(draft.history, example);
  // A read that no commit order explains has no cycle, and one sentence.
  if (example.cycle.length === 0) return { cause: [...before, ...texts], cycle: [] };
  return { cause: before, cycle: pictureEdges(draft, example.cycle, texts) };
}

function drawn(draft: DraftPicture): Pick<RunPicture, 'sessions' | 'transactions' | 'steps' | 'initial'> {
  const { history, transactions } = draft;
  return { sessions: draft.sessions, transactions, steps: stepsWithReads(draft), initial: initialOf(history) };
}

interface Shown {
  readonly older: ReadonlySet<string>;
  readonly isShown: (t: TransactionIndex, operation: Operation) => boolean;
}

/** @param order the transactions that are drawn, from above */
function draftOf(history: History, order: readonly TransactionIndex[], { older, isShown }: Shown): DraftPicture {
  const all = order.flatMap((t) => history.transactions[t] ?? []);
  const sessions = [...history.sessions.keys()].filter((s) => all.some(({ session }) => session === s));
  const columnOf = (session: number): number => sessions.indexOf(session);
  return {
    history,
    older,
    sessions: sessions.map((s) => history.sessions[s] ?? ''),
    transactions: all.map(({ id: name, session, status }) => ({ name, session: columnOf(session), status })),
    steps: order.flatMap((t, box) => draftSteps(history, t, { box, columnOf, isShown })),
    boxOf: new Map(order.map((t, box) => [t, box])),
  };
}

const endTexts = { committed: 'commit', aborted: 'abort', unknown: 'commit, of which no answer came' };

function draftSteps(
  { transactions }: History,
  t: TransactionIndex,
  {
    box,
    columnOf,
    isShown,
  }: Pick<Shown, 'isShown'> & { readonly box: number; readonly columnOf: (session: number) => number },
): DraftStep[] {
  const { session, status, operations } = transactions[t] ?? { session: 0, status: 'unknown', operations: [] };
  const step = { ...emptyStep, session: columnOf(session), transaction: box, places: [] };
  const steps = operations.flatMap((operation, o): DraftStep[] =>
    isShown(t, operation)
      ? [{ ...step, text: operationText(operation), places: [{ transaction: t, operation: o }] }]
      : [],
  );
  const left = operations.length - steps.length;
  const outcome = left === 0 ? '' : `${counted(left, 'operation')} on other keys left out`;
  return [...steps, { ...step, text: endTexts[status], ends: status === 'unknown' ? null : status, outcome }];
}

function operationText({ kind, key }: Operation): string {
  return `${kind} ${key}`;
}
