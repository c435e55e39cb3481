/**
 * The verifier on BlindW-RW+ (Leopard, ICDE 2023, VI.A and VI.B) at PostgreSQL's serializable: operations a second and peak memory as the
 * trace grows, against the two naive ways: one buffer that is sorted, and a search for cycles in the graph of all dependencies. One process
 * a cell; its memory contains what makes the trace.
 *
 *     npm run bench -- verify            up to 10^7 operations
 *     npm run bench -- verify --quick    up to 10^6
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

interface Cell {
  readonly ms: number;
  readonly violations: number;
  readonly megabytes: number;
}

interface Mode {
  readonly name: string;
  readonly title: string;
  /** Larger traces take too long, or too much memory. */
  readonly operationsMax: number;
}

const modes: readonly Mode[] = [
  { name: 'pipeline', title: 'two-level pipeline', operationsMax: Infinity },
  { name: 'sort', title: 'naive: sort everything', operationsMax: 1_000_000 },
  { name: 'verify', title: 'pipeline and mechanisms', operationsMax: Infinity },
  { name: 'text', title: 'the same, from JSON Lines', operationsMax: Infinity },
  { name: 'cycle', title: 'naive: search for cycles', operationsMax: 100_000 },
];

const clients = 24;
const script = fileURLToPath(new URL('verify-cell.ts', import.meta.url));

export async function verify({ quick, print }: BenchOptions): Promise<void> {
  print(`BlindW-RW+: 2,000 rows, 8 operations a transaction, ${clients} clients, PostgreSQL serializable`);
  const rows = [['', 'operations', 'seconds', 'operations/s', 'MB']];
  for (const { name, title, operationsMax } of modes) {
    for (const operations of [10_000, 100_000, 1_000_000, ...(quick ? [] : [10_000_000])]) {
      if (operations > operationsMax) continue;
      const cell = measure(name, operations);
      const seconds = cell.ms / 1_000;
      rows.push([
        title,
        String(operations),
        seconds.toFixed(2),
        String(Math.round(operations / seconds)),
        String(Math.round(cell.megabytes)),
      ]);
    }
  }
  for (const line of tableLines(rows)) print(line);
}

function measure(mode: string, operations: number): Cell {
  const args = ['--import', 'tsx', script, mode, String(operations), String(clients)];
  const cell = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Cell;
  if (cell.violations > 0) throw new Error(`${mode}: ${cell.violations} violations in a trace that has none`);
  return cell;
}
