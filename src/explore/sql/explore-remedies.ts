/** Whether a remedy mends a program: the same program explored again with it. What was not explored is never suggested. */
import { Budget, InputError, stopText } from '../../base/index.ts';
import { conclude, gapText } from '../../evidence/index.ts';
import { inEveryOrder, type SqlProgram } from '../../program/index.ts';
import { checkedRun, serialDecisions, type SqlFailure } from '../../sql-program/index.ts';
import { type ExploreProfileOptions, exploreSqlProfile } from './explore-sql-profile.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import { exploringRun, type ExploringRunOptions } from './exploring-run.ts';
import { candidateRemedies, type Remedy, remedyIndex } from './remedies.ts';

/** A remedy, and what exploring says of the program with it. */
export type TriedRemedy = { readonly remedy: Remedy } & (
  | {
      readonly kind: 'explored';
      /** Does the invariant hold in every schedule, each of which was run? Where a session ends with an error of `errors`, it is not judged. */
      readonly holds: boolean;
      readonly schedules: number;
      readonly invariantBroken: number;
      /** Schedules in which a session ends with an error that the program has to handle: it asks for a retry, or the remedy's index refuses a row. */
      readonly notHandled: number;
      /** The codes of these errors. */
      readonly errors: readonly string[];
      readonly complete: boolean;
      /** Why the verdict is unknown. */
      readonly gaps: readonly string[];
    }
  /** The database refuses it, or the program with it fails whatever the timing. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not explored'; readonly reason: string }
);

export interface RemedyOptions
  extends Pick<
    ExploreProfileOptions,
    'plans' | 'plansMax' | 'timeoutMs' | 'timeMaxMs' | 'signal' | 'waitMs' | 'onRun' | 'onProgress'
  > {
  /** Schedules to run for one remedy. Default 5,000. */
  readonly schedulesMax?: number;
  /** Called with what was tried so far, before each remedy. */
  readonly onRemedy?: (tried: readonly TriedRemedy[]) => void;
}

/** What `result` suggests, the cheapest that holds first. @throws InputError of a program that is at fault without a remedy, too */
export async function exploreRemedies(
  program: SqlProgram,
  result: ExploreSqlResult,
  { onRemedy, ...options }: RemedyOptions,
): Promise<TriedRemedy[]> {
  const budget = new Budget(options);
  const tried: TriedRemedy[] = [];
  for (const remedy of candidateRemedies(result)) {
    onRemedy?.([...tried]);
    const over = budget.over;
    tried.push(
      over === null
        ? await tryRemedy(program, remedy, result, { ...options, timeMaxMs: budget.leftMs })
        : { remedy, kind: 'not explored', reason: stopText(over) },
    );
  }
  return tried.toSorted((a, b) => rankOf(a) - rankOf(b));
}

async function tryRemedy(
  program: SqlProgram,
  remedy: Remedy,
  { profile }: ExploreSqlResult,
  options: Omit<RemedyOptions, 'onRemedy'>,
): Promise<TriedRemedy> {
  const changed = remedy.kind === 'unique' ? { ...program, schema: [...program.schema, remedy.sql] } : program;
  const { waitMs, timeoutMs } = options;
  const run = {
    profile,
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const isLevel = remedy.kind === 'level' && profile.family === 'engine';
  try {
    if (remedy.kind === 'unique' && !(await keepsSerialRuns(changed, run)))
      return { remedy, kind: 'refused', reason: 'it refuses rows also when the sessions run one after another' };
    const result = await exploreSqlProfile(changed, {
      schedulesMax: schedulesMaxDefault,
      ...options,
      profile: isLevel ? { ...profile, isolation: remedy.isolation } : profile,
      lockedReads: remedy.kind === 'lock' ? remedy.statements : [],
      violationsOnly: true,
      failuresMax: Infinity,
    });
    return { remedy, ...judged(result) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { remedy, kind: 'refused', reason: error.message };
  }
}

/** Does the added index refuse no row that the program may insert: in no order of the sessions, one after another? Not known of many sessions. */
async function keepsSerialRuns(program: SqlProgram, options: ExploringRunOptions): Promise<boolean> {
  const refusing = await inEveryOrder(program.sessionNames.length, async (order) => {
    const run = await checkedRun(program, { ...exploringRun(serialDecisions(order), options), isLogged: true });
    const isRefused = run.kind === 'timeout' || run.statements.some(({ outcome }) => outcome.includes(remedyIndex));
    // It stops at the first that does not fail.
    return isRefused ? { kind: 'fine' } : { kind: 'fails', failure: null };
  });
  return refusing.kind === 'fails';
}

const schedulesMaxDefault = 5_000;

function judged(result: ExploreSqlResult): Omit<Extract<TriedRemedy, { kind: 'explored' }>, 'remedy'> {
  const { schedules, complete, failures, evidence } = result;
  const refused = failures.filter((failure) => failure.kind === 'invariant-broken' && isRefusedRow(failure));
  const refusedRows = refused.reduce((sum, failure) => sum + failure.schedules, 0);
  const invariantBroken = result.invariantBroken - refusedRows;
  const handled = [...refused, ...failures.filter(({ kind }) => kind === 'error-not-retried')];
  const conclusion = conclude({ ...evidence, violations: invariantBroken });
  return {
    kind: 'explored',
    holds: conclusion.kind === 'satisfied',
    schedules,
    invariantBroken,
    notHandled: result.notRetried + refusedRows,
    errors: [...new Set(handled.flatMap(errorCodeOf))].toSorted(),
    complete,
    gaps: conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [],
  };
}

/** Does a session end with an error of the index that was added? */
function isRefusedRow(failure: SqlFailure): boolean {
  return lastErrorOf(failure)?.includes(remedyIndex) === true;
}

function errorCodeOf(failure: SqlFailure): string[] {
  return /^[0-9A-Z]+(?= )/.exec(lastErrorOf(failure) ?? '')?.slice(0, 1) ?? [];
}

/** The error of the session that failed, before those that only say that its transaction has failed. */
function lastErrorOf({ message, statements }: SqlFailure): string | undefined {
  const session = /^session "(.*?)" failed: /.exec(message)?.[1];
  return statements.findLast((each) => each.session === session && each.isError && !each.outcome.startsWith('25P02 '))
    ?.outcome;
}

/** Those that hold first, without an error before those with some, then by what they cost. */
function rankOf(tried: TriedRemedy): number {
  const { remedy } = tried;
  const holds = tried.kind === 'explored' && tried.holds;
  const isClean = tried.kind === 'explored' && tried.notHandled === 0;
  const cost = remedy.kind === 'lock' ? remedy.statements.length : costs[remedy.kind];
  return (holds ? 0 : 1_000) + (isClean ? 0 : 100) + cost;
}

/** A constraint holds for every program that writes there, a lock is one line for each statement, and a level is for all transactions. */
const costs = { unique: 0, level: 50 } as const;
