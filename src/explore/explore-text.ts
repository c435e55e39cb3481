/** What an exploration found, as text: the verdict with its scope first, the smallest counterexample, the next step last. */
import { summarize, explainNoViolation, weakestViolation } from '../isolation/index.ts';
import type { History } from '../history/index.ts';
import {
  counted,
  type CycleDrawing,
  drawHistory,
  formatCount,
  formatCycle,
  formatEstimated,
  formatLevels,
  formatMarks,
  formatSessions,
  plain,
  printable,
  type Styler,
  wrap,
} from '../report/index.ts';
import type { Estimate } from './estimate.ts';
import type { Counterexample, ExploreResult } from './explore.ts';

export interface ExploreText {
  /** Columns of the terminal. Default 80. */
  readonly width?: number;
  readonly style?: Styler;
  /** What replays a counterexample. */
  readonly commandOf?: (replay: string) => string;
}

/** The text of one exploration, without a final line break. */
export function formatExploration(result: ExploreResult, options: ExploreText = {}): string {
  const { style = plain, width = 80 } = options;
  const { counterexamples, marks } = result;
  const lines = [verdict(result, style)];
  const [smallest, ...others] = counterexamples;
  if (smallest !== undefined) {
    lines[0] += `: ${printable(smallest.message)}`;
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
  const levels = results.map(({ level, histories, violations, complete }) => ({
    level,
    counts: { histories },
    violations,
    complete,
  }));
  return formatLevels(levels, 'histories', style);
}

function verdict(result: ExploreResult, style: Styler): string {
  const { divergence, violations } = result;
  if (divergence !== null) return `the program has changed: ${divergence}; what follows is as far as the token leads`;
  return violations > 0 ? violated(result, style) : satisfied(result, style);
}

function violated({ level, histories, violations, complete, stopped, prefix }: ExploreResult, style: Styler): string {
  if (prefix !== null) {
    const end = stopped === 'violation' ? ', and none of fewer does' : ` (${stoppedBy(stopped)})`;
    return style('bad', `a history of ${counted(prefix, 'transaction')} violates the invariant at ${level}${end}`);
  }
  const some = `${formatCount(violations)} of ${counted(histories, 'history', 'histories')}`;
  const text = `${some} ${violations === 1 ? 'violates' : 'violate'} the invariant at ${level}`;
  return style('bad', text) + (complete ? '' : ` (${stoppedBy(stopped)})`);
}

function satisfied({ level, histories, complete, stopped, prefix }: ExploreResult, style: Styler): string {
  const satisfy = `${histories === 1 ? 'satisfies' : 'satisfy'} the invariant`;
  const all = counted(histories, 'history', 'histories');
  if (complete) {
    const every = histories === 1 ? 'the only history' : `all ${all}`;
    return style('good', `${every} ${satisfy} at ${level}`) + ': a proof for this program';
  }
  if (stopped === 'replay') {
    const replayed = 'the history that was replayed';
    const text = histories === 0 ? `is not at ${level}` : `${satisfy} at ${level}; of others nothing is known`;
    return style('warning', `${replayed} ${text}`);
  }
  const some = prefix === null ? all : `${all} of prefixes of the program`;
  return style('warning', `unknown at ${level}: ${some} ${satisfy}, and there are more (${stoppedBy(stopped)})`);
}

function stoppedBy(stopped: ExploreResult['stopped']): string {
  if (typeof stopped === 'object' && stopped !== null) {
    return `session "${printable(stopped.session)}" did not end in time; its last operation: ${printable(stopped.lastOperation)}`;
  }
  switch (stopped) {
    case 'histories':
      return 'stopped by --max-histories';
    case 'time':
      return 'stopped by --max-time';
    case 'violation':
      return 'the first violation ends it';
    case 'search':
      return 'the search for a commit order of one history gave up';
    case 'endless':
      return 'the program does not end on some path: a loop that waits for a value can wait for ever';
    case 'replay':
      return 'one history was replayed';
    case null:
      return 'some are left';
  }
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
