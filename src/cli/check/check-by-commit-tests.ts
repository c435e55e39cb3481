/** `moirai check --by commit-tests`: is there an execution in which every transaction passes the commit test of a level? */
import { monotonicMs, stopText, TimeLimit } from '../../base/index.ts';
import { CutHistoryError, type History, historyOf, relationsOf, type TransactionIndex } from '../../history/index.ts';
import { formatSessions, formatTable, printable, type Styler, wrap } from '../../report/index.ts';
import {
  commitTest,
  type CommitTestLevel,
  commitTestLevels,
  commitTestTable,
  type CommitTestVerdict,
  explainCommitTest,
  explainFailures,
  type JudgedExecution,
  summarizeCommitTest,
} from '../../states/index.ts';
import { cutText, restToJudge } from './check-cut.ts';
import { cutLines, sizeText, styles, transactionsShownMax } from './check-report.ts';
import { assumedWhole, readHistory } from '../files/history-input.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import { appearance } from '../output/style.ts';
import { printEnding } from '../modules/user-program.ts';

export interface CommitTestCommandOptions {
  /** Absent: all levels, and no level is asked for. */
  readonly level?: CommitTestLevel;
  readonly json: boolean;
  readonly color: boolean;
  readonly ignoreThinAirReads: boolean;
  /** Of all levels of one history together. */
  readonly timeoutMs: number;
}

export async function checkByCommitTests(
  files: readonly string[],
  options: CommitTestCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const reports: FileReport[] = [];
  let printed = 0;
  const soFar = (): Ending => {
    const all = files.map(
      (file, i) =>
        reports[i] ?? {
          file,
          asked: options.level,
          history: notRead,
          assumed: [],
          cut: null,
          verdicts: openVerdicts(options.level),
        },
    );
    return endingOf(all, all.slice(printed, Math.max(1, reports.length)), options, host);
  };
  return runInterruptibly(host, soFar, async (quiet) => {
    for (const file of files) {
      const { history, assumed, error } = await readWholeOrCut(file, quiet);
      const judged = options.ignoreThinAirReads || error !== null ? withoutThinAirReads(history) : history;
      const cut = error === null ? null : cutText(error);
      const report = {
        file,
        asked: options.level,
        history: judged,
        assumed,
        cut,
        verdicts: openVerdicts(options.level),
      };
      reports.push(report);
      judge(report, new TimeLimit(monotonicMs() + options.timeoutMs));
      if (error !== null && weakestViolation(report) === undefined) throw error;
      if (!options.json) quiet.out(reportText(report, printed, options, host));
      printed += 1;
    }
    return printEnding(endingOf(reports, [], options, host), quiet);
  });
}

interface Read {
  readonly history: History;
  readonly assumed: readonly string[];
  /** Of a history that was cut; `history` is what is left of it. */
  readonly error: CutHistoryError | null;
}

async function readWholeOrCut(file: string, host: Host): Promise<Read> {
  try {
    const { history, marksEnd } = await readHistory(file, host);
    return { history, assumed: marksEnd ? [] : [assumedWhole], error: null };
  } catch (error) {
    const rest = error instanceof CutHistoryError ? restToJudge(error) : null;
    if (rest === null) throw error;
    return { history: historyOf(rest), assumed: [], error: error as CutHistoryError };
  }
}

/** @param rest of the reports, what is not printed yet */
function endingOf(
  reports: readonly FileReport[],
  rest: readonly FileReport[],
  options: CommitTestCommandOptions,
  host: Host,
): Ending {
  const code = exitCode(reports, options.level);
  if (options.json) {
    const objects = reports.map(reportJson);
    return { out: `${JSON.stringify(objects.length === 1 ? objects[0] : objects)}\n`, err: '', code };
  }
  const out = rest.map((report) => reportText(report, reports.indexOf(report), options, host)).join('');
  return { out, err: '', code };
}

