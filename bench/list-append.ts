/**
 * Histories of lists: reading and checking strict-serializable, up to 10 million operations. Transactions of four operations in 20 sessions, half of
 * them reads of the whole list, on 20 keys at a time that are left after 32 appends, as Elle's generator does. Each size is read and checked in a
 * process of its own.
 *
 *     npm run bench -- list-append [--quick]
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seeded } from '#moirai/base';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const operations = 4;
const sessions = 20;
const keys = 20;
const appendsPerKey = 32;

interface Cell {
  readonly verdict: string;
  readonly operations: number;
  readonly elements: number;
  readonly readMs: number;
  readonly checkMs: number;
  readonly megabytes: number;
}

export async function listAppend({ quick, print }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'moirai-bench-'));
  const file = join(folder, 'lists.jsonl');
  const rows = [['transactions', 'operations', 'elements read', 'reading s', 'checking s', 'MB', 'verdict']];
  try {
    for (const transactions of quick ? [10_000, 100_000] : [100_000, 1_000_000, 2_500_000]) {
      writeHistory(file, transactions);
      const cell = measure(file);
      const times = [cell.readMs, cell.checkMs].map((ms) => (ms / 1_000).toFixed(1));
      const counts = [transactions, cell.operations, cell.elements].map(String);
      rows.push([...counts, ...times, cell.megabytes.toFixed(0), cell.verdict]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  print();
  for (const line of tableLines(rows)) print(line);
}

function measure(file: string): Cell {
  const script = fileURLToPath(new URL('list-append-cell.ts', import.meta.url));
  const out = execFileSync(process.execPath, [...process.execArgv, script, file], { encoding: 'utf8' });
  return JSON.parse(out) as Cell;
}

/** What a serial store answers; each transaction overlaps those before and after it. */
function writeHistory(file: string, transactions: number): void {
  const chooser = seeded(7);
  const lists = Array.from({ length: keys }, (_, key) => ({ key, list: [] as number[] }));
  let nextKey = keys;
  const descriptor = openSync(file, 'w');
  let lines: string[] = [];
  for (let t = 0; t < transactions; t += 1) {
    const done = Array.from({ length: operations }, (_, i) => {
      const place = chooser.choose(keys);
      const { key, list } = lists[place] as (typeof lists)[number];
      if (chooser.choose(2) === 0) return ['r', String(key), [...list]];
      list.push(operations * t + i);
      if (list.length === appendsPerKey) lists[place] = { key: nextKey++, list: [] };
      return ['append', String(key), operations * t + i];
    });
    lines.push(
      JSON.stringify({ session: String(t % sessions), operations: done, start: 10 * t - 95, end: 10 * t + 95 }),
    );
    if (lines.length < 5_000 && t < transactions - 1) continue;
    writeSync(descriptor, `${lines.join('\n')}\n`);
    lines = [];
  }
  closeSync(descriptor);
}
