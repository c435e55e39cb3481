/**
 * Operations of a trace as a picture. An operation ran at some moment between its two times, so each time that counts is a row: where an operation was
 * sent, where its answer came; one that no other overlaps is a single row.
 */
import type { Value } from '../../history/index.ts';
import { formatImage, formatTime, type RowImage, type Scalar, type TraceOperation } from '../../trace/index.ts';
import { emptyRun, emptyStep } from './empty-picture.ts';
import type { PictureRead, PictureStep, PictureTransaction, ReportTable, RunPicture } from './report-data.ts';

export interface TraceEvidence {
  readonly message: string;
  readonly cause: readonly string[];
  /** In order of start. */
  readonly operations: readonly TraceOperation[];
  /** What an operation has to do with the violation. */
  readonly roleOf: (operation: TraceOperation) => string | null;
  /** The rows whose versions stand in a table. */
  readonly rows: readonly string[];
  /** Of the times. */
  readonly base: bigint;
}

interface Moment {
  readonly operation: TraceOperation;
  readonly part: PictureStep['part'];
}

export function tracePicture({ message, cause, operations, roleOf, rows, base }: TraceEvidence): RunPicture {
  const moments = momentsOf(operations);
  const sessions = [...new Set(operations.map(({ session }) => session))];
  const transactions = [...new Set(operations.map(({ transaction }) => transaction))];
  const stepOf = new Map(moments.map(({ operation }, i) => [operation, i]));
  return {
    ...emptyRun,
    message,
    cause,
    tables: rows.flatMap((row) => versionsOf(row, operations, base)),
    order:
      'Numbers are the times between which an operation ran, in their order and not to scale. Where others came between, a bar leads from the first to the last.',
    sessions,
    transactions: transactions.map((name) => transactionOf(name, operations, sessions)),
    steps: moments.map(({ operation, part }): PictureStep => {
      const isEnd = part !== 'begin';
      const times = { whole: [operation.start, operation.end], begin: [operation.start], end: [operation.end] }[part];
      return {
        ...emptyStep,
        session: sessions.indexOf(operation.session),
        transaction: transactions.indexOf(operation.transaction),
        part,
        time: times.map((time) => (time === Infinity ? 'never' : formatTime(time, base))).join('-'),
        role: isEnd ? roleOf(operation) : null,
        text: textOf(operation),
        outcome: isEnd ? outcomeOf(operation) : '',
        isError: operation.failed,
        reads: isEnd ? readsOf(operation, operations, stepOf) : [],
        writes: isEnd ? operation.writes.map(({ key, image }) => ({ key, value: valueOf(image) })) : [],
        ends: isEnd ? endOf(operation) : null,
      };
    }),
  };
}

/** Of equal times the beginnings come first: the intervals are closed. */
function momentsOf(operations: readonly TraceOperation[]): Moment[] {
  const all = operations.flatMap((operation) => [
    { operation, part: 'begin' as const, time: operation.start },
    { operation, part: 'end' as const, time: operation.end },
  ]);
  const inOrder = all.toSorted((a, b) => {
    // Infinity less itself is no number.
    if (a.time !== b.time) return a.time < b.time ? -1 : 1;
    return Number(a.part === 'end') - Number(b.part === 'end');
  });
  return inOrder.flatMap(({ operation, part }, i): Moment[] => {
    const [before, after] = [inOrder[i - 1], inOrder[i + 1]];
    if (part === 'end' && before?.operation === operation) return [];
    return [{ operation, part: part === 'begin' && after?.operation === operation ? 'whole' : part }];
  });
}

function transactionOf(
  name: string,
  operations: readonly TraceOperation[],
  sessions: readonly string[],
): PictureTransaction {
  const own = operations.filter(({ transaction }) => transaction === name);
  const end = own.map(endOf).find((each) => each !== null);
  return { name, session: sessions.indexOf(own[0]?.session ?? ''), status: end ?? 'unknown' };
}

