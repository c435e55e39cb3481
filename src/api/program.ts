/**
 * `moirai/program`: sessions of transactions as plain async functions, an initial state, an invariant; and many random runs of them.
 *
 * @example
 * ```ts
 * import { program, type SessionHandle, testProgram } from 'moirai/program';
 *
 * const increment = (session: SessionHandle) => session.transaction(async (t) => t.write('x', (await t.read('x')) + 1));
 * const counter = program({
 *   initial: { x: 0 },
 *   sessions: { a: increment, b: increment },
 *   invariant: ({ final }) => final['x'] === 2,
 * });
 * const { runs, violations } = await testProgram(counter, { level: 'serializable', runs: 100 });
 * console.log(runs, violations);
 * // prints: 100 0
 * await testProgram(counter, { level: 'causal' }).catch((error: Error) => console.log(/lost update/.test(error.message)));
 * // prints: true
 * ```
 * @module
 */
import {
  type CampaignOptions as AllCampaignOptions,
  type CampaignResult,
  runCampaign as run,
  testProgram as test,
  type TestProgramOptions as AllTestOptions,
} from '../campaign/index.ts';
import { checkProgram, type Program, type ProgramDefinition, type SessionFunction } from '../program/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';
import { reportFolder } from './report-folder.ts';

export {
  formatFailure,
  formatResult,
  type CampaignResult,
  type Failure,
  type FailureText,
  type Progress,
  type ResultText,
  type Timeout,
} from '../campaign/index.ts';
export {
  program,
  SerializationFailure,
  sqlProgram,
  type AnyStream,
  type AnyValue,
  type End,
  type InvariantResult,
  type JudgingLimits,
  type Program,
  type ProgramDefinition,
  type RecordedRun,
  type Replayed,
  type ReplayedRun,
  type SessionFunction,
  type SessionHandle,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  type SqlProgramDefinition,
  type SqlSessionFunction,
  type TransactionHandle,
} from '../program/index.ts';
export type { StopReason } from '../base/index.ts';

/** At which level a program runs, and how often. */
export interface CampaignOptions
  extends Pick<
    AllCampaignOptions,
    | 'abortRate'
    | 'conflicts'
    | 'judging'
    | 'level'
    | 'onProgress'
    | 'replay'
    | 'runs'
    | 'seed'
    | 'signal'
    | 'stopAtFirst'
    | 'strategy'
    | 'timeMaxMs'
    | 'timeoutMs'
  > {}

const campaignOptions: OptionKinds<CampaignOptions> = {
  abortRate: 'number',
  conflicts: 'any',
  judging: 'object',
  level: 'string',
  onProgress: 'function',
  replay: 'string',
  runs: 'number',
  seed: 'number',
  signal: 'object',
  stopAtFirst: 'any',
  strategy: 'string',
  timeMaxMs: 'number',
  timeoutMs: 'number',
};

/** The same, with a time for all runs that a test runner waits for. */
export interface TestProgramOptions extends CampaignOptions, Pick<AllTestOptions, 'timeBudgetMs'> {}

/**
 * Runs a program at random at one level, by default 1,000 times at causal: an assertion for any test runner.
 * It ends soon after the first failing run; fewer runs than were asked for are no pass.
 * @throws AssertionError when a run violates the invariant or does not end, with the run and how to replay it in its message; of a replay also
 *   when the program takes other steps than the recorded run; and when the evidence has a gap, such as a session that did nothing
 * @throws InputError when the program or an option is at fault
 */
export async function testProgram<Sessions extends Record<string, SessionFunction>>(
  definition: ProgramDefinition<Sessions> | Program,
  options: TestProgramOptions = {},
): Promise<CampaignResult> {
  requireOptions('testProgram', options, { ...campaignOptions, timeBudgetMs: 'number' });
  return test(definition, { ...options, ...reportFolder('testProgram', new Error()) });
}

/**
 * The same runs as a value: nothing is thrown for a violation. `formatResult` and `formatFailure` put the result into words.
 * @throws InputError when the program or an option is at fault
 *
 * @example
 * ```ts
 * import { formatFailure, program, runCampaign, type SessionHandle } from 'moirai/program';
 *
 * const increment = (session: SessionHandle) =>
 *   session.transaction(async (t) => t.write('x', (await t.read('x')) + 1));
 * const counter = program({
 *   initial: { x: 0 },
 *   sessions: { a: increment, b: increment },
 *   invariant: ({ final }) => final['x'] === 2 || `x is ${final['x']}`,
 * });
 * const result = await runCampaign(counter, { level: 'causal', runs: 100, seed: 7 });
 * console.log(result.failure?.message, result.failure?.anomaly?.level);
 * // prints: x is 1 snapshot-isolation
 * console.log(formatFailure(result).split('\n')[0]);
 * // prints: violated in 44 of 100 runs at causal: x is 1
 * ```
 */
export async function runCampaign(program: Program, options: CampaignOptions = {}): Promise<CampaignResult> {
  requireOptions('runCampaign', options, campaignOptions);
  return run(checkProgram(program), options);
}
