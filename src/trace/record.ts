/**
 * Lines of a trace as text. A recorder has a `TraceRecord`, what it saw with the fields of the file; a verifier has a `TraceOperation`, made
 * for comparing. Both are written by the same function, so a field has one name and one place.
 */
import {
  type Comparison,
  formatImage,
  formatScalar,
  formatTime,
  type PredicateRead,
  type RowValue,
  type TraceHeader,
  type TraceLock,
  type TraceOperation,
  type TraceOperationKind,
  unknownMark,
} from './trace.ts';
import { sumText, type Value } from '../history/index.ts';

/** The rows of an operation, as a line has them. */
export interface TraceRows<Image extends Value = Value> {
  readonly reads: readonly (readonly [row: string, image: Image])[];
  readonly writes: readonly (readonly [row: string, image: Image])[];
  /** Columns of written rows whose new values are not known. */
  readonly unknown: readonly (readonly [row: string, columns: readonly string[]])[];
  readonly predicates: readonly {
    readonly table: string;
    readonly where: readonly { readonly column: string; readonly comparison: Comparison; readonly value: Value }[];
  }[];
  readonly lock: TraceLock | null;
  /** What else may have happened to rows that cannot be named. */
  readonly opaque: 'reads' | 'writes' | null;
  /** Of `opaque` writes: the tables they may be in; without it any. */
  readonly tables?: readonly string[];
}

/** An operation as it is recorded. */
export interface TraceRecord {
  readonly session: string;
  readonly transaction: string;
  readonly kind: TraceOperationKind;
  readonly rows: TraceRows | null;
  /** Of `savepoint`, `rollback-to` and `release`. */
  readonly savepoint: string | null;
  /** The database's code where it answered with an error. */
  readonly code: string | null;
  /** Integers of one clock. `end` is `null` where no answer came. */
  readonly start: number;
  readonly end: number | null;
}

/** One line, without its break. O(its length); on the path of every query of a program that is recorded. */
export function formatTraceRecord(record: TraceRecord): string {
  const { session, transaction, kind, rows, savepoint, code, start, end } = record;
  return lineOf(session, kind, {
    transaction,
    savepoint,
    rows: rows === null ? '' : formatRecordedRows(rows),
    code,
    failed: code !== null,
    start: String(start),
    end: String(end),
  });
}

/** The operation as a line of a trace, without its break: for reports and generated traces. */
export function formatTraceLine(operation: TraceOperation, base = 0n): string {
  const { session, transaction, kind, savepoint = null, failed, start, end } = operation;
  return lineOf(session, kind, {
    transaction,
    savepoint,
    rows: formatOperationRows(operation),
    code: null,
    failed,
    start: formatTime(start, base),
    end: formatTime(end, base),
  });
}

export function formatTraceHeader({
  initial,
  sessions,
  hasMarks = false,
  clockError = 0,
}: Pick<TraceHeader, 'initial' | 'sessions'> & Partial<TraceHeader>): string {
  let text = '{"moirai":"trace","version":1';
  if (initial.size > 0) {
    const members = [...initial].map(([key, image]) => `${JSON.stringify(key)}:${formatImage(image)}`);
    text += `,"initial":{${members.join(',')}}`;
  }
  if (sessions !== null) text += `,"sessions":${JSON.stringify(sessions)}`;
  if (hasMarks) text += ',"marks":true';
  if (clockError > 0) text += `,"clockError":${clockError}`;
  return `${text}}`;
}

/** The last mark: nothing comes any more. @param sum the CRC-32 of all bytes before it; `null`: it is not known */
export function formatLastMark(sum: number | null): string {
  return `{"moirai":"mark","time":null${sum === null ? '' : `,"crc32":"${sumText(sum)}"`}}`;
}

/** @param time `null`: nothing comes any more */
export function formatTraceMark(time: number | null, clockError: number | null = null): string {
  return `{"moirai":"mark","time":${time}${clockError === null ? '' : `,"clockError":${clockError}`}}`;
}

interface LineParts {
  readonly transaction: string;
  readonly savepoint: string | null;
  /** Members, each behind a comma. */
  readonly rows: string;
  readonly code: string | null;
  readonly failed: boolean;
  readonly start: string;
  readonly end: string;
}

