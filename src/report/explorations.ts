/** What explorations of histories and of schedules have in common as text: marks, several levels as a table, round numbers. */
import { counted, formatCount } from '../base/index.ts';
import { printable } from './display-text.ts';
import type { Styler } from './style.ts';
import { formatTable } from './table.ts';

/** A line for each mark: in how many of them it held. */
export function formatMarks(marks: ReadonlyMap<string, number>, noun: string, plural?: string): string[] {
  return formatTable(
    [...marks].map(([name, held]) => [`sometimes "${printable(name)}"`, `in ${counted(held, noun, plural)}`]),
  );
}

export interface ExploredLevel {
  readonly level: string;
  /** By the heads of the table. */
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: number;
  readonly complete: boolean;
}

/** A row a level, weakest first, and the weakest at which all of them (`histories`, `schedules`) satisfy the invariant. */
export function formatLevels(levels: readonly ExploredLevel[], what: string, style: Styler): string {
  const [head = '', ...rows] = formatTable([
    ['level', ...Object.keys(levels[0]?.counts ?? {}), 'violations', 'complete'],
    ...levels.map(({ level, counts, violations, complete }) => [
      level,
      ...[...Object.values(counts), violations].map(formatCount),
      complete ? 'yes' : 'no',
    ]),
  ]);
  const weakest = levels.find(({ violations, complete }) => violations === 0 && complete);
  // A level of which not everything is known.
  const isOpen = levels.some(({ violations, complete }) => violations === 0 && !complete);
  return [
    style('name', head),
    ...rows.map((row, i) => ((levels[i]?.violations ?? 0) > 0 ? style('bad', row) : row)),
    weakest !== undefined
      ? `the weakest level at which all ${what} ${isOpen ? 'are known to ' : ''}satisfy the invariant: ${weakest.level}`
      : isOpen
        ? `at no level are all ${what} known to satisfy the invariant`
        : `at no level do all ${what} satisfy the invariant`,
  ].join('\n');
}

/** An estimate, with two digits. */
export function formatEstimated(count: number): string {
  return formatCount(Number(count.toPrecision(2)));
}
