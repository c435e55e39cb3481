/** What `moirai check` found in one file, whatever the size of the history: for a terminal and as JSON. */
import type { CompactLevel } from '../check/index.ts';
import type { History, Operation, TransactionIndex } from '../history/index.ts';
import { summarize, type Violated } from '../isolation/index.ts';
import {
  counted,
  type CycleDrawing,
  formatCycle,
  formatSessions,
  formatTable,
  type Styler,
  transactionsOf,
  truncate,
  wrap,
} from '../report/index.ts';
import { violationJson } from './json.ts';

export interface Answer {
  readonly kind: 'satisfied' | 'violated' | 'unknown';
  /** `kind`, or why it is unknown. */
  readonly text: string;
}

export interface Violation {
  readonly level: CompactLevel;
  /** An entry of `violations`. */
  readonly json: object;
  readonly lines: (style: Styler, width: number) => string[];
  readonly drawing: Omit<CycleDrawing, 'title'>;
}

export interface FileReport {
  readonly file: string;
  readonly transactionCount: number;
  readonly operationCount: number;
  /** Weakest first. */
  readonly answers: ReadonlyMap<CompactLevel, Answer>;
  /** Of the weakest level that is violated. */
  readonly violation: Violation | null;
}

/** Of a history with more transactions than this, only those of the evidence are shown. */
export const transactionsShownMax = 12;

export const styles = { satisfied: 'good', violated: 'bad', unknown: 'warning' } as const;

/** @param history all of it, or a part that shows the violation */
export function violationIn(history: History, level: CompactLevel, verdict: Violated): Violation {
  const { length } = history.transactions;
  const only = length > transactionsShownMax ? { only: new Set(transactionsOf(verdict)) } : {};
  return {
    level,
    json: violationJson(history, level, verdict),
    lines: (style, width) => [
      ...formatSessions(history, { width, style, ...only }),
      '',
      ...wrap(summarize(verdict), width),
      ...formatCycle(history, verdict, width),
    ],
    drawing: drawingOf(history, verdict),
  };
}

/** A read that no commit order explains is the one edge that there is. */
function drawingOf(history: History, verdict: Violated): Violation['drawing'] {
  const { read, cycle } = verdict;
  const edges = read === undefined ? cycle : [{ from: read.from, to: read.by, relation: 'wr', key: read.key }];
  const idOf = (t: TransactionIndex): string => history.transactions[t]?.id ?? 'initial';
  const nodes = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  return {
    nodes: nodes.map((t) => ({
      id: idOf(t),
      lines: [idOf(t), ...(history.transactions[t]?.operations ?? []).map(formatOperation)],
    })),
    edges: edges.map(({ from, to, relation, key = null }) => ({ from: idOf(from), to: idOf(to), relation, key })),
  };
}

function formatOperation({ kind, key, value }: Operation): string {
  return truncate(`${kind} ${key} = ${JSON.stringify(value)}`, 60);
}

export function strongest({ answers }: FileReport): CompactLevel | null {
  return [...answers].findLast(([, { kind }]) => kind === 'satisfied')?.[0] ?? null;
}

export function formatReport(
  report: FileReport,
  { style, width }: { readonly style: Styler; readonly width: number },
): string {
  const { file, transactionCount, operationCount, answers, violation } = report;
  const levels = formatTable([...answers].map(([level, { text }]) => [level, text]));
  return [
    `${style('name', file)}: ${counted(transactionCount, 'transaction')}, ${counted(operationCount, 'operation')}`,
    ...levels.map((line, i) => style(styles[[...answers.values()][i]?.kind ?? 'unknown'], line)),
    `strongest level: ${strongest(report) ?? 'none'}`,
    ...(violation === null ? [] : ['', ...violation.lines(style, width)]),
  ].join('\n');
}

export function reportJson(report: FileReport): object {
  const { file, transactionCount, operationCount, answers, violation } = report;
  return {
    file,
    transactions: transactionCount,
    operations: operationCount,
    levels: Object.fromEntries([...answers].map(([level, { kind }]) => [level, kind])),
    strongest: strongest(report),
    violations: violation === null ? [] : [violation.json],
  };
}
