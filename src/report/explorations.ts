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
export function levelsText({ broken, failed, all }: LevelsThatFail, weakest: string | null): string {
  const fails =
    broken.length > 0
      ? [`the invariant breaks at ${levelsNamed(broken, all)}`]
      : failed.length > 0
        ? [`a session ends with an error at ${levelsNamed(failed, all)}`]
        : [];
  const known = [...fails, ...(weakest === null ? [] : [weakest])];
  return known.length === 0 ? 'unknown at every level' : known.join('; ');
}

export interface LevelsThatFail {
  /** Where the invariant does not hold. */
  readonly broken: readonly string[];
  /** Where an error ends a session. */
  readonly failed: readonly string[];
  /** How many levels were run. */
  readonly all: number;
}

/** Where every violation is one of the invariant. */
export function brokenLevels(
  levels: readonly { readonly level: string; readonly violations: number }[],
): LevelsThatFail {
  const broken = levels.filter(({ violations }) => violations > 0).map(({ level }) => level);
  return { broken, failed: [], all: levels.length };
}

function levelsNamed(levels: readonly string[], all: number): string {
  const [only] = levels;
  if (levels.length === 1 && only !== undefined) return only;
  return levels.length === all ? `all ${counted(all, 'level')}` : `${levels.length} of ${counted(all, 'level')}`;
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
