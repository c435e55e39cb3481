/**
 * One measurement of `bench/verify.ts`, in a process of its own so that its memory is its own: node verify-cell.ts MODE OPERATIONS CLIENTS, or
 * `trace` FILE LEVEL: what a real PostgreSQL gave, compressed. Times are of what verifies; making or unpacking a trace is not counted.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { formatTraceHeader, formatTraceLine, type TraceOperation } from '#moirai/trace';
import { mechanismsOf, OperationTable, Pipeline, TraceVerification, Verifier } from '#moirai/verify';
import { blindWrites } from './blindw.ts';

interface Found {
  readonly violations: number;
  readonly operations?: number;
  readonly deduced?: number;
  readonly uncertain?: number;
  /** Records that are still kept at the end. */
  readonly kept?: number;
}

/** What takes batches, and then has to say what it found. */
interface Consumer {
  /** Before a batch is taken; not counted. */
  readonly prepare: (operations: readonly TraceOperation[]) => () => void;
  readonly finish: () => Found;
}

const mechanisms = mechanismsOf('postgres', 'serializable');
const initial = new Map(Array.from({ length: 2_000 }, (_, i) => [`t/${i}`, 0] as const));

const consumers: Readonly<Record<string, () => Consumer>> = {
  pipeline: () => {
    const operations = new OperationTable();
    const { take, finish } = pipelined(operations, (operation) => operations.remove(operation));
    return { prepare: (given) => () => take(given), finish: () => (finish(), { violations: 0 }) };
  },
  sort: sortAll,
  verify: () => {
    const operations = new OperationTable();
    const verifier = new Verifier({ mechanisms, initial, operations, onViolation: () => {} });
    const { take, finish } = pipelined(operations, (operation) => verifier.pushAt(operation));
    return {
      prepare: (given) => () => take(given),
      finish: () => {
        finish();
        verifier.finish();
        const { kept, versions, readers, locks, operations: ofThem } = verifier.sizes;
        return { ...verifier.counts, kept: kept + versions + readers + locks + ofThem };
      },
    };
  },
  text: fromText,
  cycle: searchCycles,
};

function pipelined(
  operations: OperationTable,
  dispatch: (operation: number) => void,
): { readonly take: (given: readonly TraceOperation[]) => void; readonly finish: () => void } {
  const pipeline = new Pipeline({ operations, dispatch });
  let line = 0;
  return {
    take: (given) => {
      for (const operation of given) pipeline.push(operations.add(operation), (line += 1));
    },
    finish: () => pipeline.finish(),
  };
}

/** The naive way to an order: everything in one buffer, sorted when the last has come. */
function sortAll(): Consumer {
  const all: TraceOperation[] = [];
  return {
    prepare: (operations) => () => void all.push(...operations),
    finish: () => {
      all.sort((a, b) => a.start - b.start);
      return { violations: 0 };
    },
  };
}

function fromText(): Consumer {
  const verification = new TraceVerification({ mechanisms });
  const encoder = new TextEncoder();
  verification.push(encoder.encode(`${formatTraceHeader({ initial, sessions: null })}\n`));
  return {
    prepare: (operations) => {
      const bytes = encoder.encode(operations.map((operation) => `${formatTraceLine(operation)}\n`).join(''));
      return () => verification.push(bytes);
    },
    finish: () => verification.finish().counts,
  };
}

/**
 * The naive way to serializability: the graph of all dependencies, of which nothing is taken out, and a search for cycles in
 * all of it after every hundred transactions. Values are unique, versions are in order of commits.
 */
function searchCycles(): Consumer {
  const out: number[][] = [];
  const versions = new Map<
    string,
    { readonly writer: number; readonly image: unknown; readonly readers: number[] }[]
  >();
  const open = new Map<string, TraceOperation[]>();
  let cycles = 0;
  const versionsOf = (key: string) => {
    const known = versions.get(key) ?? [{ writer: -1, image: 0, readers: [] }];
    versions.set(key, known);
    return known;
  };
  const commit = (operations: readonly TraceOperation[]): void => {
    const id = out.push([]) - 1;
    const own = new Set(operations.flatMap(({ writes }) => writes.map(({ image }) => image)));
    for (const { key, image } of operations.flatMap(({ reads }) => reads)) {
      const list = versionsOf(key);
      const at = list.findLastIndex((version) => version.image === image);
      if (own.has(image) || at < 0) continue;
      const { writer, readers } = list[at] as (typeof list)[number];
      readers.push(id);
      if (writer >= 0) out[writer]?.push(id);
      if (at + 1 < list.length) out[id]?.push((list[at + 1] as (typeof list)[number]).writer);
    }
    for (const { key, image } of operations.flatMap(({ writes }) => writes)) {
      const last = versionsOf(key).at(-1);
      for (const before of [last?.writer ?? -1, ...(last?.readers ?? [])])
        if (before >= 0 && before !== id) out[before]?.push(id);
      versionsOf(key).push({ writer: id, image, readers: [] });
    }
    if (out.length % 100 === 0 && hasCycle(out)) cycles += 1;
  };
  return {
    prepare: (operations) => () => {
      for (const operation of operations) {
        const so = open.get(operation.session) ?? [];
        if (operation.kind === 'commit') commit(so);
        if (operation.kind === 'commit' || operation.kind === 'abort') open.delete(operation.session);
        else open.set(operation.session, [...so, operation]);
      }
    },
    finish: () => ({ violations: cycles }),
  };
}

function hasCycle(out: readonly (readonly number[])[]): boolean {
  const before = new Int32Array(out.length);
  for (const targets of out) for (const to of targets) before[to] = (before[to] ?? 0) + 1;
  const free = [...out.keys()].filter((id) => before[id] === 0);
  let taken = 0;
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    taken += 1;
    for (const to of out[id] ?? []) {
      before[to] = (before[to] ?? 0) - 1;
      if (before[to] === 0) free.push(to);
    }
  }
  return taken < out.length;
}

const [mode = '', what = '', clients = ''] = process.argv.slice(2);
let [ms, cpuMs] = [0, 0];
const timed = <Result>(body: () => Result): Result => {
  const start = performance.now();
  const before = process.cpuUsage();
  const result = body();
  cpuMs += process.cpuUsage(before).user / 1_000;
  ms += performance.now() - start;
  return result;
};
const found = mode === 'trace' ? verifyTrace(what, clients) : generate(mode, Number(what), Number(clients));
const megabytes = process.resourceUsage().maxRSS / 1_024;
console.log(JSON.stringify({ ms, cpuMs, megabytes, ...found }));

function generate(name: string, operations: number, count: number): Found {
  const { prepare, finish } = (consumers[name] as () => Consumer)();
  let batch: TraceOperation[] = [];
  for (const operation of blindWrites(operations, count)) {
    batch.push(operation);
    if (batch.length < 4_096) continue;
    timed(prepare(batch));
    batch = [];
  }
  timed(prepare(batch));
  return timed(finish);
}

function verifyTrace(file: string, level: string): Found {
  const bytes = gunzipSync(readFileSync(file));
  const verification = new TraceVerification({ mechanisms: mechanismsOf('postgres', level) });
  for (let at = 0; at < bytes.length; at += 65_536)
    timed(() => verification.push(bytes.subarray(at, Math.min(bytes.length, at + 65_536))));
  return timed(() => verification.finish()).counts;
}
