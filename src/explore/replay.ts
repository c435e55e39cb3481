/** One history again, by its token: does the program still take the same steps, and does it still fail? */
import { compareRun, isSameShape, openToken, type Program, type Replayed, shapeOfKeys } from '../program/index.ts';
import { Exploration } from './exploration.ts';
import { type Prefix, sessionOf } from './ordered-history.ts';
import { recordedHistory } from './recorded-history.ts';
import type { Runs } from './runs.ts';
import { decodePrefix } from './token.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult } from './explore-result.ts';

/** @throws InputError `replay/token` */
export async function replayHistory(
  program: Program,
  options: ExploreOptions,
  whole: Exploration,
  made: Runs,
): Promise<ExploreResult> {
  const token = openToken(options.replay ?? '');
  const shape = shapeOfKeys({ ...program, sessions: program.sessionNames }, null);
  if (!isSameShape(token, shape)) {
    whole.stop('replay');
    return { ...whole.result(), replayed: { kind: 'other-program', shape, isSummed: token.isSummed } };
  }
  const prefix = decodePrefix(token.choices, program);
  const answered = (result: ExploreResult): ExploreResult & { readonly replayed: Replayed } => ({
    ...result,
    replayed: compareRun(token, recordedHistory(made.store.history()), program, reasonOf(result)),
  });
  const part = await replayPart(program, options, made, prefix);
  const small = part === null ? null : answered(part);
  if (small !== null && (small.violations > 0 || small.replayed.kind !== 'other-steps')) return small;
  return answered(await whole.replay(prefix));
}

/** Why a run is not the recorded one, where its steps do not say it. */
function reasonOf({ divergence, histories, level, stopped }: ExploreResult): string | null {
  if (divergence !== null) return divergence;
  return histories === 0 && stopped === 'replay' ? `the recorded history is not at ${level}` : null;
}

/**
 * A session may have thrown in a prefix of the program, of which the rest need not run as it would here: then the run ends with the token.
 * @returns `null` where no session would continue
 */
async function replayPart(
  program: Program,
  options: ExploreOptions,
  made: Runs,
  prefix: Prefix,
): Promise<ExploreResult | null> {
  const transactions = program.sessions.map((_, i) => prefix.filter(({ name }) => sessionOf(name) === i).length);
  let isCut = false;
  const part = new Exploration(program, options, made, { transactions, onCut: () => (isCut = true) });
  const result = await part.replay(prefix);
  return isCut ? { ...result, prefix: prefix.length } : null;
}
