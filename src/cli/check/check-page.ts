/** What `moirai check` found, for the HTML report. */
import type { CompactLevel } from '../../check/index.ts';
import { counted, formatCount, type ReportData, type ReportTable } from '../../report/index.ts';
import type { Checked, CheckedFile, CheckedPage } from './check-file.ts';
import { type Answer, styles } from './check-report.ts';

export interface CheckPage {
  readonly heading: string;
  /** `null`: no level was asked for. */
  readonly level: CompactLevel | null;
  /** What follows for the level that was asked for. */
  readonly kind: ReportData['verdict']['kind'];
  /** How many histories have which answer, as text, and what is assumed. */
  readonly summary: string;
  readonly assumed: readonly string[];
}

/** Violations of more histories are in the table alone. */
const picturesMax = 50;

export function checkPage(
  files: readonly CheckedFile[],
  { heading, level, kind, summary, assumed }: CheckPage,
): ReportData {
  const [only] = files;
  const isOne = files.length === 1 && only?.kind === 'checked';
  const isOneRefused = files.length === 1 && only?.kind === 'refused';
  const pictures = files.flatMap((file) => {
    const picture = violationOf(file)?.picture;
    return picture === undefined ? [] : [isOne ? picture : { ...picture, count: file.file }];
  });
  const left = pictures.length - picturesMax;
  return {
    heading,
    database: isOne ? (only.page?.size ?? '') : counted(files.length, 'history', 'histories'),
    verdict: { kind, text: isOne ? verdictText(only, level) : isOneRefused ? only.message : summary },
    notes: [
      ...(isOne ? (only.page?.notes ?? []) : assumed),
      ...(left > 0 ? [`${formatCount(left)} more violations are in the table and not drawn`] : []),
    ],
    tables: [isOne ? levelsTable(only) : historiesTable(files, level)],
    runs: pictures.slice(0, picturesMax),
  };
}

function violationOf(file: CheckedFile): CheckedPage['violation'] {
  return file.kind === 'checked' ? (file.page?.violation ?? null) : null;
}

/** The message stands at the end: below it the page says why. */
function verdictText(checked: Checked, level: CompactLevel | null): string {
  const { answers } = checked;
  const violation = violationOf(checked);
  const isViolated = violation === null ? '' : `; ${violation.level} is violated: ${violation.picture.message}`;
  if (level === null) return `${strongestText(checked)}${isViolated}`;
  const answer = answers[level];
  switch (answer?.kind) {
    case 'satisfied':
      return `the history is at ${level}`;
    case 'violated':
      return `the history is not at ${level}${isViolated}`;
    case 'unknown':
    case undefined:
      return `${level}: ${answer?.text ?? 'unknown'}`;
  }
}

function strongestText({ strongest, answers }: Checked): string {
  if (strongest !== null) return `the strongest level is ${strongest}`;
  const isKnown = Object.values(answers).every(({ kind }) => kind !== 'unknown');
  return isKnown ? 'the history is at no level' : 'the strongest level is not known';
}

function levelsTable({ answers }: Checked): ReportTable {
  const rows = Object.entries(answers).map(([level, answer]) => ({
    cells: [level, answer.text],
    tone: toneOf(answer),
  }));
  return { title: 'Levels', head: ['level', 'answer'], rows, note: null };
}

function toneOf({ kind }: Answer): ReportTable['rows'][number]['tone'] {
  const tone = styles[kind];
  return tone === 'warning' ? null : tone;
}

function historiesTable(files: readonly CheckedFile[], level: CompactLevel | null): ReportTable {
  const rows = files.map((file): ReportTable['rows'][number] => {
    if (file.kind === 'refused') return { cells: [file.file, file.message, ''], tone: null };
    const violation = violationOf(file);
    const why = violation === null ? '' : `${violation.level}: ${violation.picture.message}`;
    const answer = level === null ? undefined : file.answers[level];
    const text = level === null ? (file.strongest ?? 'none') : (answer?.text ?? 'unknown');
    return { cells: [file.file, text, why], tone: answer === undefined ? null : toneOf(answer) };
  });
  const asked = level === null ? 'strongest level' : `at ${level}`;
  return { title: 'Histories', head: ['history', asked, 'weakest level that is violated'], rows, note: null };
}
