/** `moirai check` of a large history: near-linear algorithms, and evidence from the part of it that shows the violation. */
import {
  checkCompact,
  type CompactLevel,
  type CompactVerdict,
  type CompactViolated,
  levelsOrder,
  readsOf,
} from '../../check/index.ts';
import { monotonicMs, stopText } from '../../base/index.ts';
import { type CompactHistory, INITIAL, type TransactionIndex } from '../../history/index.ts';
import { anomalies, summarize } from '../../isolation/index.ts';
import { formatCount, wrap } from '../../report/index.ts';
import { judgeLists } from './check-lists.ts';
import { type CheckedLevel, type CheckedLevels, checkLevels } from './check-levels.ts';
import { type Answer, type FileReport, type Violation, violationIn } from './check-report.ts';
import type { Host } from '../host.ts';

/** From so many operations on, a check takes seconds, and shows what is under way. */
const operationsReported = 2_000_000;

export interface LargeOptions {
  readonly thinAirReads: 'forbidden' | 'ignored';
  /** As in the report. */
  readonly assumed: readonly string[];
  /** Of all levels together. */
  readonly timeoutMs: number;
  /** What is known so far, before each level and after the last. */
  readonly onReport: (soFar: FileReport) => void;
}

/** @param levels weakest first */
export function judgeLarge(
  file: string,
  history: CompactHistory,
  levels: readonly CompactLevel[],
  host: Pick<Host, 'err'>,
  { thinAirReads, assumed, timeoutMs, onReport }: LargeOptions,
): FileReport {
  if (history.lists !== null) return judgeLists(file, history, levels, { thinAirReads, assumed, onReport }, host);
  const { transactionCount, operationCount } = history;
  const report = (what: string): void => {
    if (operationCount >= operationsReported) host.err(`${file}: ${what}\n`);
  };
  report(`${formatCount(transactionCount)} transactions, ${formatCount(operationCount)} operations read`);
  const endMs = monotonicMs() + timeoutMs;
  const reads = readsOf(history);
  const reportOf = (found: CheckedLevels): FileReport => ({
    file,
    transactionCount,
    operationCount,
    ...found,
    thinAirReads: reads.thinAirCount,
    rest: null,
    cut: null,
    assumed,
  });
  const checkLevel = (level: CompactLevel, left: number): CheckedLevel => {
    report(`checking ${level}`);
    const share = Math.max(0, endMs - monotonicMs()) / left;
    const verdict = checkCompact(history, level, { reads, thinAirReads, timeoutMs: share });
    return {
      answer: answerOf(verdict),
      violation: verdict.kind === 'violated' ? violationOf(history, level, verdict) : null,
    };
  };
  const isBelow = !levels.includes('serializable');
  const above = isBelow ? 'serializable' : null;
  return reportOf(checkLevels(levels, levelsOrder(reads), checkLevel, (soFar) => onReport(reportOf(soFar)), above));
}

function answerOf(verdict: CompactVerdict): Answer {
  if (verdict.kind !== 'unknown') return { kind: verdict.kind, text: verdict.kind };
  if (verdict.reason === 'time-limit') return { kind: 'unknown', text: `unknown: ${stopText('time')}` };
  if (verdict.reason !== 'not-searched')
    return {
      kind: 'unknown',
      text: summarize({ kind: 'unknown', reason: verdict.reason }),
      lacksTimes: verdict.reason === 'missing-times',
    };
  return { kind: 'unknown', text: 'unknown: not searched in a history of this size or kind yet' };
}

function violationOf(history: CompactHistory, level: CompactLevel, verdict: CompactViolated): Violation {
  const { evidence, anomaly, proof } = verdict;
  if (evidence !== null) return violationIn(evidence.history, level, evidence.verdict);
  const name = (t: TransactionIndex): string => (t === INITIAL ? 'initial' : history.names.id(t));
  const relations = { so: 'so', wr: 'wr', forced: 'ww' } as const;
  const cycle =
    proof?.cycle ?? verdict.cycle.map(({ from, to, relation }) => ({ from, to, relation: relations[relation] }));
  const edges = cycle.map(({ from, to, relation }) => ({ from: name(from), to: name(to), relation }));
  const title = `${anomalies[anomaly].title}: ${anomalies[anomaly].meaning}`;
  return {
    level,
    title,
    json: {
      level,
      anomaly,
      transactions: edges.map(({ from }) => from),
      cycle: edges.map((edge) => ({ ...edge, key: null })),
    },
    drawing: {
      nodes: edges.map(({ from }) => ({ id: from, lines: [from] })),
      edges: edges.map((edge) => ({ ...edge, key: null })),
    },
    lines: (_style, width) => [
      ...wrap(title, width),
      ...wrap(
        cycle.length === 0
          ? 'No part of it that shows the violation is small enough to be shown.'
          : `A cycle of ${cycle.length} transactions: ${edges.map(({ from, relation }) => `${from} -${relation}->`).join(' ')}`,
        width,
      ),
    ],
  };
}