function reportText(report: FileReport, index: number, { color }: CommitTestCommandOptions, host: Host): string {
  return `${index > 0 ? '\n' : ''}${formatReport(report, appearance(host, color))}\n`;
}

/** The user had enough before it was read. */
const notRead: History = { sessions: [], transactions: [], initial: new Map() };

function withoutThinAirReads(history: History): History {
  const thinAir = relationsOf(history).phenomena.filter(({ kind }) => kind === 'thin-air-read');
  const left = new Set(thinAir.map(({ by, operation }) => `${by} ${operation}`));
  const transactions = history.transactions.map((transaction, t) => ({
    ...transaction,
    operations: transaction.operations.filter((_, o) => !left.has(`${t} ${o}`)),
  }));
  return { ...history, transactions };
}

interface FileReport {
  readonly file: string;
  readonly asked: CommitTestLevel | undefined;
  readonly history: History;
  /** What a level that is satisfied takes for granted, each as a clause. */
  readonly assumed: readonly string[];
  /** Where and how it was cut; `null`: it was not. That the rest satisfies a level says nothing. */
  readonly cut: string | null;
  /** Each after those that it implies. */
  readonly verdicts: Map<CommitTestLevel, FoundVerdict>;
}

/** A level that was not judged yet is open; of a history that was cut, what the rest does not violate is unknown. */
type FoundVerdict = CommitTestVerdict | typeof open | typeof wasCut;
const open = { kind: 'unknown', reason: 'interrupted' } as const;
const wasCut = { kind: 'unknown', reason: 'cut' } as const;

type Found = readonly [CommitTestLevel, CommitTestVerdict];

/** Of the level that was asked for and those that it implies. */
function openVerdicts(asked?: CommitTestLevel): Map<CommitTestLevel, FoundVerdict> {
  const wanted = asked === undefined ? new Set(commitTestLevels) : withImplied(asked);
  return new Map(commitTestLevels.filter((level) => wanted.has(level)).map((level) => [level, open]));
}

/** A level that implies a violated one is violated for the same reason. */
function judge({ history, cut, verdicts }: FileReport, limit: TimeLimit): void {
  for (const level of verdicts.keys()) {
    const known = commitTestTable[level].implies
      .map((weaker) => verdicts.get(weaker))
      .find((verdict) => verdict?.kind === 'violated');
    const verdict = known ?? commitTest(history, level, { limit });
    verdicts.set(level, cut === null || verdict.kind === 'violated' ? verdict : wasCut);
  }
}

/** A level that is violated takes nothing for granted. */
function assumedOf({ asked, assumed, verdicts }: FileReport): readonly string[] {
  return asked === undefined || verdicts.get(asked)?.kind === 'satisfied' ? assumed : [];
}

function withImplied(level: CommitTestLevel): ReadonlySet<CommitTestLevel> {
  return new Set([level, ...commitTestTable[level].implies.flatMap((weaker) => [...withImplied(weaker)])]);
}

/** Of the levels that are satisfied, those that no other of them implies. */
function strongest({ verdicts }: FileReport): CommitTestLevel[] {
  const satisfied = [...verdicts].filter(([, { kind }]) => kind === 'satisfied').map(([level]) => level);
  return satisfied.filter((level) => satisfied.every((other) => other === level || !withImplied(other).has(level)));
}

function weakestViolation({ verdicts }: FileReport): Found | undefined {
  return [...verdicts].find((found): found is [CommitTestLevel, CommitTestVerdict] => found[1].kind === 'violated');
}

