/** What `moirai test` of a key-value program says, and its exit code: of a campaign that is over, or of one that was cut off. */
import {
  campaignReport,
  type CampaignResult,
  cutOf,
  formatFailure,
  formatLevels,
  formatResult,
  formatTimeout,
} from '../../campaign/index.ts';
import { conclude, gapText } from '../../evidence/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import { answerOf } from '../../program/index.ts';
import { printable, type ReportData } from '../../report/index.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { testJson } from '../output/json.ts';
import { replayCommand, shellWord, testCommandLine } from '../options/invocation.ts';
import { appearance } from '../output/style.ts';
import type { TestOptions } from './test-options.ts';
import { type Cut, cutEvidence } from '../modules/user-program.ts';

/** @param weakestPassing absent: the other levels were not run */
export function reportOne(
  file: string,
  options: TestOptions,
  result: CampaignResult,
  host: Host,
  weakestPassing?: ConstrainingLevel | null,
): Ending {
  const { recorded } = options;
  const known = {
    ...(weakestPassing === undefined ? {} : { weakestPassing }),
    ...(recorded === undefined ? {} : { recorded }),
  };
  const command = result.failure === null ? null : replayCommand(file, options, result, host);
  const look = appearance(host, options.color);
  const text = (): string => {
    if (options.json) {
      const report = pageOf(file, options, [result], host, weakestPassing);
      return `${JSON.stringify(testJson(result, { ...known, command, report }))}\n`;
    }
    if (command !== null)
      return `${formatFailure(result, { ...look, ...known, command, runsAtOtherLevels: options.runs })}\n`;
    return result.timeout === null ? `${formatResult(result, { ...look, ...known })}\n` : '';
  };
  return ending(text(), [result], options);
}

/** A level a row. */
export function reportLevels(
  file: string,
  options: TestOptions,
  results: readonly CampaignResult[],
  host: Host,
): Ending {
  const json = (result: CampaignResult): object =>
    testJson(result, {
      command: result.failure === null ? null : replayCommand(file, options, result, host),
      report: pageOf(file, options, [result], host),
    });
  const text = options.json
    ? `${JSON.stringify(results.map(json))}\n`
    : `${formatLevels(results, appearance(host, options.color))}\n${gapLines(results)}${hint(file, options, host, results)}`;
  return ending(text, results, options);
}

/** For the HTML report. @param weakestPassing absent: the other levels were not run */
export function pageOf(
  file: string,
  options: TestOptions,
  results: readonly CampaignResult[],
  host: Host,
  weakestPassing?: ConstrainingLevel | null,
): ReportData {
  return campaignReport(results, {
    heading: `moirai test ${shellWord(file)}`,
    commandOf: (result) => replayCommand(file, options, result, host),
    weakestPassing,
    runsAtOtherLevels: options.runs,
  });
}

/** The result so far of a campaign that was cut off. */
export function cutResult(result: CampaignResult, cut: Cut): CampaignResult {
  const evidence = cutEvidence(result.evidence, cut);
  return cut.kind === 'interrupted'
    ? { ...result, evidence, stopped: 'interrupted' }
    : { ...result, evidence, timeout: cut.timeout };
}

/** What the table does not say: why nothing is known. */
function gapLines(results: readonly CampaignResult[]): string {
  const gaps = results.flatMap(({ level, evidence }) => {
    const conclusion = conclude(evidence);
    const found = conclusion.kind === 'unknown' ? conclusion.gaps : [];
    return found.map((gap) => `unknown at ${level}: ${printable(gapText(gap))}\n`);
  });
  return gaps.join('');
}

/** The way from the table to a run that fails, at the strongest level at which one does. */
function hint(file: string, options: TestOptions, host: Host, results: readonly CampaignResult[]): string {
  const failing = results.findLast(({ failure }) => failure !== null);
  if (failing === undefined) return '';
  return `\nto see a failing run: ${testCommandLine(file, { ...options, level: failing.level }, host)}\n`;
}

function ending(out: string, results: readonly CampaignResult[], { timeoutMs }: TestOptions): Ending {
  const timeout = results.find((result) => result.timeout !== null)?.timeout ?? null;
  const err = timeout === null ? '' : `${formatTimeout(timeout, timeoutMs)}\n`;
  return { out, err, code: exitCode(results) };
}

/** A violation that was found stays found when a later run does not end, or is not made. */
function exitCode(results: readonly CampaignResult[]): ExitCode {
  if (results.some(({ violations }) => violations > 0)) return 1;
  const isWhole = results.every(
    (result) =>
      conclude(result.evidence).kind === 'satisfied' &&
      result.timeout === null &&
      cutOf(result) === null &&
      !isIncompatible(result),
  );
  return isWhole ? 0 : 2;
}

function isIncompatible({ replayed }: CampaignResult): boolean {
  return replayed !== null && answerOf(replayed, 0) === 'incompatible';
}
