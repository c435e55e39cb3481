/** What an exploration found, as text: the verdict with its scope first, the smallest counterexample, the next step last. */
import { summarize, explainNoViolation, weakestViolation } from '../isolation/index.ts';
import type { History } from '../history/index.ts';
import {
  counted,
  formatAnswer,
  type CycleDrawing,
  drawHistory,
  formatCount,
  formatCycle,
  formatEstimated,
  formatMarks,
  formatReportTable,
  formatSessions,
  levelTable,
  plain,
  printable,
  type ReportTable,
  type Styler,
  wrap,
} from '../report/index.ts';
import { assumedText, type RecordedRun, replayVerdict } from '../program/index.ts';
import { conclude, gapText } from '../evidence/index.ts';
import { stoppedBy } from './stopped.ts';
import type { Counterexample, ExploreResult, Estimate } from './explore-result.ts';

/** How an exploration is put into words. */
export interface ExploreText {
  /** Columns of the terminal. Default 80. */
  readonly width?: number;
  readonly style?: Styler;
  /** What replays a counterexample. */
  readonly commandOf?: (replay: string) => string;
  /** Of a replay: the recorded run, where it is known. */
  readonly recorded?: RecordedRun;
}

/** The text of one exploration, without a final line break. */
export function formatExploration(result: ExploreResult, options: ExploreText = {}): string {
  const { style = plain, width = 80 } = options;
  const { counterexamples, marks } = result;
  const { replayed, violations } = result;
  const answer = replayed === null ? [] : formatAnswer(replayVerdict(replayed, violations, options.recorded), options);
  const [smallest, ...others] = counterexamples;
  if (replayed !== null && smallest === undefined) return answer.join('\n');
  const lines = [...answer, verdict(result, style, width)];
  if (smallest !== undefined) {
    lines[lines.length - 1] += `: ${printable(smallest.message)}`;
    lines.push('', ...exampleLines(smallest, options));
    others.forEach((example, i) => {
      const title = `another kind, ${i + 2} of ${counterexamples.length}: ${printable(example.message)}`;
      lines.push('', ...wrap(title, width).map((line) => style('bad', line)), '', ...exampleLines(example, options));
    });
    return lines.join('\n');
  }
  return [...lines, ...formatMarks(marks, 'history', 'histories')].join('\n');
}

function exampleLines(example: Counterexample, { style = plain, width = 80, commandOf }: ExploreText): string[] {
  const { history, olderReads, replay } = example;
  return [
    ...formatSessions(history, { width, style, older: olderReads }),
    '',
    ...anomalyLines(history, width, style),
    ...(commandOf === undefined ? [] : ['', `replay: ${commandOf(replay)}`]),
  ];
}

/** What the probes say, in one line. */
export function formatEstimate(level: string, { runs, histories, runsError, probes }: Estimate): string {
  const inVain = histories < runs * 0.95 ? ` in about ${formatEstimated(runs)} runs` : '';
  return `${level}: about ${formatEstimated(histories)} histories to expect${inVain} (+- ${formatEstimated(runsError)} runs; ${probes} random probes)`;
}

/** Each counterexample as a graph: every transaction, which read saw which write, and the cycle that its level does not explain. */
export function drawCounterexamples({ counterexamples, level }: ExploreResult, title: string): CycleDrawing[] {
  return counterexamples.map(({ history, anomaly, message }) =>
    drawHistory(history, `${title}: ${anomaly ?? 'a violation'} at ${level}: ${message}`, 'constrained'),
  );
}

/** The table of several levels, weakest first, and the weakest at which every history satisfies the invariant. */
export function formatExplorations(results: readonly ExploreResult[], { style = plain }: ExploreText = {}): string {
  const table = explorationTable(results);
  return [...formatReportTable(table, style), table.note, ...gapLines(results)].join('\n');
}

export function explorationTable(results: readonly ExploreResult[]): ReportTable {
  const levels = results.map(({ level, histories, violations, complete, evidence }) => ({
    level,
    counts: { histories },
    violations,
    complete: complete && conclude(evidence).kind !== 'unknown',
  }));
  return levelTable(levels, 'histories');
}

/** What the table does not say: why nothing is known. */
export function gapLines(results: readonly ExploreResult[]): string[] {
  return results.flatMap(({ level, evidence }) => {
    const conclusion = conclude(evidence);
    const gaps = conclusion.kind === 'unknown' ? conclusion.gaps.filter(({ kind }) => kind !== 'cut') : [];
    return gaps.map((gap) => `unknown at ${level}: ${printable(gapText(gap))}`);
  });
}

/** With what a proof takes for granted, on lines of its own. */
export function verdict(result: ExploreResult, style: Styler, width: number): string {
  return result.violations > 0 ? violated(result, style) : satisfied(result, style, width);
}

function violated({ level, histories, violations, complete, stopped, prefix }: ExploreResult, style: Styler): string {
  if (prefix !== null) {
    const end = stopped === 'violation' ? ', and none of fewer does' : ` (${printable(stoppedBy(stopped))})`;
    return style('bad', `a history of ${counted(prefix, 'transaction')} violates the invariant at ${level}${end}`);
  }
  const some = `${formatCount(violations)} of ${counted(histories, 'history', 'histories')}`;
  const text = `${some} ${violations === 1 ? 'violates' : 'violate'} the invariant at ${level}`;
  return style('bad', text) + (complete ? '' : ` (${printable(stoppedBy(stopped))})`);
}

function satisfied(result: ExploreResult, style: Styler, width: number): string {
  const { level, histories, stopped, prefix, evidence } = result;
  const satisfy = `${histories === 1 ? 'satisfies' : 'satisfy'} the invariant`;
  const all = counted(histories, 'history', 'histories');
  const conclusion = conclude(evidence);
  if (conclusion.kind === 'satisfied') {
    const every = histories === 1 ? 'the only history' : `all ${all}`;
    const proof = `${style('good', `${every} ${satisfy} at ${level}`)}: a proof for this program`;
    return [proof, ...conclusion.assumed.flatMap((each) => wrap(printable(assumedText(each)), width))].join('\n');
  }
  if (conclusion.kind === 'at-fault') return style('warning', conclusion.message);
  const gaps = conclusion.kind === 'unknown' ? conclusion.gaps : [];
  // What was cut off says itself how many histories there were.
  const known = gaps.filter(({ kind }) => kind !== 'cut' && (kind !== 'nothing-looked-at' || stopped === null));
  const others = known.map((gap) => printable(gapText(gap)));
  const some = prefix !== null ? `${all} of prefixes of the program` : stopped === null ? `all ${all}` : all;
  const more = stopped === null ? '' : `, and there are more (${printable(stoppedBy(stopped))})`;
  return style('warning', `unknown at ${level}: ${[...others, `${some} ${satisfy}${more}`].join('; ')}`);
}

function anomalyLines(history: History, width: number, style: Styler): string[] {
  const found = weakestViolation(history, { abortedReads: 'constrained' })?.verdict ?? null;
  if (found === null) return wrap(explainNoViolation(history, { abortedReads: 'constrained' }), width);
  const [title = '', ...meaning] = summarize(found).split(':');
  const sentence = wrap(`${title}:${meaning.join(':')}`, width);
  return [
    ...sentence.map((line, i) => (i === 0 ? style('name', title) + line.slice(title.length) : line)),
    ...formatCycle(history, found, width),
  ];
}
