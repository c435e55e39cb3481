/** What an exploration found, as text: the verdict with its scope first, the smallest counterexample, the next step last. */
import { summarize, explainNoViolation, weakestViolation } from '../isolation/index.ts';
import type { History } from '../history/index.ts';
import {
  type CycleDrawing,
  drawHistory,
  formatCount,
  formatCycle,
  formatSessions,
  formatTable,
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
  const rows = [...marks].map(([name, held]) => [
    `sometimes "${printable(name)}"`,
    `in ${counts(held, 'history', 'histories')}`,
  ]);
  return [...lines, ...formatTable(rows)].join('\n');
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
  const about = (n: number): string => formatCount(Number(n.toPrecision(2)));
  const inVain = histories < runs * 0.95 ? ` in about ${about(runs)} runs` : '';
  return `${level}: about ${about(histories)} histories to expect${inVain} (+- ${about(runsError)} runs; ${probes} random probes)`;
}

/** Each counterexample as a graph: every transaction, which read saw which write, and the cycle that its level does not explain. */
export function drawCounterexamples({ counterexamples, level }: ExploreResult, title: string): CycleDrawing[] {
  return counterexamples.map(({ history, anomaly, message }) =>
    drawHistory(history, `${title}: ${anomaly ?? 'a violation'} at ${level}: ${message}`, 'constrained'),
  );
}

/** The table of several levels, weakest first, and the weakest at which every history satisfies the invariant. */
export function formatExplorations(results: readonly ExploreResult[], { style = plain }: ExploreText = {}): string {
  const [head = '', ...rows] = formatTable([
    ['level', 'histories', 'violations', 'complete'],
    ...results.map(({ level, histories, violations, complete }) => [
      level,
      formatCount(histories),
      formatCount(violations),
      complete ? 'yes' : 'no',
    ]),
  ]);
  const weakest = results.find(({ violations, complete }) => violations === 0 && complete);
  const proof =
    weakest === undefined
      ? 'at no level do all histories satisfy the invariant'
      : `the weakest level at which all histories satisfy the invariant: ${weakest.level}`;
  return [
    style('name', head),
    ...rows.map((row, i) => ((results[i]?.violations ?? 0) > 0 ? style('bad', row) : row)),
    proof,
  ].join('\n');
}

function verdict(
  { level, histories, violations, complete, stopped, divergence, prefix }: ExploreResult,
  style: Styler,
): string {
  const all = counts(histories, 'history', 'histories');
  if (divergence !== null) return `the program has changed: ${divergence}; what follows is as far as the token leads`;
  if (violations > 0 && prefix !== null)
    return style(
      'bad',
      `a history of ${counts(prefix, 'transaction', 'transactions')} violates the invariant at ${level}` +
        (stopped === 'violation' ? ', and none of fewer does' : ` (${stoppedBy(stopped)})`),
    );
  if (violations > 0)
    return (
      style(
        'bad',
        `${formatCount(violations)} of ${all} ${violations === 1 ? 'violates' : 'violate'} the invariant at ${level}`,
      ) + (complete ? '' : ` (${stoppedBy(stopped)})`)
    );
  if (complete) return style('good', `all ${all} satisfy the invariant at ${level}`) + ': a proof for this program';
  return style(
    'warning',
    `unknown at ${level}: ${all}${prefix === null ? '' : ' of prefixes of the program'} satisfy the invariant, and there are more (${stoppedBy(stopped)})`,
  );
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
    case null:
      return 'one history was replayed';
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

function counts(n: number, one: string, many: string): string {
  return n === 1 ? `1 ${one}` : `${formatCount(n)} ${many}`;
}
