/** What `moirai analyze` found, for the HTML report: a row a transaction, and each anomaly with its statements and its change. */
import { conclude, type Conclusion, gapText } from '../evidence/index.ts';
import { counted, emptyRun, type ReportData, type ReportTable, type RunPicture } from '../report/index.ts';
import type { Analysis } from './analyze.ts';
import {
  type AnalysisText,
  anomalyParts,
  anomalyTitle,
  robustText,
  tableHead,
  transactionRow,
} from './analysis-text.ts';
import type { Anomaly } from './anomaly.ts';

export interface AnalysisReport extends Omit<AnalysisText, 'style'> {
  readonly heading: string;
  readonly database: string;
}

export function analysisReport(analysis: Analysis, text: AnalysisReport): ReportData {
  const { units, transactions, anomalies, unitAnomalies, notUnderstood, assumed, leftOut, evidence } = analysis;
  const conclusion = conclude(evidence);
  const all = [...anomalies, ...unitAnomalies];
  const size = `${counted(transactions.length, 'transaction')} in ${counted(units, 'unit')}`;
  const notes = conclusion.kind === 'satisfied' ? conclusion.assumed : [...assumed, ...leftOut];
  return {
    heading: text.heading,
    database: text.database,
    verdict: {
      kind: conclusion.kind === 'at-fault' ? 'unknown' : conclusion.kind,
      text: verdictText(conclusion, all, transactions.length),
    },
    notes: [size, ...notes.map((clause) => `assumed: ${clause}`)],
    tables: [
      ...(transactions.length === 0 ? [] : [transactionsTable(analysis)]),
      ...(notUnderstood.length === 0 ? [] : [notUnderstoodTable(notUnderstood)]),
    ],
    runs: all.map((anomaly, at) => anomalyRun(anomaly, { ...text, analysis, at })),
  };
}

function verdictText(conclusion: Conclusion, anomalies: readonly Anomaly[], transactions: number): string {
  switch (conclusion.kind) {
    case 'satisfied':
      return robustText(transactions);
    case 'violated': {
      const confirmed = anomalies.filter(({ status }) => status.kind === 'confirmed');
      const [first] = confirmed;
      const others = confirmed.length < 2 ? '' : `, and ${confirmed.length - 1} more`;
      return `${first === undefined ? 'violated' : anomalyTitle(first)}${others}`;
    }
    case 'unknown':
      return `unknown: ${conclusion.gaps.map(gapText).join('; ')}`;
    case 'at-fault':
      return conclusion.message;
  }
}

function transactionsTable({ transactions }: Analysis): ReportTable {
  const rows = transactions.map((transaction) => ({ cells: transactionRow(transaction), tone: null }));
  return { title: 'Transactions', head: tableHead, rows, note: null };
}

function notUnderstoodTable(places: Analysis['notUnderstood']): ReportTable {
  const rows = places.map(({ place, reason }) => ({ cells: [`${place.file}:${place.line}`, reason], tone: null }));
  return { title: 'Not understood', head: ['place', 'reason'], rows, note: null };
}

/** Without steps: the program of the anomaly has them when it is explored. */
function anomalyRun(
  anomaly: Anomaly,
  { analysis, at, files, invocation }: AnalysisReport & { readonly analysis: Analysis; readonly at: number },
): RunPicture {
  const { meaning, effect, code, fix } = anomalyParts(anomaly, analysis.code?.anomalies[at]);
  const file = files[at] ?? null;
  const statements = anomaly.statements.map(({ place, sql }) => ({
    cells: [`${place.file}:${place.line}`, sql.replaceAll(/\s+/g, ' ').trim()],
    tone: null,
  }));
  return {
    ...emptyRun,
    message: anomalyTitle(anomaly),
    cause: [meaning, effect, ...(code === null ? [] : [code]), ...(fix === null ? [] : [fix])],
    tables: [{ title: 'Statements', head: ['place', 'statement'], rows: statements, note: null }],
    replay: file === null ? null : `${invocation} explore ${file}`,
    sessions: [],
    steps: [],
  };
}
