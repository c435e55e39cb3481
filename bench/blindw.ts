/**
 * BlindW-RW+ of Cobra (OSDI 2020) and Leopard (ICDE 2023) as a stream of operations: a table of 2,000 rows, half of the operations blind
 * writes of values that are never repeated, the others reads of one row or of ten neighbours. What runs it is a small store with snapshots,
 * row locks and validation of reads at commit, so the trace is right for PostgreSQL's serializable; times are virtual, intervals overlap.
 */
import { seeded } from '#moirai/base';
import type { TraceOperation } from '#moirai/trace';

const rowCount = 2_000;
const operationsEach = 8;
const keys = Array.from({ length: rowCount }, (_, i) => `t/${i}`);

interface Version {
  readonly value: number;
  readonly at: number;
}

interface Client {
  readonly session: string;
  transactions: number;
  name: string;
  left: number;
  /** When it acts next. */
  at: number;
  snapshot: number;
  readonly reads: Map<number, number>;
  readonly writes: Map<number, number>;
  mustAbort: boolean;
  lastEnd: number;
}

/** @param widest rows of a read of neighbours; 1: BlindW-RW
 * @param clients at least 1; yields at least `operations` operations, per client in order, over all nearly in order of start */
export function* blindWrites(operations: number, clients: number, seed = 1, widest = 10): Generator<TraceOperation> {
  const chooser = seeded(seed);
  const rows: Version[][] = keys.map(() => [{ value: 0, at: -1 }]);
  const lockedBy = new Int32Array(rowCount).fill(-1);
  const all = Array.from(
    { length: clients },
    (_, i): Client => ({
      session: `c${i}`,
      transactions: 0,
      name: '',
      left: 0,
      at: i,
      snapshot: -1,
      reads: new Map(),
      writes: new Map(),
      mustAbort: false,
      lastEnd: 0,
    }),
  );
  let values = 0;
  for (let count = 0; count < operations; count += 1) {
    let who = 0;
    for (let i = 1; i < clients; i += 1) if ((all[i] as Client).at < (all[who] as Client).at) who = i;
    const client = all[who] as Client;
    const now = client.at;
    if (client.name === '') begin(client, count);
    const start = Math.max(client.lastEnd, now - 1 - chooser.choose(40));
    const end = now + 1 + chooser.choose(40);
    client.lastEnd = end;
    client.at = end + 1 + chooser.choose(20);
    const base = {
      session: client.session,
      transaction: client.name,
      predicates: [],
      lock: null,
      failed: false,
      start,
      end,
    };
    if (client.mustAbort || client.left === 0) {
      const isValid = !client.mustAbort && validate(client, rows);
      yield { ...base, kind: isValid ? 'commit' : 'abort', reads: [], writes: [] };
      finish(client, isValid, count, rows, lockedBy);
      continue;
    }
    client.left -= 1;
    const first = chooser.choose(rowCount);
    if (chooser.choose(2) === 0) {
      values += 1;
      yield write(client, who, first, values, base, rows, lockedBy);
      continue;
    }
    const width = chooser.choose(2) === 0 ? 1 : widest;
    const reads = [];
    for (let row = first; row < Math.min(rowCount, first + width); row += 1) {
      reads.push({ key: keys[row] as string, image: client.writes.get(row) ?? seen(client, row, rows) });
    }
    yield { ...base, kind: 'read', reads, writes: [] };
  }
}

/** @param step of the run: two things may happen at one time, but not in one step */
function begin(client: Client, step: number): void {
  client.transactions += 1;
  client.name = `${client.session}/${client.transactions}`;
  client.left = operationsEach;
  client.snapshot = step;
  client.mustAbort = false;
}

function seen(client: Client, row: number, rows: readonly Version[][]): number {
  const versions = rows[row] as Version[];
  const version = versions.findLast(({ at }) => at <= client.snapshot) ?? oldest(versions);
  client.reads.set(row, version.at);
  return version.value;
}

/** For a snapshot older than what is kept, which does not happen: it would show as a violation. */
function oldest([version]: readonly Version[]): Version {
  if (version === undefined) throw new Error('a row has a version');
  return version;
}

function write(
  client: Client,
  who: number,
  row: number,
  value: number,
  base: Omit<TraceOperation, 'kind' | 'reads' | 'writes'>,
  rows: readonly Version[][],
  lockedBy: Int32Array,
): TraceOperation {
  const isTaken = lockedBy[row] !== -1 && lockedBy[row] !== who;
  if (isTaken || ((rows[row] as Version[]).at(-1) as Version).at > client.snapshot) {
    client.mustAbort = true;
    return { ...base, kind: 'write', reads: [], writes: [], failed: true };
  }
  lockedBy[row] = who;
  client.writes.set(row, value);
  return { ...base, kind: 'write', reads: [], writes: [{ key: keys[row] as string, image: value }] };
}

function validate({ reads, writes }: Client, rows: readonly Version[][]): boolean {
  if (writes.size === 0) return true;
  for (const [row, at] of reads) if (((rows[row] as Version[]).at(-1) as Version).at !== at) return false;
  return true;
}

function finish(
  client: Client,
  isValid: boolean,
  step: number,
  rows: readonly Version[][],
  lockedBy: Int32Array,
): void {
  for (const [row, value] of client.writes) {
    lockedBy[row] = -1;
    if (!isValid) continue;
    const versions = rows[row] as Version[];
    versions.push({ value, at: step });
    if (versions.length > 16) versions.splice(0, versions.length - 16);
  }
  client.reads.clear();
  client.writes.clear();
  client.name = '';
}
