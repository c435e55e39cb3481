/** One line of a trace: JSON text to an operation or a header, with the place of every mistake. */
import { InputError } from '../base/index.ts';
import { lineValues, type LineValues, type RefuseField, scanJsonLine, type Value } from '../history/index.ts';
import { fail, type Fields, shown } from './fields.ts';
import { isLeopardRecord, leopardFields } from './leopard.ts';
import { operationFields } from './operation-fields.ts';
import {
  comparisons,
  type Condition,
  emptyHeader,
  imageOf,
  integerMark,
  type PredicateRead,
  type RowImage,
  type RowValue,
  scalarOf,
  type TraceHeader,
  type TraceMark,
  type TraceOperation,
  type TraceOperationKind,
  unknownMark,
} from './trace.ts';

/** Times of one trace: the first decides what is subtracted, so that differences of nanosecond clocks stay exact. */
export class TraceClock {
  base: bigint | null = null;

  /** @throws InputError `trace/times` */
  read(value: unknown, name: string, line: number): number {
    const exact = exactInteger(value);
    if (exact === null) fail(line, 'trace/times', `${name} should be an integer, not ${shown(value)}`);
    if (typeof exact === 'number' && (this.base === null || this.base === 0n)) {
      this.base = 0n;
      return exact;
    }
    this.base ??= BigInt(exact);
    const time = Number(BigInt(exact) - this.base);
    if (!Number.isSafeInteger(time))
      fail(line, 'trace/times', `${name} is more than 2^53 away from the first time of the trace`);
    return time;
  }
}

/** @throws InputError `trace/syntax`, `trace/truncated`, `trace/shape` with the line */
export function parseFields(text: string, line: number): Fields {
  let value: unknown;
  try {
    value = JSON.parse(longDigits.test(text) ? withExactIntegers(text) : text);
  } catch (error) {
    try {
      scanJsonLine({ text, number: line });
    } catch (placed) {
      if (placed instanceof InputError)
        throw new InputError(placed.code.replace('history/', 'trace/'), placed.message, placed.place);
    }
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail(line, 'trace/shape', 'a line should be a JSON object');
  if (/\d[eE]\+?\d{3}/.test(text)) failOnInfinity(text, line);
  return value as Fields;
}

/** JSON's numbers have no end, those of a program do: 1e999 would become a value that no report can show. */
function failOnInfinity(text: string, line: number): void {
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.]*[eE][-+]?\d+/g)) {
    if (!token.startsWith('"') && !Number.isFinite(Number(token)))
      fail(line, 'trace/value', `${token} is more than a number can be`);
  }
}

export function isTraceHeader(fields: Fields): boolean {
  return Object.hasOwn(fields, 'moirai') && !Object.hasOwn(fields, 'session');
}

/** @throws InputError `trace/header`, `trace/version` */
export function parseTraceHeader(fields: Fields, line: number): TraceHeader {
  const { moirai, version, initial = {}, sessions = null, marks = false, clockError = 0, ...others } = fields;
  if (moirai !== 'trace') fail(line, 'trace/header', `this is not a trace: ${shown(moirai)}`);
  if (version !== 1) fail(line, 'trace/version', `the header should give version 1, not ${shown(version)}`);
  for (const name in others) fail(line, 'trace/field', `${shown(name)} is no field of a header`);
  if (typeof initial !== 'object' || initial === null || Array.isArray(initial))
    fail(line, 'trace/header', 'the initial values should be a JSON object');
  const isNames = Array.isArray(sessions) && sessions.every((name) => typeof name === 'string');
  if (sessions !== null && !isNames) fail(line, 'trace/header', 'the sessions should be a JSON array of names');
  const images = Object.entries(initial as Fields).map(([key, value]): [string, RowImage] => [
    key,
    imageOf(value as Value),
  ]);
  if (typeof marks !== 'boolean') fail(line, 'trace/header', 'marks should be true or false');
  return {
    ...emptyHeader,
    initial: new Map(images),
    sessions: sessions,
    hasMarks: marks,
    clockError: errorOf(clockError, line),
  };
}

export function isTraceMark({ moirai }: Fields): boolean {
  return moirai === 'mark';
}

/** @throws InputError `trace/times`, `trace/header` */
export function parseTraceMark({ time, clockError = null }: Fields, line: number, clock: TraceClock): TraceMark {
  return {
    time: time === null ? Infinity : clock.read(time, 'time', line),
    clockError: clockError === null ? null : errorOf(clockError, line),
  };
}

function errorOf(given: unknown, line: number): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given;
  return fail(line, 'trace/header', `clockError should be an integer from 0, not ${shown(given)}`);
}

/** @throws InputError `trace/shape`, `trace/field`, `trace/operation`, `trace/times`, `trace/value` */
export function parseOperation(given: Fields, line: number, clock: TraceClock): TraceOperation {
  const fields = isLeopardRecord(given) ? leopardFields(given, line) : given;
  const refuse: RefuseField = (_name, code, message) => fail(line, `trace/${code}`, message);
  const values = lineValues(fields, operationFields, refuse, shown);
  const { session, op: kind, lock = null, failed = false, transaction = kind === 'end' ? '' : undefined } = values;
  if (transaction === undefined) return refuse('transaction', 'shape', `a ${kind} needs a transaction, a string`);
  const writes = withUnknown(rowsOf(values.writes, 'writes', line), values.unknown, line);
  if (writes.length > 0 && kind !== 'write') fail(line, 'trace/shape', `a ${kind} has no writes`);
  const reads = rowsOf(values.reads, 'reads', line);
  if (reads.length > 0 && kind !== 'read' && kind !== 'write') fail(line, 'trace/shape', `a ${kind} has no reads`);
  const predicates = predicatesOf(values.predicates, line);
  const { start, end } = timesOf(values, line, clock);
  const more = { ...opaqueOf(values, line), ...savepointOf(kind, values.savepoint, line) };
  return { session, transaction, kind, reads, writes, predicates, ...more, lock, failed, start, end };
}

