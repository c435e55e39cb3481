/** What explorations of histories and of schedules have in common as text: marks, several levels as a table, round numbers. */
import { counted, formatCount } from '../base/index.ts';
import { printable } from './display-text.ts';
import type { ReportTable } from './page/report-data.ts';
import type { Styler } from './style.ts';
import { formatTable } from './table.ts';

/** A line for each mark: in how many of them it held. */
export function formatMarks(marks: ReadonlyMap<string, number>, noun: string, plural?: string): string[] {
  return formatTable(
    [...marks].map(([name, held]) => [`sometimes "${printable(name)}"`, `in ${counted(held, noun, plural)}`]),
  );
}

/** The same as a table. */
export function marksTable(marks: ReadonlyMap<string, number>, plural: string): ReportTable[] {
  if (marks.size === 0) return [];
  const rows = [...marks].map(([name, held]) => ({ cells: [name, formatCount(held)], tone: toneOf(0, held > 0) }));
  return [{ title: 'What happened sometimes', head: ['what', plural], rows, note: null }];
}

export interface ExploredLevel {
  readonly level: string;
  /** By the heads of the table. */
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: number;
  readonly complete: boolean;
}

/** A row a level, weakest first, and the weakest at which all of them (`histories`, `schedules`) satisfy the invariant. */
export function levelTable(levels: readonly ExploredLevel[], what: string): ReportTable {
  const weakest = levels.find(({ violations, complete }) => violations === 0 && complete);
  // A level of which not everything is known.
  const isOpen = levels.some(({ violations, complete }) => violations === 0 && !complete);
  const note =
    weakest !== undefined
      ? `the weakest level at which all ${what} ${isOpen ? 'are known to ' : ''}satisfy the invariant: ${weakest.level}`
      : isOpen
        ? `at no level are all ${what} known to satisfy the invariant`
        : `at no level do all ${what} satisfy the invariant`;
  return {
    title: 'Levels',
    head: ['level', ...Object.keys(levels[0]?.counts ?? {}), 'violations', 'complete'],
    rows: levels.map(({ level, counts, violations, complete }) => ({
      cells: [level, ...[...Object.values(counts), violations].map(formatCount), complete ? 'yes' : 'no'],
      tone: toneOf(violations, complete),
    })),
    note,
  };
}

/** The verdict on several levels. @param weakest where the invariant holds, as a clause; `null`: it is not said */
export function levelsText({ rows }: ReportTable, weakest: string | null): string {
  const failing = rows.filter(({ tone }) => tone === 'bad').length;
  const fails = failing === 0 ? [] : [`runs fail at ${failing} of ${counted(rows.length, 'level')}`];
  const known = [...fails, ...(weakest === null ? [] : [weakest])];
  return known.length === 0 ? 'unknown at every level' : known.join('; ');
}

/** Of a row. @param isWhole is nothing left to be looked at? */
export function toneOf(violations: number, isWhole: boolean): ReportTable['rows'][number]['tone'] {
  if (violations > 0) return 'bad';
  return isWhole ? 'good' : null;
}

/** Without its note. */
export function formatReportTable({ head, rows }: ReportTable, style: Styler): string[] {
  const [first = '', ...lines] = formatTable([head, ...rows.map(({ cells }) => cells)]);
  return [style('name', first), ...lines.map((line, i) => (rows[i]?.tone === 'bad' ? style('bad', line) : line))];
}

/** An estimate, with two digits. */
export function formatEstimated(count: number): string {
  return formatCount(Number(count.toPrecision(2)));
}