function endOf({ kind, failed, end }: TraceOperation): 'committed' | 'aborted' | null {
  if (kind === 'abort') return 'aborted';
  if (kind !== 'commit' || end === Infinity) return null;
  return failed ? 'aborted' : 'committed';
}

function textOf({ kind, reads, writes, predicates, lock, savepoint }: TraceOperation): string {
  const keys = [...new Set([...reads, ...writes].map(({ key }) => key))];
  const tables = predicates.map(({ table, where }) => {
    const conditions = where.map(({ column, comparison, value }) => `${column} ${comparison} ${formatImage(value)}`);
    return conditions.length === 0 ? `all of ${table}` : `${table} where ${conditions.join(' and ')}`;
  });
  const words = [kind, ...(savepoint === undefined ? [] : [savepoint]), [...keys, ...tables].join(', ')];
  return [...words.filter((word) => word !== ''), ...(lock === null ? [] : [`for ${lock}`])].join(' ');
}

function outcomeOf({ failed, end }: TraceOperation): string {
  if (end === Infinity) return 'no answer came';
  return failed ? 'failed' : '';
}

function valueOf(image: RowImage): Value {
  if (typeof image !== 'object' || image === null) return scalarValue(image);
  const texts = JSON.parse(formatImage(image)) as Record<string, Value>;
  return Object.fromEntries(
    [...image].flatMap(([column, part]) => (Object.hasOwn(texts, column) ? [[column, scalarValue(part)]] : [])),
  );
}

/** An integer that a double cannot hold keeps its digits, as text. */
function scalarValue(scalar: Scalar): Value {
  const text = formatImage(scalar);
  const value = JSON.parse(text) as Value;
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value;
}

function readsOf(
  { reads, transaction, start }: TraceOperation,
  operations: readonly TraceOperation[],
  stepOf: ReadonlyMap<TraceOperation, number>,
): PictureRead[] {
  return reads.map(({ key, image }): PictureRead => {
    const read = { key, value: valueOf(image), condition: null };
    const writers = operations.filter(({ writes }) =>
      writes.some((write) => write.key === key && agrees(write.image, image)),
    );
    const own = writers.findLast((writer) => writer.transaction === transaction && writer.start < start);
    const [found, another] = own === undefined ? writers : [own];
    if (found === undefined || another !== undefined) return { ...read, from: null, writer: null, sight: 'unknown' };
    const sight = found.transaction === transaction ? 'own' : 'current';
    return { ...read, from: found.transaction, writer: stepOf.get(found) ?? null, sight };
  });
}

/** Do they agree in the columns that both have? */
function agrees(written: RowImage, read: RowImage): boolean {
  if (typeof written !== 'object' || typeof read !== 'object' || written === null || read === null)
    return written === read;
  const shared = [...read].filter(([column]) => written.has(column));
  return shared.length > 0 && shared.every(([column, part]) => written.get(column) === part);
}

/** The versions of a row that these operations wrote and committed, by the end of their commits. */
function versionsOf(row: string, operations: readonly TraceOperation[], base: bigint): ReportTable[] {
  const versions = operations.flatMap((operation) => {
    const written = operation.writes.findLast(({ key }) => key === row);
    const commit = operations.find((each) => each.transaction === operation.transaction && endOf(each) === 'committed');
    return written === undefined || commit === undefined ? [] : [{ operation, written, commit }];
  });
  if (versions.length < 2) return [];
  const interval = ({ start, end }: TraceOperation): string => `${formatTime(start, base)}-${formatTime(end, base)}`;
  return [
    {
      title: `Versions of ${row}`,
      head: ['value', 'written by', 'written in', 'committed in'],
      rows: versions
        .toSorted((a, b) => a.commit.end - b.commit.end)
        .map(({ operation, written, commit }) => ({
          cells: [formatImage(written.image), operation.transaction, interval(operation), interval(commit)],
          tone: null,
        })),
      note: null,
    },
  ];
}