function formatReport(
  report: FileReport,
  { style, width }: { readonly style: Styler; readonly width: number },
): string {
  const { file, history, cut, verdicts } = report;
  const { length } = history.transactions;
  const isShown = length <= transactionsShownMax;
  const levels = formatTable([...verdicts].map(([level, verdict]) => [level, answer(history, verdict)]));
  const violation = weakestViolation(report);
  const shown = strongest(report).map((level): Found => [level, verdicts.get(level) as CommitTestVerdict]);
  return [
    `${style('name', file)}: ${sizeText(length, operationsOf(history))}; by commit tests`,
    ...levels.map((line, i) => style(styles[[...verdicts.values()][i]?.kind ?? 'unknown'], line)),
    ...(cut === null
      ? [`strongest level: ${shown.map(([level]) => level).join(', ') || 'unknown'}`]
      : cutLines(cut, width)),
    ...assumedOf(report).map((clause) => `assumed: ${clause}`),
    ...(violation === undefined || !isShown ? [] : ['', ...formatSessions(history, { width, style })]),
    ...(violation === undefined ? [] : evidence(history, violation, width)),
    ...(isShown ? shown.flatMap((found) => evidence(history, found, width)) : []),
  ].join('\n');
}

function answer(history: History, verdict: FoundVerdict): string {
  if (isOpen(verdict)) return `unknown: ${verdict === open ? stopText('interrupted') : 'the history was cut'}`;
  return verdict.kind === 'unknown' ? summarizeCommitTest(history, verdict) : verdict.kind;
}

function isOpen(verdict: FoundVerdict): verdict is typeof open | typeof wasCut {
  return verdict === open || verdict === wasCut;
}

function evidence(history: History, [level, verdict]: Found, width: number): string[] {
  const lines = [`${level}: ${summarizeCommitTest(history, verdict)}`, ...explainCommitTest(history, verdict)];
  return ['', ...lines.flatMap((line) => wrap(printable(line), width))];
}

function operationsOf({ transactions }: History): number {
  return transactions.reduce((sum, { operations }) => sum + operations.length, 0);
}

/** The shape of `check`; a violation has obstacles in place of a cycle. */
function reportJson(report: FileReport): object {
  const { file, history, cut, verdicts } = report;
  const violation = weakestViolation(report);
  const level = strongest(report).at(-1);
  const satisfied = level === undefined ? undefined : verdicts.get(level);
  return {
    file,
    by: 'commit-tests',
    transactions: history.transactions.length,
    operations: operationsOf(history),
    levels: Object.fromEntries([...verdicts].map(([each, { kind }]) => [each, kind])),
    strongest: level ?? null,
    ...([...verdicts.values()].includes(open) ? { stopped: 'interrupted' } : {}),
    ...(cut === null ? {} : { cut }),
    execution: satisfied?.kind === 'satisfied' ? executionJson(history, satisfied.execution) : null,
    violations: violation === undefined ? [] : [violationJson(history, violation)],
    assumed: assumedOf(report),
  };
}

function executionJson(history: History, { transactions }: JudgedExecution): object[] {
  return transactions.map(({ transaction, parent, readStates }) => ({
    transaction: idOf(history, transaction),
    parent,
    readStates,
  }));
}

function violationJson(history: History, [level, verdict]: Found): object {
  const obstacles = verdict.kind === 'violated' ? verdict.obstacles : [];
  return {
    level,
    anomaly: null,
    transactions: obstacles.map(({ transaction }) => idOf(history, transaction)),
    cycle: [],
    obstacles: obstacles.map(({ transaction, conflictsWith, execution }) => ({
      transaction: idOf(history, transaction),
      conflictsWith: conflictsWith.map((t) => idOf(history, t)),
      order: execution?.order.map((t) => idOf(history, t)) ?? null,
      failures: execution === undefined ? [] : explainFailures(history, execution, transaction),
    })),
  };
}

function idOf(history: History, t: TransactionIndex): string {
  return history.transactions[t]?.id ?? String(t);
}

/** Without a level that was asked for there is nothing to violate. */
function exitCode(reports: readonly FileReport[], asked?: CommitTestLevel): ExitCode {
  if (asked === undefined) return reports.some(({ verdicts }) => [...verdicts.values()].some(isOpen)) ? 2 : 0;
  const kinds = new Set(reports.map(({ verdicts }) => verdicts.get(asked)?.kind));
  if (kinds.has('violated')) return 1;
  return kinds.has('unknown') ? 2 : 0;
}
