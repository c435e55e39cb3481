/** What `moirai check` found in one file, whatever the size of the history: for a terminal and as JSON. */
import type { CompactLevel } from '../../check/index.ts';
import type { History, Operation, TransactionIndex } from '../../history/index.ts';
import { exampleOf, summarize, type Violated } from '../../isolation/index.ts';
import {
  counted,
  type CycleDrawing,
  formatCount,
  formatCycle,
  formatSessions,
  formatTable,
  type RunPicture,
  type Styler,
  transactionsOf,
  truncate,
  violationPicture,
  wrap,
} from '../../report/index.ts';
import { violationJson } from '../output/json.ts';

export interface ReportJson {
  readonly [field: string]: unknown;
  readonly levels: object;
  readonly violations: readonly object[];
  readonly unknown: object;
}

export interface Answer {
  readonly kind: 'satisfied' | 'violated' | 'unknown';
  /** `kind`, or why it is unknown. */
  readonly text: string;
  /** It is unknown because the level is about times, and the history has none: nothing was left undone. */
  readonly lacksTimes?: boolean;
}

export interface Violation {
  readonly level: CompactLevel;
  /** The anomaly and what it means. */
  readonly title: string;
  /** An entry of `violations`. */
  readonly json: object;
  readonly lines: (style: Styler, width: number) => string[];
  readonly drawing: Omit<CycleDrawing, 'title'>;
  /** For the HTML report. */
  readonly picture: () => RunPicture;
}

export interface FileReport {
  readonly file: string;
  readonly transactionCount: number;
  readonly operationCount: number;
  /** Weakest first. */
  readonly answers: ReadonlyMap<CompactLevel, Answer>;
  /** Of the weakest level that is violated. */
  readonly violation: Violation | null;
  /** Reads of values that no transaction wrote. */
  readonly thinAirReads: number;
  /** The same without those reads, where they are what rules out the weakest level. */
  readonly rest: FileReport | null;
  /** Where and how the file was cut. `null`: it was not. */
  readonly cut: string | null;
  /** What a level that is satisfied takes for granted, each as a clause. */
  readonly assumed: readonly string[];
}

/** Of a history with more transactions than this, only those of the evidence are shown. */
export const transactionsShownMax = 12;

export const styles = { satisfied: 'good', violated: 'bad', unknown: 'warning' } as const;

/** @param history all of it, or a part that shows the violation */
export function violationIn(history: History, level: CompactLevel, verdict: Violated): Violation {
  const { length } = history.transactions;
  const only: { readonly only?: ReadonlySet<TransactionIndex> } =
    length > transactionsShownMax ? { only: new Set(transactionsOf(verdict)) } : {};
  return {
    level,
    title: summarize(verdict),
    json: violationJson(history, level, verdict),
    lines: (style, width) => [
      ...formatSessions(history, { width, style, ...only }),
      '',
      ...wrap(summarize(verdict), width),
      ...formatCycle(history, verdict, width),
    ],
    drawing: drawingOf(history, verdict),
    picture: () =>
      violationPicture(history, verdict, {
        message: summarize(verdict),
        only: [...(only.only ?? history.transactions.keys())],
      }),
  };
}

