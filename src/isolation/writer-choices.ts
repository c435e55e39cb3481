/**
 * Values that several transactions wrote, in small histories: a history is at a level if it is for some choice of the writer that each read saw.
 * A choice is tried, first the one of the recorded order; what violates the level says which of its writers contradict each other, and that combination is not tried again.
 * (`src/check/strong/repeated-values.ts` does the same for large histories, and narrows the choices first.)
 */
import type { TimeLimit } from '../base/index.ts';
import type { History, Relations, RelationsOptions } from '../history/index.ts';
import { chooseAvoiding, type Nogood } from './nogoods.ts';
import { writersInRecordedOrder } from './recorded-order.ts';
import { type Refutation, transactionsOfRefutation } from './refutation.ts';
import type { ChosenWriter, RefutedChoice, Verdict } from './verdict.ts';

/** Of a search for the next choice. */
const choiceStepsMax = 1_000_000;

/** @param check of a history in which reads that are still ambiguous are ignored */
export function checkChoices(
  history: History,
  ambiguous: Relations['ambiguous'],
  check: (resolved: History) => Verdict,
  { choicesMax, limit }: { readonly choicesMax: number; readonly limit: TimeLimit },
): Verdict {
  const unchosen = check(history);
  if (unchosen.kind === 'violated') return unchosen; // whichever writers are meant
  const nogoods: Nogood[] = [];
  const refuted: RefutedChoice[] = [];
  let unknown: Verdict | null = null;
  for (let tries = 0; tries < choicesMax; tries += 1) {
    const choice =
      tries === 0
        ? writersInRecordedOrder((t) => history.transactions[t]?.end ?? NaN, ambiguous)
        : chooseAvoiding(ambiguous, nogoods, choiceStepsMax, limit);
    if (choice === 'step-limit') break;
    if (choice === 'none') return unknown ?? violatedBy(refuted);
    const all = ambiguous.map((_, read) => ({ read, writer: choice[read] }));
    const verdict = check(withWriters(history, writersOf(ambiguous, all)));
    if (verdict.kind === 'satisfied') return { ...verdict, writers: writersOf(ambiguous, all) };
    // Without times no choice satisfies the level, and this one does not violate it.
    if (verdict.kind === 'unknown' && verdict.reason === 'missing-times') return verdict;
    if (verdict.kind === 'unknown') {
      unknown = verdict;
      nogoods.push(all);
      continue;
    }
    const found = refutedBy(history, ambiguous, all, verdict.refutation, check);
    nogoods.push(found.nogood);
    refuted.push({ writers: writersOf(ambiguous, found.nogood), verdict: found.verdict ?? verdict });
  }
  return { kind: 'unknown', reason: 'step-limit' };
}

/** Does each way to choose writers contain one of the refuted combinations? */
export function coversAllChoices(ambiguous: Relations['ambiguous'], refuted: readonly RefutedChoice[]): boolean {
  const nogoods = refuted.map(({ writers }) =>
    writers.map(({ by, operation, from }) => ({
      read: ambiguous.findIndex((read) => read.by === by && read.operation === operation),
      writer: from,
    })),
  );
  if (nogoods.some((nogood) => nogood.some(({ read }) => read < 0))) return false;
  return chooseAvoiding(ambiguous, nogoods, choiceStepsMax) === 'none';
}

/** The history with these writers recorded. */
export function withWriters(history: History, writers: readonly ChosenWriter[]): History {
  const chosen = new Map(writers.map(({ by, operation, from }) => [`${by} ${operation}`, from]));
  const transactions = history.transactions.map((transaction, t) => ({
    ...transaction,
    operations: transaction.operations.map((operation, o) => {
      const from = chosen.get(`${t} ${o}`);
      return from === undefined ? operation : { ...operation, from };
    }),
  }));
  return { ...history, transactions };
}

export const onlyResolved = { ambiguousReads: 'ignored' } as const satisfies RelationsOptions;

/** The writers that the evidence speaks of, where they violate the level without the others; else all. */
function refutedBy(
  history: History,
  ambiguous: Relations['ambiguous'],
  all: Nogood,
  refutation: Refutation | undefined,
  check: (resolved: History) => Verdict,
): { readonly nogood: Nogood; readonly verdict: Extract<Verdict, { kind: 'violated' }> | null } {
  if (refutation === undefined) return { nogood: all, verdict: null };
  const involved = transactionsOfRefutation(refutation);
  const some = all.filter(({ read, writer }) => {
    return involved.has(ambiguous[read].by) && (writer < 0 || involved.has(writer));
  });
  if (some.length === all.length) return { nogood: all, verdict: null };
  const verdict = check(withWriters(history, writersOf(ambiguous, some)));
  return verdict.kind === 'violated' ? { nogood: some, verdict } : { nogood: all, verdict: null };
}

function writersOf(ambiguous: Relations['ambiguous'], choice: Nogood): ChosenWriter[] {
  return choice.map(({ read, writer }) => {
    const { by, operation } = ambiguous[read];
    return { by, operation, from: writer };
  });
}

/** Named after the first, the likeliest choice: each of the others is refuted in its own way. */
function violatedBy(refuted: readonly RefutedChoice[]): Verdict {
  const [first] = refuted as readonly [RefutedChoice, ...RefutedChoice[]];
  return { kind: 'violated', anomaly: first.verdict.anomaly, cycle: [], choices: refuted };
}
