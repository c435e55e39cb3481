/** What remedies do, as a table: the cheapest that holds first. */
import {
  counted,
  formatCount,
  formatReportTable,
  plain,
  printable,
  type ReportTable,
  type Styler,
  wrap,
} from '../../report/index.ts';
import type { TriedRemedy } from './explore-remedies.ts';
import { remedyText } from './remedies.ts';

/** Without a final line break. */
export function formatRemedies(
  tried: readonly TriedRemedy[],
  { style = plain, width = 80 }: { readonly style?: Styler; readonly width?: number } = {},
): string {
  const table = remediesTable(tried);
  const lines = table.rows.length === 0 ? [] : formatReportTable(table, style);
  return [...lines, ...remedyNotes(tried).flatMap((text) => wrap(text, width))].join('\n');
}

export function remediesTable(tried: readonly TriedRemedy[]): ReportTable {
  return {
    title: 'Remedies',
    head: ['remedy', 'schedules', 'invariant broken', 'errors to handle', 'complete'],
    rows: tried.map((each) => {
      const name = printable(remedyText(each.remedy));
      if (each.kind !== 'explored') return { cells: [name, '-', '-', '-', each.kind], tone: 'bad' };
      const errors = each.notHandled === 0 ? '0' : `${formatCount(each.notHandled)} (${each.errors.join(', ')})`;
      const counts = [formatCount(each.schedules), formatCount(each.invariantBroken), errors];
      const tone = each.holds ? 'good' : each.invariantBroken > 0 ? 'bad' : null;
      return { cells: [name, ...counts, each.complete ? 'yes' : 'no'], tone };
    }),
    note: remedyNotes(tried).join('. '),
  };
}

/** What is suggested, and what the table does not say. */
function remedyNotes(tried: readonly TriedRemedy[]): string[] {
  if (tried.length === 0)
    return [
      'no remedy is known: no failing run has a cycle of reads and writes that a lock, a unique index or a level forbids',
    ];
  const [best] = tried;
  return [
    best?.kind === 'explored' && best.holds
      ? suggestion(best)
      : 'none of these remedies makes the invariant hold in all schedules',
    ...tried.flatMap((each) => {
      const name = remedyText(each.remedy);
      if (each.kind !== 'explored') return [printable(`${each.kind}: ${name}: ${each.reason}`)];
      return each.invariantBroken > 0 ? [] : each.gaps.map((gap) => printable(`unknown: ${name}: ${gap}`));
    }),
  ];
}

function suggestion({ remedy, schedules, notHandled, errors }: Extract<TriedRemedy, { kind: 'explored' }>): string {
  const all = schedules === 1 ? 'the only schedule' : `all ${counted(schedules, 'schedule')}`;
  const holds = `the cheapest that holds in ${all}: ${printable(remedyText(remedy))}`;
  if (notHandled === 0) return holds;
  const what = errors.every((code) => retried.has(code)) ? 'retry' : 'handle';
  return `${holds}; the program must ${what} ${errors.join(' and ')}, with which ${formatCount(notHandled)} of them end`;
}

/** Those that ask for another try. */
const retried: ReadonlySet<string> = new Set(['40001', '40P01', '1213', '1205', '1020']);
