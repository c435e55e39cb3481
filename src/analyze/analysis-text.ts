/** What `moirai analyze` found, for people. */
import { conclude, type Conclusion, gapText } from '../evidence/index.ts';
import { counted, formatTable, printable, type Styler } from '../report/index.ts';
import type { Analysis, TransactionReport } from './analyze.ts';
import type { Anomaly, Fix } from './anomaly.ts';
import { meaningOf } from './anomaly-meaning.ts';
import { changesOfTransaction, changesText } from './changes.ts';
import { type AnomalyRun, type CodeReport, differenceText } from './code/code-report.ts';
import type { AnomalyKind } from './witness-definition.ts';

export interface AnalysisText {
  readonly style: Styler;
  /** Of the programs of the anomalies, then of those of units, in their order; `null`: not written. */
  readonly files: readonly (string | null)[];
  /** How the command line is called: `moirai`, `npx moirai`. */
  readonly invocation: string;
}

export function formatAnalysis(analysis: Analysis, text: AnalysisText): string {
  const { units, transactions, anomalies, unitAnomalies, notUnderstood, assumed, leftOut, evidence, code } = analysis;
  const conclusion = conclude(evidence);
  const missing = notUnderstood.length === 0 ? '' : `; ${counted(notUnderstood.length, 'place')} not understood`;
  const sections = [
    [`${counted(transactions.length, 'transaction')} in ${counted(units, 'unit')}${missing}`],
    notUnderstood.map(({ place, reason }) => `  ${place.file}:${place.line}  ${printable(reason)}`),
    transactions.length === 0
      ? []
      : formatTable([tableHead, ...transactions.map((each) => transactionRow(each).map(printable))]),
    ...anomalies.map((anomaly, at) => anomalyLines(anomaly, at, code, text)),
    unitAnomalies.length === 0 ? [] : ['across the statements of a unit: nothing makes them one transaction'],
    ...unitAnomalies.map((anomaly, at) => anomalyLines(anomaly, anomalies.length + at, code, text)),
    code === undefined ? [] : codeLines(code),
    conclusionLines(conclusion, transactions.length, text),
    // A robust verdict has them among its assumptions.
    conclusion.kind === 'satisfied' && transactions.length > 0 ? [] : [...assumed, ...leftOut].map(assumedLine),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

export const tableHead = ['transaction', 'place', 'now', 'weakest safe level', 'smallest change'];

export function transactionRow(transaction: TransactionReport): readonly string[] {
  const { name, place, level, isAutocommit, weakest, weakestChanged, changes } = transaction;
  const others = changes.length === 0 ? 'with the changes of others ' : '';
  const after = weakestChanged === weakest ? '' : `${others}then ${weakestChanged}`;
  const change = [changesOfTransaction(changes), after].filter((part) => part !== '').join('; ');
  return [
    name,
    `${place.file}:${place.line}`,
    isAutocommit ? 'autocommit' : level,
    weakest ?? 'not known',
    change === '' ? '-' : change,
  ];
}

function anomalyLines(
  anomaly: Anomaly,
  at: number,
  code: CodeReport | undefined,
  text: AnalysisText,
): readonly string[] {
  const { statements, status } = anomaly;
  const title = `${at + 1}. ${printable(anomalyTitle(anomaly))}`;
  const file = text.files[at] ?? null;
  const parts = anomalyParts(anomaly, code?.anomalies[at]);
  return [
    text.style(status.kind === 'confirmed' ? 'bad' : 'warning', title),
    `   ${parts.meaning}`,
    ...statements.map(
      ({ place, sql }) => `   ${place.file}:${place.line}  ${printable(sql.replaceAll(/\s+/g, ' ').trim())}`,
    ),
    `   ${printable(parts.effect)}`,
    ...(parts.code === null ? [] : [`   ${printable(parts.code)}`]),
    ...(file === null ? [] : [`   ${text.invocation} explore ${file}`]),
    ...(parts.fix === null ? [] : [`   ${parts.fix}`]),
  ];
}

/** `lost-update: transfer with itself`. */
export function anomalyTitle(anomaly: Anomaly): string {
  const { name, status } = anomaly;
  return `${status.kind === 'confirmed' ? name : `possible: ${name}`}: ${participants(anomaly)}`;
}

/** What is said of an anomaly, a sentence each. */
export function anomalyParts(
  anomaly: Anomaly,
  code: AnomalyRun | undefined,
): { readonly meaning: string; readonly effect: string; readonly code: string | null; readonly fix: string | null } {
  const { name, fix } = anomaly;
  return {
    meaning: meaningOf(name),
    effect: anomalyText(anomaly),
    code: code === undefined ? null : codeText(code, anomaly),
    fix: fix === null ? null : `with ${fixChanges(anomaly, fix)}: ${fixText(fix)}`,
  };
}

/** Of what is only possible, no retry is asked for: the level at which it is not. */
function fixChanges({ status }: Anomaly, { changes }: Fix): string {
  const text = changesText(changes);
  return status.kind === 'possible' ? text.replaceAll(/, with a retry on \w+/g, '') : text;
}

/** What its units do by their own code, which has none of the changes. */
function codeText(code: AnomalyRun, { isLeft }: Anomaly): string {
  const own = `the application's own code${isLeft ? ', without the changes above' : ''}`;
  switch (code.kind) {
    case 'confirmed':
      return `confirmed by ${own}: in ${code.violations} of ${counted(code.schedules, 'schedule')}`;
    case 'not shown':
      return `not shown by ${own}: ${code.isComplete ? 'all' : 'the first'} ${counted(code.schedules, 'schedule')} have the effect of running them one after the other`;
    case 'not run':
      return `not run by ${own}: ${code.reason}`;
  }
}

function codeLines({ units }: CodeReport): readonly string[] {
  const ran = units.filter(({ reason }) => reason === null);
  const different = ran.flatMap(({ differences }) => differences);
  const told = different.length === 0 ? ', and sent what the source says' : '';
  return [
    `the application's own code: ${ran.length} of ${counted(units.length, 'unit')} ran${ran.length === 0 ? '' : told}`,
    ...units.flatMap(({ name, place, reason }) =>
      reason === null ? [] : [`  ${place.file}:${place.line}  ${printable(`${name} did not run: ${reason}`)}`],
    ),
    ...different.map((one) => `  ${printable(differenceText(one))}`),
  ];
}

/** `transfer with itself`, `transfer with close, with the changes above`, `a with itself and b with itself` */
export function participants({
  transactions,
  alike,
  isLeft,
}: Pick<Anomaly, 'transactions' | 'alike' | 'isLeft'>): string {
  const who = [transactions, ...alike]
    .map((names) => (names.length === 1 ? `${names[0]} with itself` : names.join(' with ')))
    .join(' and ');
  return `${who}${isLeft ? ', with the changes above' : ''}`;
}

/** Whether it has run, and what it then shows. */
export function anomalyText({ status }: Anomaly): string {
  if (status.kind === 'possible') return `not confirmed: ${status.reason}`;
  const { violations, schedules, anomaly } = status;
  return `confirmed: in ${violations} of ${counted(schedules, 'schedule')} ${effectOf[anomaly]} when they run one after the other`;
}

const effectOf: Readonly<Record<AnomalyKind, string>> = {
  internal: 'the database ends as it never does',
  external: 'they read what they never read',
  overwritten: 'both write, one over the other, as they never do',
};

export function fixText({ isProven, schedules }: NonNullable<Anomaly['fix']>): string {
  const explored = schedules === 0 ? '' : `0 of ${counted(schedules, 'schedule')}`;
  if (!isProven) return `${explored}, with these rows`;
  const proven = 'proven for any rows';
  return schedules === 0 ? proven : `${explored}; ${proven}`;
}

function conclusionLines(conclusion: Conclusion, transactions: number, { style }: AnalysisText): readonly string[] {
  switch (conclusion.kind) {
    case 'satisfied':
      if (transactions === 0) return [robustText(transactions)];
      return [style('good', robustText(transactions)), ...conclusion.assumed.map(assumedLine)];
    case 'violated':
      return [];
    case 'unknown':
      return [style('warning', 'unknown:'), ...conclusion.gaps.map((gap) => `  ${printable(gapText(gap))}`)];
    case 'at-fault':
      return [conclusion.message];
  }
}

export function robustText(transactions: number): string {
  return transactions === 0
    ? 'nothing to analyze: the change touches no transaction'
    : 'robust: at these levels every schedule of these transactions is serializable';
}

function assumedLine(clause: string): string {
  return `  assumed: ${printable(clause)}`;
}
