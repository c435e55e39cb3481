/**
 * Table 2 of Soethout, van der Storm and Vinju, SEFM 2020 Workshops: two-phase commit with two-phase locking, one to three transactions
 * and resources, the four isolation levels checked in every state. The paper gives times of TLC on four threads of a laptop of 2016;
 * ours are of this machine, one process a cell, so that its memory is the cell's own.
 *
 *     npm run bench -- protocol            3 x 3 takes minutes, without symmetry it is left out
 *     npm run bench -- protocol --quick    without the cells of over a million states
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

interface Cell {
  readonly transactions: number;
  readonly resources: number;
  readonly paper: string;
  /** Distinct states of the TLA+ tools, with symmetry. */
  readonly expected: number;
  readonly isLarge?: true;
}

const cells: readonly Cell[] = [
  { transactions: 1, resources: 1, paper: '7 s', expected: 177 },
  { transactions: 1, resources: 2, paper: '9 s', expected: 3_364 },
  { transactions: 1, resources: 3, paper: '19 s', expected: 48_777 },
  { transactions: 2, resources: 1, paper: '8 s', expected: 1_118 },
  { transactions: 2, resources: 2, paper: '21 s', expected: 49_884 },
  { transactions: 2, resources: 3, paper: '5 m 55 s', expected: 1_938_910, isLarge: true },
  { transactions: 3, resources: 1, paper: '11 s', expected: 4_883 },
  { transactions: 3, resources: 2, paper: '1 m 53 s', expected: 474_524 },
  { transactions: 3, resources: 3, paper: '3 h 21 m 54 s', expected: 47_664_720, isLarge: true },
];

interface Variant {
  readonly symmetry: boolean;
  readonly reduction: boolean;
}

const variants: readonly Variant[] = [
  { symmetry: true, reduction: false },
  { symmetry: true, reduction: true },
  { symmetry: false, reduction: false },
];

interface Measured {
  readonly states: number;
  readonly generated: number;
  readonly depth: number;
  readonly verdict: string;
  readonly seconds: number;
  readonly megabytes: number;
}

export async function protocol({ quick, print }: BenchOptions): Promise<void> {
  const jobs = Math.min(2, cpus().length);
  print(`two-phase commit with two-phase locking, four levels in every state; ${jobs} threads for the large cells`);
  const rows = [
    [
      'transactions x resources',
      'symmetry',
      'reduction',
      'states',
      'generated',
      'depth',
      'seconds',
      'states/s',
      'MB',
      "TLC, paper's laptop",
    ],
  ];
  for (const cell of cells.filter(({ isLarge }) => !quick || isLarge !== true)) {
    for (const variant of variants) {
      // Without symmetry, 3 x 3 has some 1.7 billion states.
      if (!variant.symmetry && cell.transactions * cell.resources === 9) continue;
      const row = rowOf(cell, variant, measure(cell, variant, cell.isLarge === true ? jobs : 1));
      print(`  ${row.join('  ')}`);
      rows.push(row);
    }
  }
  print();
  for (const line of tableLines(rows)) print(line);
}

function rowOf({ transactions, resources, paper, expected }: Cell, variant: Variant, measured: Measured): string[] {
  const isPaper = variant.symmetry && !variant.reduction;
  const { states, generated, depth, seconds, megabytes, verdict } = measured;
  if (verdict !== 'satisfied' || (isPaper && states !== expected)) {
    throw new Error(`${transactions} x ${resources}: ${verdict} with ${states} states, not satisfied with ${expected}`);
  }
  return [
    `${transactions} x ${resources}`,
    variant.symmetry ? 'yes' : 'no',
    variant.reduction ? 'yes' : 'no',
    String(states),
    String(generated),
    String(depth),
    seconds.toFixed(2),
    String(Math.round(states / seconds)),
    String(Math.round(megabytes)),
    isPaper ? paper : '',
  ];
}

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const file = fileURLToPath(new URL('../examples/protocols/two-phase-locking.ts', import.meta.url));

function measure({ transactions, resources }: Cell, { symmetry, reduction }: Variant, jobs: number): Measured {
  const levels = 'serializable,snapshot-isolation,preread,read-uncommitted';
  const args = [main, 'protocol', file, '--json', '--no-eventually', '--level', levels, '--jobs', String(jobs)];
  if (!symmetry) args.push('--no-symmetry');
  if (reduction) args.push('--reduction');
  args.push('--transactions', String(transactions), '--resources', String(resources));
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(output) as Measured;
}