/** A read that no commit order explains is the one edge that there is. */
function drawingOf(history: History, verdict: Violated): Violation['drawing'] {
  const { read, cycle } = exampleOf(verdict);
  const edges =
    read === undefined
      ? cycle
      : read.kind === 'thin-air-read'
        ? []
        : [{ from: read.from, to: read.by, relation: 'wr', key: read.key }];
  const idOf = (t: TransactionIndex): string => history.transactions[t]?.id ?? 'initial';
  const nodes = [...new Set(read === undefined ? edges.flatMap(({ from, to }) => [from, to]) : [read.from, read.by])];
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

/** What a report says beside its levels, a sentence each: without the violation. */
export function notesOf(report: FileReport): string[] {
  const { cut, assumed, rest } = report;
  return [
    ...(cut === null ? [] : cutLines(cut, Infinity)),
    ...assumed.map((clause) => `assumed: ${clause}`),
    ...(rest === null ? [] : restLines(report, rest, Infinity)),
  ];
}

export function strongest({ answers }: FileReport): CompactLevel | null {
  return [...answers].findLast(([, { kind }]) => kind === 'satisfied')?.[0] ?? null;
}

export function formatReport(
  report: FileReport,
  { style, width }: { readonly style: Styler; readonly width: number },
): string {
  const { file, transactionCount, operationCount, answers, violation, rest, cut, assumed } = report;
  const levels = formatTable([...answers].map(([level, { text }]) => [level, text]));
  return [
    `${style('name', file)}: ${sizeText(transactionCount, operationCount)}`,
    ...levels.map((line, i) => style(styles[[...answers.values()][i]?.kind ?? 'unknown'], line)),
    `strongest level: ${strongest(report) ?? ([...answers.values()].some(isUnknown) ? 'unknown' : 'none')}`,
    ...(cut === null ? [] : cutLines(cut, width)),
    ...assumed.map((clause) => `assumed: ${clause}`),
    ...(violation === null ? [] : ['', ...violation.lines(style, width)]),
    ...(rest === null ? [] : ['', ...restLines(report, rest, width)]),
  ].join('\n');
}

/** A history of no transaction is refused: one that was read has some. */
export function sizeText(transactionCount: number, operationCount: number): string {
  if (transactionCount === 0) return 'not read to its end';
  return `${counted(transactionCount, 'transaction')}, ${counted(operationCount, 'operation')}`;
}

function isUnknown({ kind }: Answer): boolean {
  return kind === 'unknown';
}

/** A history that was cut, and what is left of it violates a level. */
export function cutLines(cut: string, width: number): string[] {
  return [
    ...wrap(`the history was cut: ${cut}`, width),
    ...wrap(
      'what is left of it is judged: what is missing may violate more, and is taken to write no value again',
      width,
    ),
  ];
}

/** What the history is at without its thin-air reads: the fault of a recorder may hide one of the database. */
function restLines({ thinAirReads }: FileReport, rest: FileReport, width: number): string[] {
  const { violation } = rest;
  const reads = `Without ${thinAirReads === 1 ? 'this read' : `the ${formatCount(thinAirReads)} thin-air reads`}`;
  const level = strongest(rest) ?? 'none';
  return [
    ...wrap(`${reads} (--ignore-thin-air-reads) the strongest level is ${level}.`, width),
    ...(violation === null ? [] : wrap(`${violation.level} is violated: ${violation.title}`, width)),
  ];
}

/** Why a level is unknown, by level. */
function unknownsOf({ answers }: FileReport): Record<string, string> {
  const unknown = [...answers].filter(([, { kind }]) => kind === 'unknown');
  return Object.fromEntries(unknown.map(([level, { text }]) => [level, text.replace(/^unknown: /, '')]));
}

export function reportJson(report: FileReport): ReportJson {
  const { file, transactionCount, operationCount, answers, violation, thinAirReads, rest, cut, assumed } = report;
  return {
    file,
    transactions: transactionCount,
    operations: operationCount,
    levels: Object.fromEntries([...answers].map(([level, { kind }]) => [level, kind])),
    strongest: strongest(report),
    violations: violation === null ? [] : [violation.json],
    unknown: unknownsOf(report),
    assumed,
    ...(thinAirReads === 0 ? {} : { thinAirReads }),
    ...(cut === null ? {} : { cut }),
    ...(rest === null ? {} : { withoutThinAirReads: restJson(rest) }),
  };
}

function restJson(rest: FileReport): object {
  const { levels, violations, unknown } = reportJson(rest);
  return { levels, strongest: strongest(rest), violations, unknown };
}