type OperationValues = LineValues<typeof operationFields>;

function savepointOf(
  kind: TraceOperationKind,
  savepoint: string | undefined,
  line: number,
): Pick<TraceOperation, 'savepoint'> {
  if (kind === 'savepoint' || kind === 'rollback-to' || kind === 'release') {
    if (savepoint === undefined) return fail(line, 'trace/shape', `a ${kind} needs a savepoint, a string`);
    return { savepoint };
  }
  if (savepoint !== undefined) fail(line, 'trace/shape', `a ${kind} has no savepoint`);
  return {};
}

function timesOf(values: OperationValues, line: number, clock: TraceClock): { start: number; end: number } {
  const start = clock.read(values.start, 'start', line);
  const end = values.end === null ? Infinity : clock.read(values.end, 'end', line);
  if (end < start) fail(line, 'trace/times', 'the operation ends before it starts');
  return { start, end };
}

function rowsOf(given: readonly unknown[] | undefined, name: string, line: number): readonly RowValue[] {
  if (given === undefined) return noRows;
  return given.map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string')
      return fail(line, 'trace/shape', `each of the ${name} should be [KEY, VALUE] with a string for a key`);
    const value: unknown = pair[1];
    return { key: pair[0], image: typeof value === 'object' ? imageOf(value as Value) : (value as RowImage) };
  });
}

function opaqueOf(
  { opaque, tables = ['*'] }: OperationValues,
  line: number,
): Pick<TraceOperation, 'mayWrite' | 'mayReadMore'> {
  if (opaque === undefined) return {};
  if (opaque === 'reads') return { mayReadMore: true };
  if (!tables.every((table) => typeof table === 'string'))
    return fail(line, 'trace/shape', 'tables should be an array of names');
  return { mayWrite: tables };
}

/** The columns that were written with values that are not known, put into the images. */
function withUnknown(
  writes: readonly RowValue[],
  given: readonly unknown[] | undefined,
  line: number,
): readonly RowValue[] {
  if (given === undefined) return writes;
  const columnsOf = new Map(given.map((pair): [string, readonly string[]] => unknownPair(pair, line)));
  return writes.map(({ key, image }) => {
    const columns = columnsOf.get(key);
    if (columns === undefined || typeof image !== 'object' || image === null) return { key, image };
    return { key, image: new Map([...image, ...columns.map((column) => [column, unknownMark] as const)]) };
  });
}

function unknownPair(given: unknown, line: number): [string, readonly string[]] {
  const [key, columns] = Array.isArray(given) ? (given as unknown[]) : [];
  const isColumns = Array.isArray(columns) && columns.every((column) => typeof column === 'string');
  if (typeof key !== 'string' || !isColumns)
    return fail(line, 'trace/shape', 'each of the unknown should be [KEY, [COLUMN, ...]]');
  return [key, columns];
}

const noRows: readonly RowValue[] = [];
const noPredicates: readonly PredicateRead[] = [];

function predicatesOf(given: readonly unknown[] | undefined, line: number): readonly PredicateRead[] {
  if (given === undefined) return noPredicates;
  return given.map((predicate): PredicateRead => {
    const { table, where = [] } = (predicate ?? {}) as Fields;
    if (typeof table !== 'string' || !Array.isArray(where))
      return fail(line, 'trace/shape', 'a predicate should be {"table": NAME, "where": [[COLUMN, COMPARISON, VALUE]]}');
    return { table, where: where.map((condition: unknown) => conditionOf(condition, line)) };
  });
}

function conditionOf(given: unknown, line: number): Condition {
  const [column, sign, value] = Array.isArray(given) ? (given as unknown[]) : [];
  const comparison = comparisons.find((name) => name === sign);
  if (typeof column !== 'string' || comparison === undefined || value === undefined)
    return fail(
      line,
      'trace/shape',
      `a condition should be [COLUMN, COMPARISON, VALUE], compared with ${comparisons.join(' ')}`,
    );
  return { column, comparison, value: scalarOf(value as Value) };
}

/** Those beyond 2^53 at least. */
const longDigits = /\d{17}|9\d{15}/;

/** Mostly it is the times alone that are long, nanoseconds since 1970, and they stand at the end. */
function withExactIntegers(text: string): string {
  const times = /"start":(-?\d+),"end":(-?\d+)\}\s*$/.exec(text);
  const head = times === null ? text : text.slice(0, times.index);
  if (times === null || longDigits.test(head)) return markLongIntegers(text);
  return `${head}"start":"${times[1]}","end":"${times[2]}"}`;
}

/** Integers that a double would change become strings behind a mark: two neighbours must not become one value. */
function markLongIntegers(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) && String(Number(token)) !== token ? `"\\u0002${token}"` : token,
  );
}

function exactInteger(value: unknown): number | bigint | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return Object.is(value, -0) ? null : value;
  // What is longer and was not marked is printed as it stood: 1000000000000000100, whatever the double is exactly.
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? BigInt(String(value)) : null;
  if (typeof value !== 'string') return null;
  const digits = value.startsWith(integerMark) ? value.slice(1) : value;
  if (!/^-?\d{1,30}$/.test(digits)) return null;
  const exact = BigInt(digits);
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}
