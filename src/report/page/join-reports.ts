/** Several results on one page: those of `--json` that stand in one array, a level or a history each. */
import { counted } from '../../base/index.ts';
import type { ReportData, ReportTable } from './report-data.ts';

/** @param heading of the page, where the results have several */
export function joinReports(reports: readonly ReportData[], heading: string): ReportData {
  const [first, ...others] = reports;
  if (first !== undefined && others.length === 0) return first;
  const isSame = areOfOneCommand(reports);
  const named = namedReports(reports);
  const size = counted(reports.length, 'result');
  return {
    heading: isSame && first !== undefined ? first.heading : heading,
    database: size,
    verdict: verdictOf(reports, size),
    notes: [...new Set(reports.flatMap(({ notes }) => notes))],
    tables: [
      {
        title: 'Results',
        head: [isSame ? 'database' : 'command', 'result'],
        rows: named.map(({ name, verdict: { kind, text } }) => ({ cells: [name, text], tone: tones[kind] })),
        note: null,
      },
      ...named.flatMap(({ name, tables }) => tables.map((table) => ({ ...table, title: `${table.title}: ${name}` }))),
    ],
    runs: named.flatMap(({ name, runs }) =>
      runs.map((run) => ({ ...run, count: run.count === null ? name : `${run.count}, ${name}` })),
    ),
  };
}

/** What tells one result from the others: the database of one command's, or the command. */
export function namedReports(reports: readonly ReportData[]): (ReportData & { readonly name: string })[] {
  const isSame = areOfOneCommand(reports);
  return reports.map((each) => ({ ...each, name: isSame ? each.database : each.heading }));
}

function areOfOneCommand(reports: readonly ReportData[]): boolean {
  return reports.every(({ heading }) => heading === reports[0]?.heading);
}

const tones: Readonly<Record<ReportData['verdict']['kind'], ReportTable['rows'][number]['tone']>> = {
  violated: 'bad',
  satisfied: 'good',
  unknown: null,
  described: null,
};

/** The worst of all; a result that is described has no part in it. */
function verdictOf(reports: readonly ReportData[], size: string): ReportData['verdict'] {
  const countOf = (kind: ReportData['verdict']['kind']): number =>
    reports.filter(({ verdict }) => verdict.kind === kind).length;
  const parts = worstFirst.flatMap((kind) => (countOf(kind) === 0 ? [] : [`${kind} ${countOf(kind)}`]));
  const kind = worstFirst.find((each) => countOf(each) > 0) ?? 'described';
  return { kind, text: `${size}: ${parts.join(', ')}` };
}

const worstFirst = ['violated', 'unknown', 'satisfied', 'described'] as const;
