/**
 * Checking large histories: time and peak memory by level, workload and size, and how time grows. Histories are generated once into binary
 * files; every check is a process of its own. Times are of checking, reading the file apart; the part that finds which write each read saw
 * is common to all levels and counted in.
 *
 *     npm run bench -- check            up to 10 million operations
 *     npm run bench -- check --quick
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompactLevel } from '#moirai/check';
import { scanHistoryLines, writeBinaryHistory } from '#moirai/history';
import type { BenchOptions } from './bench-options.ts';
import { generateHistory, type Workload } from './histories.ts';
import { tableLines } from './table.ts';

const levels = ['read-committed', 'read-atomic', 'causal'] as const;
const standard = { operations: 8, sessions: 24, keys: 100_000, seed: 1 } as const;

const workloads: readonly (Omit<Workload, 'transactions'> & { readonly name: string })[] = [
  { name: 'read-modify-write', store: 'serializable', mix: 'read-modify-write', ...standard },
  { name: 'blind writes', store: 'serializable', mix: 'blind-write', ...standard },
  { name: 'blind writes, 100 hot keys', store: 'serializable', mix: 'blind-write', ...standard, hotKeys: 100 },
  { name: 'blind writes on snapshots', store: 'snapshot-isolation', mix: 'blind-write', ...standard, hotKeys: 1_000 },
  { name: 'blind writes on replicas', store: 'causal', mix: 'blind-write', ...standard, keys: 10_000 },
  { name: 'hot keys on replicas', store: 'causal', mix: 'blind-write', ...standard, keys: 1_000, hotKeys: 20 },
  { name: 'TPC-C-like', store: 'serializable', mix: 'tpcc', ...standard },
];

const strongLevels = ['prefix', 'snapshot-isolation', 'serializable'] as const;

/** 10,000 transactions, and 4,500 of 15 operations over 1,000 keys in 15 sessions. */
const strongWorkloads: readonly (Workload & { readonly name: string })[] = [
  { name: 'blind writes', store: 'serializable', mix: 'blind-write', ...standard, transactions: 10_000, keys: 10_000 },
  { name: '100 hot keys', store: 'serializable', mix: 'blind-write', ...standard, transactions: 10_000, hotKeys: 100 },
  { name: 'TPC-C-like', store: 'serializable', mix: 'tpcc', ...standard, transactions: 10_000 },
  {
    name: '15 operations, 1,000 keys',
    store: 'serializable',
    mix: 'blind-write',
    transactions: 4_500,
    operations: 15,
    sessions: 15,
    keys: 1_000,
    seed: 1,
  },
];

const plain = { store: 'serializable', mix: 'read-modify-write', ...standard } as const;

interface Cell {
  readonly verdict: string;
  readonly readsMs: number;
  readonly checkMs: number;
  readonly megabytes: number;
}

