/** The failing run on the mock database that is replayed: the one of a token, or the first that an exploration finds. */
import { InputError } from '../base/index.ts';
import { defaultIsolation, engineLevels, parseProfile, type Profile, profileText } from '../database/index.ts';
import { exploreSql } from '../explore/sql/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { IsolationName } from '../sql/index.ts';
import type { LoggedStatement, SqlFailure } from '../sql-program/index.ts';
import { inOrderOfBeginning } from './planned.ts';

export interface Prediction {
  readonly profile: Profile;
  readonly isolation: IsolationName;
  /** What is wrong at its end. */
  readonly message: string;
  readonly token: string;
  /** Of the sessions, in the order in which they are granted. */
  readonly statements: readonly LoggedStatement[];
  /** Of the invariant. */
  readonly asked: readonly LoggedStatement[];
}

export interface PredictionOptions {
  /** The level of transactions that name none; `null`: the engine's. */
  readonly isolation: IsolationName | null;
  /** Of the failing run; `null`: it is looked for. */
  readonly token: string | null;
  readonly timeMaxMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * At the given level, or at the next weaker one at which a run fails: what a stricter level prevents is what a weaker one allows.
 * @throws InputError `replay/nothing`: none fails; `replay/unknown`: none was found; `program/...`
 */
export async function predict(program: SqlProgram, options: PredictionOptions): Promise<Prediction> {
  const levels = levelsFrom(program, options.isolation);
  const unfinished: IsolationName[] = [];
  for (const isolation of options.token === null ? levels : engineLevels[program.dialect]) {
    const profile = parseProfile({ engine: program.dialect, isolation });
    const { failure, isComplete } = await failureAt(program, profile, options);
    if (!isComplete) unfinished.push(isolation);
    if (failure === null) continue;
    const { message, statements, replay: token } = failure;
    const ofSessions = statements.filter(({ session }) => program.sessionNames.includes(session));
    const asked = statements.filter((each) => !ofSessions.includes(each));
    return { profile, isolation, message, token, statements: inOrderOfBeginning(ofSessions), asked };
  }
  throw nothingFails(program, levels, unfinished, options);
}

/** The given one and those that are weaker, the strictest first. */
function levelsFrom({ dialect }: SqlProgram, isolation: IsolationName | null): readonly IsolationName[] {
  const levels = engineLevels[dialect];
  const at = levels.indexOf(isolation ?? defaultIsolation[dialect]);
  return levels.slice(0, at + 1).toReversed();
}

interface Searched {
  readonly failure: SqlFailure | null;
  /** Was every run looked at? */
  readonly isComplete: boolean;
}

/** A broken invariant tells more than an error that a session does not try again after. */
async function failureAt(
  program: SqlProgram,
  profile: Profile,
  { token, timeMaxMs, timeoutMs, signal }: PredictionOptions,
): Promise<Searched> {
  const options = { profile, timeMaxMs, timeoutMs, ...(signal === undefined ? {} : { signal }) };
  if (token !== null) {
    const { failures, replayed } = await exploreSql(program, { ...options, replay: token });
    return { failure: replayed?.kind === 'other-program' ? null : (failures[0] ?? null), isComplete: true };
  }
  const first = await exploreSql(program, { ...options, failsFast: true, violationsOnly: true });
  const [failure = null] = first.failures;
  if (failure === null || failure.kind === 'invariant-broken') return { failure, isComplete: first.complete };
  const all = await exploreSql(program, { ...options, schedulesMax, violationsOnly: true });
  const broken = all.failures.find(({ kind }) => kind === 'invariant-broken') ?? null;
  return { failure: broken, isComplete: all.complete };
}

const schedulesMax = 2_000;

function nothingFails(
  program: SqlProgram,
  levels: readonly IsolationName[],
  unfinished: readonly IsolationName[],
  { token }: PredictionOptions,
): InputError {
  if (token !== null)
    return new InputError(
      'replay/nothing',
      'the run of this token no longer fails, or is another program: there is nothing to replay',
    );
  const asked = levels.map((isolation) => profileText(parseProfile({ engine: program.dialect, isolation })));
  if (unfinished.length > 0)
    return new InputError(
      'replay/unknown',
      `whether a run of the program breaks its invariant is not known: not every run was looked at (${unfinished.join(', ')}); moirai explore says why, and --replay takes the token of a run`,
    );
  return new InputError(
    'replay/nothing',
    `no run of the program breaks its invariant on ${asked.join(' or ')}, so that there is nothing to replay; --replay takes the token of a run`,
  );
}
