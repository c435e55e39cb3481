/** Values, steps and reads in words. Whatever comes from data passes `shown`: control characters become escapes. */
import type { PictureStep, RunPicture } from '../src/report/index.ts';
// Not through the door: what stands behind it runs on Node alone.
import { printable } from '../src/report/display-text.ts';

type Value = PictureStep['writes'][number]['value'];
type Read = PictureStep['reads'][number];

/** What is longer is cut, and shown whole where the step is described. */
const lengthMax = 300;

export function shown(text: string, limit = lengthMax): string {
  const cut =
    text.length <= limit ? text : `${text.slice(0, limit)}... (${text.length.toLocaleString('en')} characters)`;
  return printable(cut);
}

/** SQL on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** A statement with its own lines, without the indentation that all of them share. */
export function statementText(sql: string): string {
  const [first = '', ...rest] = sql.trim().slice(0, statementMax).split('\n');
  const indents = rest.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const shared = Math.min(...indents);
  const lines = [first, ...rest.map((line) => line.slice(Math.min(shared, line.length)))];
  const cut = sql.length <= statementMax ? '' : `\n... (${sql.length.toLocaleString('en')} characters)`;
  return lines.map((line) => printable(line.trimEnd())).join('\n') + cut;
}

const statementMax = 20_000;

/** Of a row the columns: `balance 50`. @param columns only these; `null`: all */
export function valueText(value: Value, columns: ReadonlySet<string> | null = null): string {
  if (value === null) return 'nothing';
  if (typeof value !== 'object' || Array.isArray(value)) return shown(JSON.stringify(value));
  const entries = Object.entries(value).filter(([column]) => columns === null || columns.has(column));
  return shown(entries.map(([column, each]) => `${column} ${JSON.stringify(each)}`).join(', '));
}

/** In a run of variables values are texts already. */
export function valueIn({ state }: RunPicture, value: Value, columns: ReadonlySet<string> | null = null): string {
  return state === 'values' && typeof value === 'string' ? shown(value) : valueText(value, columns);
}

/** What a step receives and sends. */
export function messagesAt({ messages }: RunPicture, at: number): string[] {
  const texts = (verb: string, among: RunPicture['messages']): string[] => {
    const found = [...new Set(among.map(({ text }) => shown(text)))];
    return found.length === 0 ? [] : [`${verb} ${found.join(', ')}`];
  };
  return [
    ...texts(
      'receives',
      messages.filter(({ to }) => to === at),
    ),
    ...texts(
      'sends',
      messages.filter(({ from }) => from === at),
    ),
  ];
}

/** The columns of each key whose values differ in the run; `null` where all are shown. */
export function columnsThatDiffer(run: RunPicture): (key: string) => ReadonlySet<string> | null {
  const values = new Map<string, Value[]>();
  const all = [
    ...run.initial,
    ...run.steps.flatMap(({ reads, writes }) => [...reads, ...writes].map(({ key, value }) => [key, value] as const)),
  ];
  for (const [key, value] of all) values.set(key, [...(values.get(key) ?? []), value]);
  const columns = new Map([...values].map(([key, each]) => [key, differing(each) ?? besidesKey(key, each)]));
  return (key) => columns.get(key) ?? null;
}

/** Of one version all columns but the primary key, which the name of the row has. */
function besidesKey(key: string, values: readonly Value[]): ReadonlySet<string> | null {
  const last = values.at(-1) ?? null;
  if (typeof last !== 'object' || last === null || Array.isArray(last)) return null;
  const parts = new Set(key.split('/').slice(1));
  const found = Object.entries(last).filter(
    ([, each]) => !parts.has(typeof each === 'string' ? each : JSON.stringify(each)),
  );
  return found.length === 0 ? null : new Set(found.map(([column]) => column));
}

function differing(values: readonly Value[]): ReadonlySet<string> | null {
  const rows = values.filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  const texts = new Map<string, Set<string>>();
  for (const row of rows)
    for (const [column, each] of Object.entries(row as object))
      texts.set(column, (texts.get(column) ?? new Set()).add(JSON.stringify(each)));
  const found = [...texts].filter(([, different]) => different.size > 1).map(([column]) => column);
  return found.length === 0 ? null : new Set(found);
}

export function stepTitle(step: PictureStep): string {
  const text = oneLine(step.text);
  if (step.part === 'begin') return `${text} begins`;
  return text;
}

/** For screen readers and the line of the stepper: who does what, and what comes of it. */
export function stepSentence(run: RunPicture, at: number): string {
  const step = run.steps[at];
  if (step === undefined) return 'Before the first step';
  const who = shown(run.sessions[step.session] ?? '');
  const outcome = step.outcome === '' ? '' : ` → ${shown(oneLine(step.outcome), 120)}`;
  const end = step.ends === 'aborted' ? ', aborted' : '';
  return `${who}: ${shown(stepTitle(step), 160)}${outcome}${end}`;
}

/** Whose write a read saw, and whether that was the newest. */
export function readSentence(read: Read): string {
  const from = read.from === null ? 'from the initial state' : `written by ${shown(read.from)}`;
  switch (read.sight) {
    case 'own':
      return 'its own write';
    case 'stale':
      return `${from}; stale: a newer version was committed`;
    case 'dirty':
      return `${from}, which had not committed`;
    case 'current':
      return from;
    case 'unknown':
      return 'of a write that is not drawn, or of one of several';
  }
}
