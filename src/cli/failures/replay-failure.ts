/** A kept failure again, on the program as it is now. */
import { campaignDefaults, formatFailure, formatResult, runCampaign } from '../../campaign/index.ts';
import { InputError } from '../../base/index.ts';
import { type BaseLevel, baseLevels, explore, formatExploration } from '../../explore/index.ts';
import type { FailureRecord, RecordedOptions } from '../../failures/index.ts';
import { constrainingLevels, parseLevel } from '../../isolation/index.ts';
import {
  isSqlProgram,
  type Program,
  type RecordedRun,
  type Replayed,
  type ReplayVerdict,
  replayVerdict,
  type SqlProgram,
} from '../../program/index.ts';
import type { Styler } from '../../report/index.ts';

export interface ReplayLook {
  readonly width?: number;
  readonly style?: Styler;
  /** What shows this replay again. */
  readonly command: string;
}

export interface ReplayedFailure extends ReplayVerdict {
  /** What is wrong; `null` where nothing fails. */
  readonly message: string | null;
  /** The answer, and the run where it fails. */
  readonly format: (look: ReplayLook) => string;
}

export interface ReplayLimits {
  readonly timeoutMs?: number;
  /** Called whenever the program gets to run. */
  readonly onTurn?: () => void;
}

export async function replayFailure(
  program: Program | SqlProgram,
  record: FailureRecord,
  limits: ReplayLimits = {},
): Promise<ReplayedFailure> {
  const { options } = record;
  if ('profile' in options)
    return isSqlProgram(program) ? replaySql(program, record, options, limits) : ofOtherKind(program, record);
  if (isSqlProgram(program)) return ofOtherKind(program, record);
  return options.tool === 'test-keys'
    ? replayTest(program, record, options, limits)
    : replayExplored(program, record, options, limits);
}

type Options<Tool extends RecordedOptions['tool']> = Extract<RecordedOptions, { tool: Tool }>;

async function replayTest(
  program: Program,
  record: FailureRecord,
  { level, conflicts, abortRate }: Options<'test-keys'>,
  { timeoutMs = campaignDefaults.timeoutMs, onTurn = () => {} }: ReplayLimits,
): Promise<ReplayedFailure> {
  const result = await runCampaign(program, {
    level: parseLevel(level, constrainingLevels),
    abortRate,
    timeoutMs,
    replay: record.token,
    onTurn,
    ...(conflicts === null ? {} : { conflicts }),
  });
  if (result.timeout !== null) return ofNoEnd(named(result.timeout.session));
  return answered(result, record, result.failure?.message, (judged, look) =>
    judged.failure === null ? formatResult(judged, look) : formatFailure(judged, look),
  );
}

async function replayExplored(
  program: Program,
  record: FailureRecord,
  { level, base }: Options<'explore-keys'>,
  { timeoutMs = campaignDefaults.timeoutMs, onTurn = () => {} }: ReplayLimits,
): Promise<ReplayedFailure> {
  const options = { level: parseLevel(level, constrainingLevels), base: baseLevel(base), timeoutMs, onTurn };
  const result = await explore(program, { ...options, replay: record.token });
  const { stopped } = result;
  if (typeof stopped === 'object' && stopped !== null) return ofNoEnd(named(stopped.session));
  return answered(result, record, result.counterexample?.message, (judged, look) =>
    formatExploration(judged, { ...look, commandOf: () => look.command }),
  );
}

function baseLevel(text: string): BaseLevel {
  const found = baseLevels.find((level) => level === text);
  if (found !== undefined) return found;
  throw new InputError('level/unknown', `"${text}" is none of the levels ${baseLevels.join(', ')}`);
}

async function replaySql(
  program: SqlProgram,
  record: FailureRecord,
  { tool, profile: recorded, abortRate, seed }: Options<'test-sql' | 'explore-sql'>,
  { timeoutMs = campaignDefaults.timeoutMs, onTurn = () => {} }: ReplayLimits,
): Promise<ReplayedFailure> {
  // Loading it costs time that other programs do without.
  const sql = await import('../sql-tools.ts');
  const profile = sql.recordedProfile(recorded);
  if (profile.dialect !== program.dialect) return ofOtherKind(program, record);
  const options = { profile, timeoutMs, replay: record.token, onRun: onTurn };
  if (tool === 'explore-sql') {
    const result = await sql.exploreSql(program, options);
    const { stopped } = result;
    if (typeof stopped === 'object' && stopped !== null) return ofNoEnd(stopped.late);
    return answered(result, record, result.failures[0]?.message, (judged, look) =>
      sql.formatSqlExploration(judged, { ...look, commandOf: () => look.command }),
    );
  }
  const result = await sql.runSqlCampaign(program, { ...options, abortRate, seed });
  if (result.timeout !== null) return ofNoEnd(result.timeout);
  return answered(result, record, result.failure?.message, (judged, look) =>
    judged.failure === null ? sql.formatSqlResult(judged, look) : sql.formatSqlFailure(judged, judged.failure, look),
  );
}

function answered<Result extends { readonly replayed: Replayed | null; readonly violations: number }>(
  result: Result,
  recorded: FailureRecord,
  message: string | undefined,
  format: (result: Result, look: ReplayLook & { readonly recorded: RecordedRun }) => string,
): ReplayedFailure {
  const { replayed, violations } = result;
  if (replayed === null) return ofNoEnd(named(null));
  const judged = judgedAs(recorded, replayed);
  const verdict = replayVerdict(judged, violations, recorded);
  const withJudged = { ...result, replayed: judged };
  return { ...verdict, message: message ?? null, format: (look) => format(withJudged, { ...look, recorded }) };
}

/** A program that had no invariant failed by an error of a session, and needs none to hold. */
function judgedAs({ invariant }: FailureRecord, replayed: Replayed): Replayed {
  return replayed.kind === 'not-judged' && invariant === null ? { ...replayed, kind: 'same-steps' } : replayed;
}

function ofOtherKind(program: Program | SqlProgram, record: FailureRecord): ReplayedFailure {
  const shape = [isSqlProgram(program) ? `a SQL program for ${program.dialect}` : 'a program of keys'];
  return withoutRun(replayVerdict({ kind: 'other-program', shape, isSummed: true }, 0, record));
}

function named(session: string | null): string {
  return session === null ? 'the run' : `session "${session}"`;
}

/** @param what did not end */
function ofNoEnd(what: string): ReplayedFailure {
  return withoutRun({ answer: 'incompatible', text: `incompatible: ${what} did not end in time` });
}

function withoutRun(verdict: ReplayVerdict): ReplayedFailure {
  return { ...verdict, message: null, format: () => verdict.text };
}
