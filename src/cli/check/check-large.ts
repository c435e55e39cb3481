/** What `moirai check` shows of a level of a large history: a violation in the part of it that is the evidence. */
import type { CompactLevel, CompactVerdict, CompactViolated } from '../../check/index.ts';
import { stopText } from '../../base/index.ts';
import { type CompactHistory, INITIAL, type TransactionIndex } from '../../history/index.ts';
import { anomalies, summarize } from '../../isolation/index.ts';
import { cyclePicture, wrap } from '../../report/index.ts';
import { drawnTransaction } from './drawn-transaction.ts';
import type { CheckedLevel } from './check-levels.ts';
import { type Answer, type Violation, violationIn } from './check-report.ts';

export function shownOfLarge(history: CompactHistory, level: CompactLevel, verdict: CompactVerdict): CheckedLevel {
  const violation = verdict.kind === 'violated' ? violationOf(history, level, verdict) : null;
  return { answer: answerOf(verdict), violation };
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

const notShown = 'No part of it that shows the violation is small enough to be shown.';

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
    picture: () =>
      cyclePicture({
        message: title,
        cause: cycle.length === 0 ? [notShown] : [],
        transactions: cycle.map(({ from }) => drawnTransaction(history, from, [])),
        edges: edges.map((edge) => ({ ...edge, key: null, text: `${edge.from} -${edge.relation}-> ${edge.to}` })),
      }),
    lines: (_style, width) => [
      ...wrap(title, width),
      ...wrap(
        cycle.length === 0
          ? notShown
          : `A cycle of ${cycle.length} transactions: ${edges.map(({ from, relation }) => `${from} -${relation}->`).join(' ')}`,
        width,
      ),
    ],
  };
}
