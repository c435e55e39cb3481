/**
 * `moirai analyze` on the seven benchmarks of the CLOTHO paper (OOPSLA 2019) as TypeScript applications, and on a code base of 100,000 lines: from
 * source to findings, each in a process of its own. The paper's times are of eventual consistency and cycles of a bounded length on a machine
 * of its own: what is beside each other is the task, not the machine.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { benchmarkApplications } from '../test/support/benchmark-applications.ts';
import type { AnalyzeCellResult } from './analyze-cell.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const cell = fileURLToPath(new URL('analyze-cell.ts', import.meta.url));

export async function analyzeApplications({ quick, print }: BenchOptions): Promise<void> {
  const applications = quick ? benchmarkApplications.slice(0, 3) : benchmarkApplications;
  const rows: string[][] = [columns];
  for (const { name, folder, paperSeconds } of applications) rows.push(row(name, measured(folder), paperSeconds));
  const lines = quick ? 10_000 : 100_000;
  rows.push(row(`${lines} lines, pg`, measured(String(lines)), null));
  print();
  for (const line of tableLines(rows)) print(line);
}

const columns = ['', 'units', 'statements', 'understood', 'candidates', 'confirmed', 'CPU s', 'MB', 'paper: s'];

function row(name: string, result: AnalyzeCellResult, paperSeconds: number | null): string[] {
  const { units, statements, notUnderstood, candidates, confirmed, cpuSeconds, megabytes } = result;
  return [
    name,
    ...[units, statements, statements - notUnderstood, candidates, confirmed].map(String),
    cpuSeconds.toFixed(1),
    megabytes.toFixed(0),
    paperSeconds === null ? '' : String(paperSeconds),
  ];
}

/** In a process of its own: memory is its peak. @param what a folder of the examples, or a number of lines */
function measured(what: string): AnalyzeCellResult {
  const { stdout, status } = spawnSync(process.execPath, [...process.execArgv, cell, what], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the analysis of ${what} failed`);
  return JSON.parse(stdout) as AnalyzeCellResult;
}
