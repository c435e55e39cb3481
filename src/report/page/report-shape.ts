/**
 * Is a value that came from a file what the page draws? The page decides nothing and checks nothing: a field of another shape, or a position beyond
 * the end of its list, would end it in the middle of its work.
 */
import type { Value } from '../../history/index.ts';
import type {
  PictureEdge,
  PictureMessage,
  PictureRead,
  PictureStep,
  PictureTransaction,
  PictureWrite,
  ReportData,
  ReportTable,
  RunPicture,
} from './report-data.ts';

/** The name of the first field that has another shape; `null`: the value is a `ReportData`. */
export function faultInReport(value: unknown): string | null {
  const fault = report(value);
  if (fault !== null) return `report${fault}`;
  const { runs } = value as ReportData; // it has the shape
  const at = runs.findIndex((run) => !positionsOf(run).every(isInside));
  return at < 0 ? null : `report.runs[${at}]`;
}

/** The way to the first field with another shape: `.runs[2].steps`; `null`: the value is a `T`. The second parameter holds no value, only the type. */
type Shape<T> = (value: unknown, type?: T) => string | null;

const text: Shape<string> = (value) => (typeof value === 'string' ? null : '');
const flag: Shape<boolean> = (value) => (typeof value === 'boolean' ? null : '');
const whole: Shape<number> = (value) => (Number.isSafeInteger(value) ? null : '');
const anything: Shape<Value> = (value) => (value === undefined ? '' : null);

function oneOf<T extends string>(...names: readonly T[]): Shape<T> {
  return (value) => (names.some((name) => name === value) ? null : '');
}

function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value) => (value === null ? null : shape(value));
}

function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return '';
    for (const [at, element] of value.entries()) {
      const fault = shape(element);
      if (fault !== null) return `[${at}]${fault}`;
    }
    return null;
  };
}

function pairOf<A, B>(first: Shape<A>, second: Shape<B>): Shape<readonly [A, B]> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== 2) return '';
    return first(value[0]) ?? second(value[1]);
  };
}

function object<T>(fields: { readonly [Field in keyof T]-?: Shape<T[Field]> }): Shape<T> {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
    for (const name in fields) {
      const fault = Object.hasOwn(value, name) ? fields[name]((value as T)[name]) : ''; // it has a field of that name
      if (fault !== null) return `.${name}${fault}`;
    }
    return null;
  };
}

const table = object<ReportTable>({
  title: text,
  head: listOf(text),
  rows: listOf(object({ cells: listOf(text), tone: orNull(oneOf('good', 'bad')) })),
  note: orNull(text),
});
const end = oneOf('committed', 'aborted');
const read = object<PictureRead>({
  key: text,
  value: anything,
  condition: orNull(text),
  from: orNull(text),
  writer: orNull(whole),
  sight: oneOf('current', 'stale', 'dirty', 'own', 'unknown'),
});
const step = object<PictureStep>({
  session: whole,
  transaction: whole,
  part: oneOf('whole', 'begin', 'end'),
  time: orNull(text),
  role: orNull(text),
  text,
  parameters: listOf(text),
  outcome: text,
  isError: flag,
  waitedFor: orNull(text),
  takesSnapshot: orNull(oneOf('statement', 'transaction')),
  readsOlder: flag,
  reads: listOf(read),
  writes: listOf(object<PictureWrite>({ key: text, value: anything })),
  ends: orNull(end),
});
const run = object<RunPicture>({
  message: text,
  count: orNull(text),
  cause: listOf(text),
  cycle: listOf(
    object<PictureEdge>({
      from: orNull(whole),
      to: orNull(whole),
      relation: text,
      text,
      steps: listOf(whole),
    }),
  ),
  replay: orNull(text),
  tables: listOf(table),
  order: orNull(text),
  state: orNull(oneOf('sessions', 'values')),
  sessions: listOf(text),
  transactions: listOf(
    object<PictureTransaction>({ name: text, session: whole, status: oneOf('committed', 'aborted', 'unknown') }),
  ),
  steps: listOf(step),
  messages: listOf(object<PictureMessage>({ text, from: whole, to: orNull(whole) })),
  initial: listOf(pairOf(text, anything)),
});
const report = object<ReportData>({
  heading: text,
  database: text,
  verdict: object({ kind: oneOf('violated', 'satisfied', 'unknown', 'described'), text }),
  notes: listOf(text),
  tables: listOf(table),
  runs: listOf(run),
});

type Position = readonly [at: number | null, length: number];

function isInside([at, length]: Position): boolean {
  return at === null || (at >= 0 && at < length);
}

/** Every position that a picture names, with the length of the list that it is in. A step of no transaction says -1. */
function positionsOf({ sessions, transactions, steps, messages, cycle }: RunPicture): Position[] {
  return [
    ...transactions.map(({ session }): Position => [session, sessions.length]),
    ...steps.flatMap(({ session, transaction, reads }): Position[] => [
      [session, sessions.length],
      [transaction === -1 ? null : transaction, transactions.length],
      ...reads.map(({ writer }): Position => [writer, steps.length]),
    ]),
    ...messages.flatMap(({ from, to }): Position[] => [
      [from, steps.length],
      [to, steps.length],
    ]),
    ...cycle.flatMap(({ from, to, steps: ends }): Position[] => [
      [from, transactions.length],
      [to, transactions.length],
      ...ends.map((each): Position => [each, steps.length]),
    ]),
  ];
}
