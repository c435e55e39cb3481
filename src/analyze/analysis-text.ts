/** What `moirai analyze` found, for people. */
import { conclude, type Conclusion, gapText } from '../evidence/index.ts';
import { counted, formatTable, printable, type Styler } from '../report/index.ts';
import type { Analysis, TransactionReport } from './analyze.ts';
import type { Anomaly } from './anomaly.ts';
import { changesText, changeText } from './changes.ts';

export interface AnalysisText {
  readonly style: Styler;
  /** Of the programs of the anomalies, then of those of units, in their order; `null`: not written. */
  readonly files: readonly (string | null)[];
  /** How the command line is called: `moirai`, `npx moirai`. */
  readonly invocation: string;
}

export function formatAnalysis(analysis: Analysis, text: AnalysisText): string {
  const { units, transactions, anomalies, unitAnomalies, notUnderstood, evidence } = analysis;
  const missing = notUnderstood.length === 0 ? '' : `; ${counted(notUnderstood.length, 'place')} not understood`;
  const sections = [
    [`${counted(transactions.length, 'transaction')} in ${counted(units, 'unit')}${missing}`],
    notUnderstood.map(({ place, reason }) => `  ${place.file}:${place.line}  ${printable(reason)}`),
    formatTable([
      ['transaction', 'place', 'now', 'weakest safe level', 'smallest change'],
      ...transactions.map(transactionRow),
    ]),
    ...anomalies.map((anomaly, at) => anomalyLines(anomaly, at, text)),
    unitAnomalies.length === 0 ? [] : ['across the statements of a unit: nothing makes them one transaction'],
    ...unitAnomalies.map((anomaly, at) => anomalyLines(anomaly, anomalies.length + at, text)),
    conclusionLines(conclude(evidence), text),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function transactionRow(transaction: TransactionReport): readonly string[] {
  const { name, place, level, isAutocommit, weakest, weakestChanged, changes } = transaction;
  const after = weakestChanged === weakest ? '' : `then ${weakestChanged}`;
  const change = [...changes.map(changeText), ...(after === '' ? [] : [after])].join('; ');
  return [
    printable(name),
    `${place.file}:${place.line}`,
    isAutocommit ? 'autocommit' : level,
    weakest ?? 'not known',
    change === '' ? '-' : change,
  ];
}

function anomalyLines(anomaly: Anomaly, at: number, text: AnalysisText): readonly string[] {
  const { name, statements, status, fix } = anomaly;
  const title = `${at + 1}. ${status.kind === 'confirmed' ? name : `possible: ${name}`}: ${printable(participants(anomaly))}`;
  const file = text.files[at] ?? null;
  return [
    text.style(status.kind === 'confirmed' ? 'bad' : 'warning', title),
    ...statements.map(
      ({ place, sql }) => `   ${place.file}:${place.line}  ${printable(sql.replaceAll(/\s+/g, ' ').trim())}`,
    ),
    `   ${printable(anomalyText(anomaly))}`,
    ...(file === null ? [] : [`   ${text.invocation} explore ${file}`]),
    ...(fix === null ? [] : [`   with ${changesText(fix.changes)}: ${fixText(fix)}`]),
  ];
}

/** `transfer with itself`, `transfer with close, with the changes above` */
export function participants({ transactions, isLeft }: Anomaly): string {
  const who = transactions.length === 1 ? `${transactions[0]} with itself` : transactions.join(' with ');
  return `${who}${isLeft ? ', with the changes above' : ''}`;
}

/** Whether it has run, and what it then shows. */
export function anomalyText({ status }: Anomaly): string {
  if (status.kind === 'possible') return `not confirmed: ${status.reason}`;
  const { violations, schedules, anomaly } = status;
  const what =
    anomaly === 'internal'
      ? 'the final state is that of no serial order'
      : 'the transactions read what no serial order shows them';
  return `confirmed: in ${violations} of ${counted(schedules, 'schedule')} ${what}`;
}

export function fixText({ isProven, schedules }: NonNullable<Anomaly['fix']>): string {
  const explored = schedules === 0 ? '' : `0 of ${counted(schedules, 'schedule')}`;
  if (!isProven) return `${explored}, of these rows`;
  return schedules === 0 ? 'robust' : `${explored}; robust`;
}

function conclusionLines(conclusion: Conclusion, { style }: AnalysisText): readonly string[] {
  switch (conclusion.kind) {
    case 'satisfied':
      return [
        style('good', 'robust: at these levels every schedule of these transactions is serializable'),
        ...conclusion.assumed.map((clause) => `  assumed: ${printable(clause)}`),
      ];
    case 'violated':
      return [];
    case 'unknown':
      return [style('warning', 'unknown:'), ...conclusion.gaps.map((gap) => `  ${printable(gapText(gap))}`)];
    case 'at-fault':
      return [conclusion.message];
  }
}
