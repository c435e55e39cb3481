/** One measurement of `bench/verify.ts`, in a process of its own so that its memory is its own: node verify-cell.ts MODE OPERATIONS CLIENTS. */
import {
  formatTraceHeader,
  formatTraceLine,
  mechanismsOf,
  OperationTable,
  Pipeline,
  type TraceOperation,
  TraceVerification,
  Verifier,
} from '#moirai/verify';
import { blindWrites } from './blindw.ts';

/** What takes operations, and then has to say how many violations there are. */
interface Consumer {
  readonly take: (operations: readonly TraceOperation[]) => void;
  readonly finish: () => number;
}

const mechanisms = mechanismsOf('postgres', 'serializable');
const initial = new Map(Array.from({ length: 2_000 }, (_, i) => [`t/${i}`, 0] as const));

const consumers: Readonly<Record<string, () => Consumer>> = {
  pipeline: () => {
    const operations = new OperationTable();
    return pipelined(operations, (operation) => operations.remove(operation));
  },
  sort: sortAll,
  verify: () => {
    const operations = new OperationTable();
    const verifier = new Verifier({ mechanisms, initial, operations, onViolation: () => {} });
    const { take, finish } = pipelined(operations, (operation) => verifier.pushAt(operation));
    return {
      take,
      finish: () => {
        finish();
        verifier.finish();
        return verifier.counts.violations;
      },
    };
  },
  text: fromText,
  cycle: searchCycles,
};

function pipelined(operations: OperationTable, dispatch: (operation: number) => void): Consumer {
  const pipeline = new Pipeline({ operations, dispatch });
  let line = 0;
  return {
    take: (given) => {
      for (const operation of given) pipeline.push(operations.add(operation), (line += 1));
    },
    finish: () => {
      pipeline.finish();
      return 0;
    },
  };
}

/** The naive way to an order: everything in one buffer, sorted when the last has come. */
function sortAll(): Consumer {
  const all: TraceOperation[] = [];
  return {
    take: (operations) => void all.push(...operations),
    finish: () => {
      all.sort((a, b) => a.start - b.start);
      return 0;
    },
  };
}

function fromText(): Consumer {
  const verification = new TraceVerification({ mechanisms });
  const encoder = new TextEncoder();
  verification.push(encoder.encode(`${formatTraceHeader({ initial, sessions: null })}\n`));
  return {
    take: (operations) =>
      verification.push(encoder.encode(operations.map((operation) => `${formatTraceLine(operation)}\n`).join(''))),
    finish: () => verification.finish().counts.violations,
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
    take: (operations) => {
      for (const operation of operations) {
        const so = open.get(operation.session) ?? [];
        if (operation.kind === 'commit') commit(so);
        if (operation.kind === 'commit' || operation.kind === 'abort') open.delete(operation.session);
        else open.set(operation.session, [...so, operation]);
      }
    },
    finish: () => cycles,
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

const [mode = '', operations = '', clients = ''] = process.argv.slice(2);
const consumer = (consumers[mode] as () => Consumer)();
let [ms, cpuMs] = [0, 0];
let batch: TraceOperation[] = [];
const timed = (body: () => void): void => {
  const start = performance.now();
  const before = process.cpuUsage();
  body();
  cpuMs += process.cpuUsage(before).user / 1_000;
  ms += performance.now() - start;
};
for (const operation of blindWrites(Number(operations), Number(clients))) {
  batch.push(operation);
  if (batch.length < 4_096) continue;
  timed(() => consumer.take(batch));
  batch = [];
}
let violations = 0;
timed(() => {
  consumer.take(batch);
  violations = consumer.finish();
});
console.log(JSON.stringify({ ms, cpuMs, violations, megabytes: process.resourceUsage().maxRSS / 1_024 }));
