/** What a replay answers, in one line for people. Names and statements are the user's: print it through `printable`. */
import {
  answerOf,
  type Divergence,
  divergenceOf,
  type RecordedRun,
  type Replayed,
  type ReplayAnswer,
} from './recorded-run.ts';

export interface ReplayVerdict {
  readonly answer: ReplayAnswer;
  /** The answer, and where the run took another turn. */
  readonly text: string;
}

/** @param recorded the recorded run, where it is known: a token has only hashes of it */
export function replayVerdict(
  replayed: Replayed,
  violations: number,
  recorded: RecordedRun | null = null,
): ReplayVerdict {
  const answer = answerOf(replayed, violations);
  // A session that fails is one that fails, with an invariant or without.
  const isSame = replayed.kind === 'same-steps' || (replayed.kind === 'not-judged' && answer === 'still-fails');
  const text = textOf(answer, isSame ? null : turnText(replayed, recorded));
  const change = answer === 'fixed' ? changeText(replayed, recorded) : '';
  // A kept failure has a checksum of all of it.
  const assumed = recorded === null && !replayed.isSummed ? '; assumed: the token has no checksum: it is whole' : '';
  return { answer, text: `${text}${change}${assumed}` };
}

/** A weaker invariant makes a failing run hold as well as a mended program does. */
function changeText(replayed: Replayed, recorded: RecordedRun | null): string {
  if (replayed.kind !== 'same-steps' || recorded?.invariant === undefined) return '';
  return recorded.invariant === replayed.run.invariant ? '' : '; the invariant has changed since';
}

/** @param turn `null`: the run took the recorded steps */
function textOf(answer: ReplayAnswer, turn: string | null): string {
  switch (answer) {
    case 'still-fails':
      return turn === null ? 'still fails, by the recorded steps' : `still fails, by other steps: ${turn}`;
    case 'fixed':
      return 'fixed: the recorded steps ran and this run no longer fails; of other runs nothing is known';
    case 'incompatible':
      return `incompatible: ${turn}; test or explore it again`;
  }
}

/** Where the run took another turn. */
function turnText(replayed: Exclude<Replayed, { kind: 'same-steps' }>, recorded: RecordedRun | null): string {
  if (replayed.kind === 'not-judged')
    return 'the recorded steps ran, and the program has no invariant: nothing judges what the recorded run may have violated';
  if (replayed.kind === 'other-program') {
    const where = recorded === null ? null : divergenceOf(recorded.shape, replayed.shape);
    const what = where === null ? 'its sessions, initial state, schema or level differ' : differenceText(where);
    return `the recorded run is of another program: ${what}`;
  }
  const where = recorded === null ? null : divergenceOf(recorded.steps, replayed.run.steps);
  if (where === null) return replayed.reason ?? 'the program takes other steps than the recorded run';
  return `step ${where.step}: ${differenceText(where)}`;
}

function differenceText({ recorded, now }: Divergence): string {
  if (recorded === null) return `${now} is new`;
  return now === null ? `${recorded} is missing` : `${recorded} was recorded, now ${now}`;
}
