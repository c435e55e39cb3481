/**
 * `npm run bench -- record [--quick]`: what the recorder costs, in processor time for each query, beside what it hooks into. Answers come from
 * memory, so that neither a server nor a socket is in the figures. Measured is what users run, the built package: the loader of
 * TypeScript that runs this file gives every function that is made a name, which costs more than some queries.
 */
import type * as capture from '../src/capture/index.ts';
import type * as sql from '../src/sql/index.ts';
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
const unnamed = { fields: [{ name: 'v' }], rows: [{ v: 'some text of a row' }], rowCount: 1 };
const completed = {
  fields: [{ name: 'moirai_1' }, { name: 'v' }],
  rows: [{ moirai_1: 7, v: 'some text of a row' }],
  rowCount: 1,
};

class Client {
  readonly processID = 1;
  readonly readyForQuery = true;
  once(): void {}
  query(config: unknown, values?: unknown, callback?: unknown): unknown {
    const answer = { ...answerTo(String(config)) };
    const given = typeof values === 'function' ? values : callback;
    if (typeof given !== 'function') return Promise.resolve(answer);
    queueMicrotask(() => given(null, answer));
    return undefined;
  }
}

function answerTo(text: string): typeof found | typeof changed | typeof unnamed {
  if (text.includes('information_schema')) return { ...found, rows: schemaRows as never };
  if (text.startsWith('UPDATE')) return changed;
  if (text.includes('moirai_1')) return completed;
  return text.startsWith('SELECT v') ? unnamed : found;
}

export async function record({ quick, print }: BenchOptions): Promise<void> {
  const { hookPg, Recording } = (await built('capture')) as typeof capture;
  const { loadParser } = (await built('sql')) as typeof sql;
  await loadParser();
  const count = quick ? 20_000 : 200_000;
  const plain = new Client();
  const bare: Query = (text, values) => plain.query(text, values) as Promise<unknown>;
  let bytes = 0;
  const options = { write: (line: string) => void (bytes += line.length), now, warn: print };
  const recording = new Recording(options);
  const completing = new Recording({ ...options, completesReads: true });
  const rows = [['statement', 'user us without', 'recorded', 'difference', 'with system']];
  for (const [name, text, values, by = recording] of [
    ['SELECT by key, parameter', 'SELECT id, v FROM t WHERE id = $1', [7]],
    ['UPDATE by key, parameters', 'UPDATE t SET v = $1 WHERE id = $2', ['text', 7]],
    ['SELECT by key, constant', 'SELECT id, v FROM t WHERE id = 7', []],
    ['SELECT by key, another constant each time', (i) => `SELECT id, v FROM t WHERE id = ${i}`, []],
    ['SELECT by another column', 'SELECT v FROM t WHERE v = $1', ['text']],
    ['SELECT by another column, completed', 'SELECT v FROM t WHERE v = $1', ['text'], completing],
  ] as readonly [string, string | ((i: number) => string), readonly unknown[], typeof recording?][]) {
    // Side by side: the one after the other, five times; the best of each.
    let [without, recorded] = [worst, worst];
    for (let trial = 0; trial < 5; trial += 1) {
      without = better(without, await cpuOf(bare, text, values, count));
      const unhook = hookPg({ Client, Query: Client }, by);
      recorded = better(recorded, await cpuOf(bare, text, values, count));
      unhook();
    }
    const us = (value: number): string => value.toFixed(2);
    const total = recorded.user + recorded.system - without.user - without.system;
    rows.push([name, us(without.user), us(recorded.user), us(recorded.user - without.user), us(total)]);
  }
  for (const line of tableLines(rows)) print(line);
  print(`${bytes} characters of trace`);
}

interface Cost {
  /** Microseconds for one query. */
  readonly user: number;
  readonly system: number;
}

const worst: Cost = { user: Infinity, system: Infinity };

function better(a: Cost, b: Cost): Cost {
  return b.user < a.user ? b : a;
}

async function cpuOf(
  query: Query,
  text: string | ((i: number) => string),
  values: readonly unknown[],
  count: number,
): Promise<Cost> {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) await query(typeof text === 'string' ? text : text(i), values);
  const { user, system } = process.cpuUsage(before);
  return { user: user / count, system: system / count };
}

function built(folder: string): Promise<unknown> {
  return import(new URL(`../dist/${folder}/index.js`, import.meta.url).href);
}

function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e9 + nanoseconds;
}
