/**
 * What a command found as Markdown (GitHub's dialect), for the page that a CI service shows of a job: the verdict, why, the command that replays the run,
 * and the run as a sequence diagram, which GitHub and GitLab draw from Mermaid's text.
 */
import { counted } from '../../base/index.ts';
import { mermaidText } from '../cycle-drawing.ts';
import { printable, truncate } from '../display-text.ts';
import type { PictureStep, ReportData, ReportTable, RunPicture } from './report-data.ts';
import { lineOf, stepText } from './step-text.ts';

/** What is beyond these is counted: GitHub takes one MiB of a step. */
const runsMax = 5;
const rowsMax = 100;
const stepsMax = 60;
const lengthMax = 300;
/** Of the text of a step in the diagram. */
const labelMax = 80;

export function formatSummary({ heading, database, verdict, notes, tables, runs }: ReportData): string {
  const more = runs.length - runsMax;
  return [
    `## ${marks[verdict.kind]} ${markdown(verdict.text)}`,
    '',
    [heading, database].flatMap((part) => (part === '' ? [] : [markdown(part)])).join(', on '),
    ...notes.flatMap((note) => ['', markdown(note)]),
    ...tables.flatMap(tableLines),
    ...runs.slice(0, runsMax).flatMap(runLines),
    ...(more > 0 ? ['', `${counted(more, 'more failure')} not shown`] : []),
    '',
    '',
  ].join('\n');
}

const marks: Readonly<Record<ReportData['verdict']['kind'], string>> = {
  violated: '❌',
  satisfied: '✅',
  unknown: '⚠️',
  described: 'ℹ️',
};

function tableLines({ title, head, rows, note }: ReportTable): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.map(markdown).join(' | ')} |`;
  const more = rows.length - rowsMax;
  return [
    '',
    `### ${markdown(title)}`,
    '',
    row(head),
    row(head.map(() => '---')),
    ...rows.slice(0, rowsMax).map(({ cells }) => row(cells)),
    ...(more > 0 ? ['', `${counted(more, 'more row')} not shown`] : []),
    ...(note === null ? [] : ['', markdown(note)]),
  ];
}

function runLines(run: RunPicture): string[] {
  const { message, count, cause, cycle, replay, tables } = run;
  return [
    '',
    `### ${markdown(message)}${count === null ? '' : ` (${markdown(count)})`}`,
    ...cause.flatMap((sentence) => ['', markdown(sentence)]),
    ...(cycle.length === 0
      ? []
      : ['', ...cycle.map(({ relation, text }) => `- ${markdown(relation)}: ${markdown(text)}`)]),
    ...tables.flatMap(tableLines),
    ...(run.steps.length === 0 ? [] : ['', '```mermaid', ...diagramLines(run), '```']),
    ...(replay === null ? [] : ['', '```sh', printable(replay), '```']),
  ];
}

/** Backslashes before what Markdown, HTML or GitHub reads as more than text. */
function markdown(text: string): string {
  return shortened(text).replaceAll(/[\\`*_[\]<>&|#~$]/g, String.raw`\$&`);
}

function shortened(text: string): string {
  return printable(lineOf(text, lengthMax));
}

/** Time goes downwards: a note for each step, a dashed arrow to a read from its writer, a cross for each edge of the cycle. */
function diagramLines(run: RunPicture): string[] {
  const { sessions, steps } = run;
  const more = steps.length - stepsMax;
  return [
    'sequenceDiagram',
    ...sessions.map((name, at) => `  participant s${at} as ${label(name)}`),
    ...steps
      .slice(0, stepsMax)
      .flatMap((step, at) => [
        ...readArrows(run, step),
        ...messageArrows(run, at),
        `  Note over s${step.session}: ${label(stepText(step))}`,
        ...cycleArrows(run, at),
      ]),
    ...(more > 0 ? [`  Note over s0: ${counted(more, 'more step')}`] : []),
  ];
}

function readArrows({ steps }: RunPicture, { session, reads }: PictureStep): string[] {
  return reads.flatMap(({ key, writer, sight }) => {
    const from = writer === null ? undefined : steps[writer]?.session;
    if (from === undefined || from === session) return [];
    return [`  s${from}-->>s${session}: ${label(sight === 'stale' ? `${key}, stale` : key)}`];
  });
}

function messageArrows({ steps, messages }: RunPicture, at: number): string[] {
  return messages.flatMap(({ text, from, to }) =>
    to === at ? [`  s${steps[from]?.session}->>s${steps[at]?.session}: ${label(text)}`] : [],
  );
}

/** Each at the later of its two steps; a read from a writer has its arrow already. */
function cycleArrows({ steps, cycle }: RunPicture, at: number): string[] {
  return cycle.flatMap(({ relation, steps: ends }) => {
    const [from, to] = [ends[0], ends.at(-1)].map((end) => (end === undefined ? undefined : steps[end]?.session));
    const isHere =
      relation !== 'wr' && from !== undefined && to !== undefined && from !== to && Math.max(...ends) === at;
    return isHere ? [`  s${from}-xs${to}: ${label(relation)}`] : [];
  });
}

function label(text: string): string {
  return mermaidText(truncate(shortened(text), labelMax));
}