function lineOf(session: string, kind: TraceOperationKind, parts: LineParts): string {
  const { transaction, savepoint, rows, code, failed, start, end } = parts;
  let text = `{"session":${quoted(session)}`;
  if (kind !== 'end') text += `,"transaction":${quoted(transaction)}`;
  text += `,"op":"${kind}"`;
  if (savepoint !== null) text += `,"savepoint":${JSON.stringify(savepoint)}`;
  text += rows;
  if (failed) text += ',"failed":true';
  if (code !== null) text += `,"code":${JSON.stringify(code)}`;
  return `${text},"start":${start},"end":${end}}`;
}

/** The order of the members, and their names. `predicates` and lists of rows are JSON already. */
function membersOf(
  reads: string,
  writes: string,
  unknown: string,
  predicates: string,
  { lock, opaque, tables }: Pick<TraceRows, 'lock' | 'opaque' | 'tables'>,
): string {
  let text = '';
  if (reads !== '') text += `,"reads":${reads}`;
  if (writes !== '') text += `,"writes":${writes}`;
  if (unknown !== '') text += `,"unknown":${unknown}`;
  if (predicates !== '') text += `,"predicates":${predicates}`;
  if (lock !== null) text += `,"lock":"${lock}"`;
  if (opaque !== null) text += `,"opaque":"${opaque}"`;
  if (tables !== undefined) text += `,"tables":${JSON.stringify(tables)}`;
  return text;
}

function formatRecordedRows(rows: TraceRows): string {
  const { reads, writes, unknown, predicates } = rows;
  return membersOf(
    rowsText(reads),
    rowsText(writes),
    listText(unknown),
    predicates.length === 0 ? '' : listText(predicates.map(predicateLine)),
    rows,
  );
}

/** As JSON.stringify has it, in half the time: most cells are numbers and short texts without anything to escape. */
function rowsText(rows: TraceRows['reads']): string {
  if (rows.length === 0) return '';
  let text = '';
  for (const [row, image] of rows) {
    text += `${text === '' ? '[' : ','}[${quoted(row)},`;
    text += `${isColumns(image) ? columnsText(image) : cellText(image)}]`;
  }
  return `${text}]`;
}

function isColumns(image: Value): image is Readonly<Record<string, Value>> {
  return typeof image === 'object' && image !== null && !Array.isArray(image);
}

function columnsText(image: Readonly<Record<string, Value>>): string {
  let text = '{';
  for (const column in image) text += `${text === '{' ? '' : ','}${quoted(column)}:${cellText(image[column] as Value)}`;
  return `${text}}`;
}

function cellText(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  // A double that is no number is null in JSON.
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : JSON.stringify(value);
}

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

const plain = /^[ !#-[\]-~]*$/;

function listText(list: readonly unknown[]): string {
  return list.length === 0 ? '' : JSON.stringify(list);
}

function predicateLine({ table, where }: TraceRows['predicates'][number]): unknown {
  return { table, where: where.map(({ column, comparison, value }) => [column, comparison, value]) };
}

function formatOperationRows({ reads, writes, predicates, mayWrite, mayReadMore, lock }: TraceOperation): string {
  return membersOf(
    formatRows(reads),
    formatRows(writes),
    listText(unknownColumns(writes)),
    predicates.length === 0 ? '' : `[${predicates.map(formatPredicate).join(',')}]`,
    {
      lock,
      opaque: mayWrite !== undefined ? 'writes' : mayReadMore === true ? 'reads' : null,
      ...(mayWrite === undefined || mayWrite.includes('*') ? {} : { tables: mayWrite }),
    },
  );
}

/** `[["accounts/7",["n"]]]`. */
function unknownColumns(writes: readonly RowValue[]): readonly unknown[] {
  return writes.flatMap(({ key, image }) => {
    const columns =
      typeof image === 'object' && image !== null ? [...image].filter(([, part]) => part === unknownMark) : [];
    return columns.length === 0 ? [] : [[key, columns.map(([column]) => column)]];
  });
}

function formatRows(rows: readonly RowValue[]): string {
  if (rows.length === 0) return '';
  return `[${rows.map(({ key, image }) => `[${JSON.stringify(key)},${formatImage(image)}]`).join(',')}]`;
}

function formatPredicate({ table, where }: PredicateRead): string {
  const conditions = where.map(
    ({ column, comparison, value }) => `[${JSON.stringify(column)},"${comparison}",${formatScalar(value)}]`,
  );
  return `{"table":${JSON.stringify(table)},"where":[${conditions.join(',')}]}`;
}
