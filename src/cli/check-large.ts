/** `moirai check` of a large history: near-linear algorithms, and evidence from the part of it that shows the violation. */
import {
  checkCompact,
  type CompactLevel,
  type CompactVerdict,
  type CompactViolated,
  readsOf,
  refuseThinAir,
} from '../check/index.ts';
import { type CompactHistory, INITIAL, type TransactionIndex } from '../history/index.ts';
import { anomalies, summarize } from '../isolation/index.ts';
import { formatCount, wrap } from '../report/index.ts';
import { judgeLists } from './check-lists.ts';
import { type Answer, type FileReport, type Violation, violationIn } from './check-report.ts';
import type { Host } from './host.ts';

/** From so many operations on, a check takes seconds, and it is told what is under way. */
const operationsTold = 2_000_000;

/** @param levels weakest first @param timeoutMs of the search of one level @throws InputError `history/thin-air-read` */
export function judgeLarge(
  file: string,
  history: CompactHistory,
  levels: readonly CompactLevel[],
  host: Pick<Host, 'err'>,
  timeoutMs: number,
): FileReport {
  if (history.lists !== null) return judgeLists(file, history, levels, host);
  const { transactionCount, operationCount } = history;
  const tell = (what: string): void => {
    if (operationCount >= operationsTold) host.err(`${file}: ${what}\n`);
  };
  tell(`${formatCount(transactionCount)} transactions, ${formatCount(operationCount)} operations read`);
  const answers = new Map<CompactLevel, Answer>();
  let violation: Violation | null = null;
  const reads = readsOf(history);
  refuseThinAir(history, reads);
  for (const level of levels) {
    if (violation === null) tell(`checking ${level}`);
    const verdict = violation === null ? checkCompact(history, level, { reads, timeoutMs }) : null;
    if (verdict?.kind === 'violated') violation = violationOf(history, level, verdict);
    answers.set(level, verdict === null ? { kind: 'violated', text: 'violated' } : answerOf(verdict));
  }
  return { file, transactionCount, operationCount, answers, violation };
}

function answerOf(verdict: CompactVerdict): Answer {
  if (verdict.kind !== 'unknown') return { kind: verdict.kind, text: verdict.kind };
  if (verdict.reason !== 'not-searched')
    return { kind: 'unknown', text: summarize({ kind: 'unknown', reason: verdict.reason }) };
  return { kind: 'unknown', text: 'unknown: not searched in a history of this size or kind yet' };
}

function violationOf(history: CompactHistory, level: CompactLevel, verdict: CompactViolated): Violation {
  const { evidence, anomaly, cycle } = verdict;
  if (evidence !== null) return violationIn(evidence.history, level, evidence.verdict);
  const name = (t: TransactionIndex): string => (t === INITIAL ? 'initial' : history.names.id(t));
  const relations = { so: 'so', wr: 'wr', forced: 'ww' } as const;
  const edges = cycle.map((edge) => ({ from: name(edge.from), to: name(edge.to), relation: relations[edge.relation] }));
  return {
    level,
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
      ...wrap(`${anomalies[anomaly].title}: ${anomalies[anomaly].meaning}`, width),
      ...wrap(
        cycle.length === 0
          ? 'No part of it that shows the violation is small enough to be shown.'
          : `A cycle of ${cycle.length} transactions: ${edges.map(({ from, relation }) => `${from} -${relation}->`).join(' ')}`,
        width,
      ),
    ],
  };
}
