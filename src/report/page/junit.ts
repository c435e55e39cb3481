/**
 * Results as JUnit's XML, which CI services read: a test case for each level or history. A violation is a failure, and what is not known an error: neither
 * passes. The elements and attributes that Jenkins, GitLab and Azure agree on; times are left out, as no result depends on one.
 */
import { xmlText } from '../../base/index.ts';
import { printable } from '../display-text.ts';
import { namedReports } from './join-reports.ts';
import type { ReportData, RunPicture } from './report-data.ts';
import { lineOf, stepText } from './step-text.ts';

/** @param suite the command that made the results */
export function formatJunit(reports: readonly ReportData[], suite: string): string {
  const countOf = (kind: ReportData['verdict']['kind']): number =>
    reports.filter(({ verdict }) => verdict.kind === kind).length;
  const counts = attributes({
    name: suite,
    tests: String(reports.length),
    failures: String(countOf('violated')),
    errors: String(countOf('unknown')),
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite${counts}>`,
    ...namedReports(reports).flatMap((report) => caseLines(report, suite)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseLines({ name, ...report }: ReportData & { readonly name: string }, suite: string): string[] {
  const { kind, text } = report.verdict;
  const open = `    <testcase${attributes({ classname: suite, name })}`;
  const element = elements[kind];
  if (element === null) return [`${open}/>`];
  const body = xmlText(bodyLines(report).join('\n'));
  return [
    `${open}>`,
    `      <${element}${attributes({ message: text, type: kind })}>${body}</${element}>`,
    '    </testcase>',
  ];
}

const elements: Readonly<Record<ReportData['verdict']['kind'], 'failure' | 'error' | null>> = {
  violated: 'failure',
  unknown: 'error',
  satisfied: null,
  described: null,
};

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlText(printable(lineOf(value, lengthMax)))}"`)
    .join('');
}

function bodyLines({ verdict, notes, runs }: ReportData): string[] {
  return [verdict.text, ...notes, ...runs.slice(0, runsMax).flatMap(runLines)].map((line) =>
    printable(lineOf(line, lengthMax)),
  );
}

function runLines({ message, cause, cycle, sessions, steps, replay }: RunPicture): string[] {
  return [
    '',
    message,
    ...cause,
    ...cycle.map(({ relation, text }) => `${relation}: ${text}`),
    ...steps.map((step) => `${sessions[step.session]}: ${stepText(step)}`),
    ...(replay === null ? [] : [`replay: ${replay}`]),
  ];
}

/** Services cut long texts in the middle of a line, or refuse the file. */
const runsMax = 5;
const lengthMax = 2_000;
