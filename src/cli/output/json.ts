/** The `--json` shapes. The design's fields come first and stay; more may follow. */
import type { CampaignResult } from '../../campaign/index.ts';
import { conclude, conclusionJson } from '../../evidence/index.ts';
import { formatHistoryLines, type History, type TransactionIndex } from '../../history/index.ts';
import { answerOf, type RecordedRun, type Replayed, replayVerdict } from '../../program/index.ts';
import { type ConstrainingLevel, exampleOf, type Violated } from '../../isolation/index.ts';
import { type ReportData, transactionsOf } from '../../report/index.ts';

export interface TestJsonContext {
  readonly weakestPassing?: ConstrainingLevel | null;
  /** What replays the run in a shell. */
  readonly command: string | null;
  /** Of a replay: the recorded run, where it is known. */
  readonly recorded?: RecordedRun;
  /** For `moirai report`. */
  readonly report: ReportData;
}

export function testJson(
  result: CampaignResult,
  { weakestPassing, command, recorded, report }: TestJsonContext,
): object {
  const { level, runs, violations, distinctStates, seed, failure, firstFailingRun, marks, timeout, stopped } = result;
  const verdict = failure?.anomaly?.verdict;
  return {
    level,
    runs,
    violations,
    distinctStates,
    seed,
    replay: failure?.replay ?? null,
    anomaly: verdict?.anomaly ?? null,
    message: failure?.message ?? null,
    firstFailingRun,
    olderReads: failure?.olderReads ?? null,
    forbiddenBy: failure?.anomaly?.level ?? null,
    cycle: failure === null || verdict === undefined ? null : cycleJson(failure.history, verdict),
    ...(weakestPassing === undefined ? {} : { weakestPassing }),
    command,
    ...answerJson(result, recorded),
    ...conclusionJson(conclude(result.evidence)),
    marks: Object.fromEntries(marks),
    timeout,
    stopped,
    history: failure === null ? null : historyJson(failure.history),
    report,
  };
}

/** What a replay answers, and the same in words, with the step at which it took another turn where that is known. */
export function answerJson(
  { replayed, violations }: { readonly replayed: Replayed | null; readonly violations: number },
  recorded: RecordedRun | null = null,
): object {
  if (replayed === null) return { answer: null, answerText: null };
  return { answer: answerOf(replayed, violations), answerText: replayVerdict(replayed, violations, recorded).text };
}

/** An entry of `violations`. */
export function violationJson(history: History, level: string, verdict: Violated): object {
  const { read } = exampleOf(verdict);
  return {
    level,
    anomaly: verdict.anomaly,
    transactions: transactionsOf(verdict).map((t) => idOf(history, t)),
    cycle: cycleJson(history, verdict),
    ...(read === undefined ? {} : { read: operationJson(history, read.by, read.operation) }),
    ...choicesJson(history, verdict),
  };
}

/** How many choices of writers were refuted, and those that the cycle or the read assumes: the first. */
function choicesJson(history: History, { choices = [] }: Violated): object {
  const [first] = choices;
  if (first === undefined) return {};
  const writers = first.writers.map(({ by, operation, from }) => ({
    ...operationJson(history, by, operation),
    writer: idOf(history, from),
  }));
  return { choices: choices.length, writers };
}

function operationJson(history: History, transaction: TransactionIndex, operation: number): object {
  const { key, value } = history.transactions[transaction]?.operations[operation] ?? {};
  return { transaction: idOf(history, transaction), operation, key, value };
}

function cycleJson(history: History, verdict: Violated): object[] {
  return exampleOf(verdict).cycle.map(({ from, to, relation, key }) => ({
    from: idOf(history, from),
    to: idOf(history, to),
    relation,
    key: key ?? null,
  }));
}

function idOf(history: History, t: TransactionIndex): string {
  return history.transactions[t]?.id ?? 'initial';
}

/** The lines of the history's JSON Lines. */
function historyJson(history: History): unknown[] {
  const lines = formatHistoryLines(history).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}
