/**
 * The verifier measured as in Leopard (ICDE 2023, VI): operations a second and peak memory on BlindW-RW+ as the trace grows, against the two
 * naive ways (Fig. 9 and 10); against our own check of whole histories (Fig. 13); against the PostgreSQL that made the trace (Fig. 11);
 * and how many dependencies overlaps leave open (Fig. 12). One process a cell.
 *
 *     npm run bench -- verify                     up to 10^7 operations; servers run for 20 s each
 *     npm run bench -- verify --quick             up to 10^5; 2 s
 *     npm run bench -- verify --only=server       one part: growth, offline or server
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from './bench-options.ts';
import { type LinePlot, writePlot } from './line-plot.ts';
import { tableLines } from './table.ts';
import { costs, measure, shareOf } from './verify-measure.ts';
import { verifyBesideServer } from './verify-server.ts';

export const verifySettings = ['only'] as const;

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

export async function verify({ quick, print, svgFolder = null, settings = new Map() }: BenchOptions): Promise<void> {
  const only = settings.get('only');
  if (only === undefined || only === 'growth') await growth(quick, print, svgFolder);
  if (only === undefined || only === 'offline') await offline(quick, print, svgFolder);
  if (only === undefined || only === 'server') await verifyBesideServer(quick, print);
}

async function growth(quick: boolean, print: (line?: string) => void, svgFolder: string | null): Promise<void> {
  print(`BlindW-RW+: 2,000 rows, 8 operations a transaction, ${clients} clients, PostgreSQL serializable`);
  const rows = [['', 'operations', 's', 'CPU s', 'operations/CPU s', 'MB', 'kept', 'uncertain']];
  const series = modes.map(({ title }) => ({ name: title, points: [] as [number, number][] }));
  for (const [i, { name, title, operationsMax }] of modes.entries()) {
    for (const operations of quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000, 10_000_000]) {
      if (operations > operationsMax) continue;
      const cell = measure([name, String(operations), String(clients)]);
      series[i]?.points.push([Math.log10(operations), cell.cpuMs / 1_000]);
      rows.push([title, String(operations), ...costs(cell, operations), String(cell.kept ?? ''), shareOf(cell)]);
    }
  }
  for (const line of tableLines(rows)) print(line);
  await plotted(svgFolder, 'verify-growth', {
    title: 'BlindW-RW+: processor time',
    x: 'operations, as a power of ten',
    y: 's',
    series,
  });
}

async function offline(quick: boolean, print: (line?: string) => void, svgFolder: string | null): Promise<void> {
  print();
  print(
    `BlindW-RW: 2,000 rows, 8 operations a transaction, ${clients} clients: serializable, as a whole and while it runs`,
  );
  const rows = [['transactions', 'history: CPU s', 'MB', 'verdict', 'verifier: CPU s', 'MB', 'times faster']];
  const series = [
    { name: 'whole history', points: [] as [number, number][] },
    { name: 'verifier', points: [] as [number, number][] },
  ];
  for (const transactions of quick ? [500, 1_000] : [2_000, 5_000, 10_000, 15_000, 20_000]) {
    const whole = offlineCell('history', transactions);
    const online = offlineCell('trace', transactions);
    const wholeText = whole === null ? `> ${offlineTimeoutMs / 1_000}` : (whole.cpuMs / 1_000).toFixed(2);
    const faster = whole === null ? '' : (whole.cpuMs / (online?.cpuMs ?? Infinity)).toFixed(1);
    if (whole !== null) series[0]?.points.push([transactions, whole.cpuMs / 1_000]);
    if (online !== null) series[1]?.points.push([transactions, online.cpuMs / 1_000]);
    rows.push([
      String(transactions),
      wholeText,
      megabytesOf(whole),
      whole?.verdict ?? '',
      ((online?.cpuMs ?? NaN) / 1_000).toFixed(2),
      megabytesOf(online),
      faster,
    ]);
  }
  for (const line of tableLines(rows)) print(line);
  await plotted(svgFolder, 'verify-offline', {
    title: 'BlindW-RW: processor time',
    x: 'transactions',
    y: 's',
    series,
  });
}

interface OfflineCell {
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly verdict: string;
}

const offlineTimeoutMs = 240_000;

/** `null`: it took too long. */
function offlineCell(mode: 'history' | 'trace', transactions: number): OfflineCell | null {
  const script = fileURLToPath(new URL('verify-offline-cell.ts', import.meta.url));
  const args = ['--import', 'tsx', script, mode, String(transactions), String(clients)];
  try {
    const text = execFileSync(process.execPath, args, { encoding: 'utf8', timeout: offlineTimeoutMs });
    return JSON.parse(text) as OfflineCell;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ETIMEDOUT') return null;
    throw error;
  }
}

function megabytesOf(cell: { readonly megabytes: number } | null): string {
  return cell === null ? '' : cell.megabytes.toFixed(0);
}

async function plotted(folder: string | null, name: string, plot: LinePlot): Promise<void> {
  if (folder !== null) await writePlot(join(folder, `${name}.svg`), plot);
}