export async function check({ quick, print }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'moirai-bench-'));
  try {
    const transactions = quick ? 20_000 : 100_000;
    print();
    print(`${transactions} transactions, ${standard.sessions} sessions; s and peak MB of the process`);
    const rows = [['workload', 'operations', ...levels.flatMap((level) => [level, 'MB'])]];
    for (const { name, ...workload } of workloads)
      rows.push([name, ...measured(folder, { ...workload, transactions })]);
    for (const line of tableLines(rows)) print(line);
    print();
    print('Levels above causal; s and peak MB of the process');
    const strongRows = [['workload', 'operations', ...strongLevels.flatMap((level) => [level, 'MB'])]];
    for (const { name, ...workload } of strongWorkloads)
      strongRows.push([name, ...measured(folder, workload, strongLevels)]);
    for (const line of tableLines(strongRows)) print(line);
    print();
    print('Growth, read-modify-write: s and peak MB');
    const sizes = quick ? [5_000, 20_000, 80_000] : [50_000, 200_000, 800_000, 1_250_000];
    const curve = sizes.map((size) => measuredCells(folder, { ...plain, transactions: size, keys: size }));
    for (const line of tableLines(growth(sizes, curve))) print(line);
    print();
    print(parsing(quick ? 20_000 : 100_000));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measured(folder: string, workload: Workload, of: readonly CompactLevel[] = levels): string[] {
  const { operations, cells } = measuredCells(folder, workload, of);
  return [String(operations), ...cells.flatMap((cell) => [seconds(cell), cell.megabytes.toFixed(0)])];
}

const seconds = ({ readsMs, checkMs }: Cell): string => ((readsMs + checkMs) / 1_000).toFixed(2);

interface Measured {
  readonly operations: number;
  readonly cells: readonly Cell[];
}

function measuredCells(folder: string, workload: Workload, of: readonly CompactLevel[] = levels): Measured {
  const history = generateHistory(workload);
  const file = join(folder, 'history.moirai');
  const descriptor = openSync(file, 'w');
  for (const part of writeBinaryHistory(history)) {
    for (let at = 0; at < part.length; ) at += writeSync(descriptor, part, at, Math.min(part.length - at, 1 << 30));
  }
  const cells = of.map((level): Cell => {
    const script = fileURLToPath(new URL('check-cell.ts', import.meta.url));
    const output = execFileSync(process.execPath, ['--import', 'tsx', script, file, level], { encoding: 'utf8' });
    const cell = JSON.parse(output) as Cell;
    if (cell.verdict !== 'satisfied')
      throw new Error(`${workload.store}, ${workload.mix} at ${level}: ${cell.verdict}`);
    return cell;
  });
  return { operations: history.operationCount, cells };
}

/** With the exponent of the power law that fits best. */
function growth(sizes: readonly number[], curve: readonly Measured[]): string[][] {
  const exponents = levels.map((_, i) => {
    const points = curve.map(({ operations, cells }) => {
      const { readsMs = 1, checkMs = 1 } = cells[i] ?? {};
      return [Math.log(operations), Math.log(readsMs + checkMs)] as const;
    });
    const mean = (pick: 0 | 1): number => points.reduce((sum, point) => sum + point[pick], 0) / points.length;
    const [x, y] = [mean(0), mean(1)];
    const covariance = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
    return covariance / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  });
  return [
    ['transactions', 'operations', ...levels.flatMap((level) => [level, 'MB'])],
    ...curve.map(({ operations, cells }, i) => [
      String(sizes[i]),
      String(operations),
      ...cells.flatMap((cell) => [seconds(cell), cell.megabytes.toFixed(0)]),
    ]),
    ['exponent', '', ...exponents.flatMap((exponent) => [exponent.toFixed(2), ''])],
  ];
}

/** JSON Lines of plain transactions, in chunks of 1 MiB. */
function parsing(transactions: number): string {
  const history = generateHistory({ ...plain, transactions });
  const encoder = new TextEncoder();
  const lines: string[] = [];
  for (let t = 0; t < history.transactionCount; t += 1) {
    const operations: unknown[] = [];
    for (let o = history.operationStart[t] as number; o < (history.operationStart[t + 1] as number); o += 1) {
      const letter = history.kind[o] === 0 ? 'r' : 'w';
      operations.push([
        letter,
        history.names.key(history.key[o] as number),
        history.names.value(history.value[o] as number),
      ]);
    }
    lines.push(JSON.stringify({ session: history.names.session(history.session[t] as number), operations }));
  }
  const bytes = encoder.encode(`${lines.join('\n')}\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / (1 << 20)) }, (_, i) =>
    bytes.subarray(i << 20, (i + 1) << 20),
  );
  const times = [1, 2, 3].map(() => {
    const start = performance.now();
    scanHistoryLines(chunks);
    return performance.now() - start;
  });
  const rate = history.operationCount / Math.min(...times) / 1_000;
  return `JSON Lines: ${(bytes.length / 1e6).toFixed(0)} MB, ${rate.toFixed(1)} M operations/s`;
}
