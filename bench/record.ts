/**
 * `npm run bench -- record [--quick]`: what the recorder costs, in processor time for each query, beside what it hooks into. Answers come from
 * memory, so that neither a server nor a socket is in the figures.
 */
import { hookPg, Recording } from '../src/capture/index.ts';
import { loadParser } from '../src/sql/index.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<unknown>;

const schemaRow = {
  table_schema: 'public',
  table_name: 't',
  numeric_scale: null,
  collation_name: null,
  has_default: 0,
  is_auto: 0,
  is_current: 1,
  uniques: 0,
};
const schemaRows = [
  { ...schemaRow, column_name: 'id', data_type: 'integer', key_position: 1 },
  { ...schemaRow, column_name: 'v', data_type: 'text', key_position: null },
];
const found = { fields: [{ name: 'id' }, { name: 'v' }], rows: [{ id: 7, v: 'some text of a row' }], rowCount: 1 };
const changed = { fields: [], rows: [], rowCount: 1 };

class Client {
  readonly processID = 1;
  readonly readyForQuery = true;
  once(): void {}
  query(config: unknown, values?: unknown, callback?: unknown): unknown {
    const answer = String(config).includes('information_schema')
      ? { ...found, rows: schemaRows }
      : String(config).startsWith('UPDATE')
        ? changed
        : found;
    const given = typeof values === 'function' ? values : callback;
    if (typeof given !== 'function') return Promise.resolve(answer);
    queueMicrotask(() => given(null, answer));
    return undefined;
  }
}

export async function record({ quick, print }: BenchOptions): Promise<void> {
  await loadParser();
  const count = quick ? 20_000 : 200_000;
  const plain = new Client();
  const bare: Query = (text, values) => plain.query(text, values) as Promise<unknown>;
  let bytes = 0;
  const recording = new Recording({
    write: (line) => void (bytes += line.length),
    now,
    warn: (message) => print(message),
  });
  const rows = [['statement', 'without', 'recorded', 'difference, us']];
  for (const [name, text, values] of [
    ['SELECT by key, parameter', 'SELECT id, v FROM t WHERE id = $1', [7]],
    ['UPDATE by key, parameters', 'UPDATE t SET v = $1 WHERE id = $2', ['text', 7]],
    ['SELECT by key, constant', 'SELECT id, v FROM t WHERE id = 7', []],
    ['SELECT by key, another constant each time', (i) => `SELECT id, v FROM t WHERE id = ${i}`, []],
  ] as readonly [string, string | ((i: number) => string), readonly unknown[]][]) {
    const without = await cpuOf(bare, text, values, count);
    const unhook = hookPg({ Client, Query: Client }, recording);
    const recorded = await cpuOf(bare, text, values, count);
    unhook();
    rows.push([name, without.toFixed(2), recorded.toFixed(2), (recorded - without).toFixed(2)]);
  }
  for (const line of tableLines(rows)) print(line);
  print(`${bytes} characters of trace`);
}

/** Microseconds of processor time for one query; the best of five. */
async function cpuOf(
  query: Query,
  text: string | ((i: number) => string),
  values: readonly unknown[],
  count: number,
): Promise<number> {
  let best = Infinity;
  for (let trial = 0; trial < 5; trial += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < count; i += 1) await query(typeof text === 'string' ? text : text(i), values);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / count);
  }
  return best;
}

function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e9 + nanoseconds;
}
