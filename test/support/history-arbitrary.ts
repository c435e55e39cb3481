import fc from 'fast-check';
import {
  defaultId,
  type History,
  INITIAL,
  type Key,
  type Operation,
  type Read,
  type Status,
  type Transaction,
  type TransactionIndex,
  type Value,
} from '../../src/history/index.ts';

export interface HistoryConstraints {
  /** Only what the notation carries: sessions "0", "1", ... one after another, none empty; no own IDs, times or levels. */
  readonly notation?: boolean;
}

/**
 * Valid histories: every read has one source. Half of them write each value once, and some of their reads record no writer;
 * the others repeat values, and every read records its writer. Reads see any write to their key, also bad ones: of an
 * aborted transaction, overwritten, or their own.
 */
export function arbitraryHistory(constraints: HistoryConstraints = {}): fc.Arbitrary<History> {
  return fc
    .record({
      names: fc.uniqueArray(names, { minLength: 4, maxLength: 4 }),
      sessions: fc.array(fc.nat(3), { maxLength: 6 }),
      keys: fc.uniqueArray(names, { minLength: 1, maxLength: 3 }),
      initial: fc.array(fc.option(values, { freq: 2 }), { minLength: 3, maxLength: 3 }),
      sketches: fc.array(transactionSketches, { minLength: 6, maxLength: 6 }),
      isUnique: fc.boolean(),
    })
    .map((sketch) => historyOf(sketch, constraints.notation ?? false));
}

interface OperationSketch {
  readonly isRead: boolean;
  readonly key: number;
  readonly value: Value;
  readonly choice: number;
  readonly isRecorded: boolean;
}

interface TransactionSketch {
  readonly status: Status;
  readonly operations: readonly OperationSketch[];
  readonly id: string | null;
  readonly start: number | null;
  readonly duration: number | null;
  readonly level: string | null;
}

interface HistorySketch {
  readonly names: readonly string[];
  readonly sessions: readonly number[];
  readonly keys: readonly Key[];
  readonly initial: readonly (Value | null)[];
  readonly sketches: readonly TransactionSketch[];
  readonly isUnique: boolean;
}

const odd = [
  '__proto__',
  'constructor',
  '',
  '_',
  '-',
  'a b',
  'a,b',
  'x|y',
  'x!',
  'x?',
  '"',
  '<-',
  '#',
  'initial',
  '\u2028',
  '\ud800',
];
const names = fc.oneof(fc.constantFrom('x', 'y', 'a/0', '0'), fc.constantFrom(...odd), fc.string({ unit: 'binary' }));

// JSON has one zero; fast-check two.
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Value);
const poisoned = json.map((value) => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`) as Value);
const values = fc.oneof(fc.constantFrom<Value>(null, 0, 1, true), json, poisoned);

const transactionSketches: fc.Arbitrary<TransactionSketch> = fc.record({
  status: fc.constantFrom('committed', 'committed', 'aborted', 'unknown'),
  operations: fc.array(
    fc.record({ isRead: fc.boolean(), key: fc.nat(2), value: values, choice: fc.nat(30), isRecorded: fc.boolean() }),
    { maxLength: 4 },
  ),
  id: fc.option(fc.string({ minLength: 1 })),
  start: fc.option(fc.integer()),
  duration: fc.option(fc.nat()),
  level: fc.option(fc.constantFrom('causal', 'serializable')),
});

interface Written {
  readonly from: TransactionIndex;
  readonly value: Value;
}

function historyOf(sketch: HistorySketch, isNotation: boolean): History {
  const { sessions, places } = placesOf(sketch, isNotation);
  const keys = places.map(
    (_place, t) => sketch.sketches[t]?.operations.map(({ key }) => sketch.keys[key % sketch.keys.length] as Key) ?? [],
  );
  const initial = new Map(
    sketch.keys.flatMap((key, i) => (sketch.initial[i] === null ? [] : [[key, sketch.initial[i] as Value]])),
  );
  const written = new Map(
    sketch.keys.map((key): [Key, Written[]] => [key, [{ from: INITIAL, value: initial.get(key) ?? null }]]),
  );
  const valueAt = (t: number, o: number, value: Value): Value => (sketch.isUnique ? [t, o, value, 'unique'] : value);
  sketch.sketches.slice(0, places.length).forEach(({ operations }, t) => {
    operations.forEach(({ isRead, value }, o) => {
      if (!isRead) written.get(keys[t]?.[o] as Key)?.push({ from: t, value: valueAt(t, o, value) });
    });
  });
  const operationOf = ({ isRead, value, choice, isRecorded }: OperationSketch, t: number, o: number): Operation => {
    const key = keys[t]?.[o] as Key;
    if (!isRead) return { kind: 'write', key, value: valueAt(t, o, value) };
    const choices = written.get(key) as Written[];
    const seen = choices[choice % choices.length] as Written;
    const read: Read = { kind: 'read', key, value: seen.value };
    return sketch.isUnique && !isRecorded ? read : { ...read, from: seen.from };
  };
  const transactions = places.map((place, t): Transaction => {
    const { status, operations, ...extra } = sketch.sketches[t] as TransactionSketch;
    const base = { ...place, status, operations: operations.map((operation, o) => operationOf(operation, t, o)) };
    return isNotation ? base : { ...base, ...extrasOf(extra, place.id, t) };
  });
  return { sessions, transactions, initial };
}

/** The sessions, and for each transaction its session and default ID. */
function placesOf(
  { names: given, sessions: ofTransactions }: HistorySketch,
  isNotation: boolean,
): { sessions: string[]; places: { session: number; id: string }[] } {
  const used = [...new Set(ofTransactions)].toSorted((a, b) => a - b);
  const order = isNotation
    ? ofTransactions.map((session) => used.indexOf(session)).toSorted((a, b) => a - b)
    : ofTransactions;
  const sessions = isNotation ? used.map((_session, index) => String(index)) : [...given];
  const counts = sessions.map(() => 0);
  const places = order.map((session) => {
    const index = counts[session] ?? 0;
    counts[session] = index + 1;
    return { session, id: defaultId(sessions[session] as string, index) };
  });
  return { sessions, places };
}

function extrasOf(
  { id, start, duration, level }: Omit<TransactionSketch, 'status' | 'operations'>,
  ownId: string,
  t: number,
): { id: string; start?: number; end?: number; level?: string } {
  return {
    id: id === null ? ownId : `${id}#${t}`,
    ...(start === null ? {} : { start }),
    ...(duration === null ? {} : { end: (start ?? 0) + duration }),
    ...(level === null ? {} : { level }),
  };
}
