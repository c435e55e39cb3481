/**
 * The three experiments of the evaluation of explore-ce (PLDI 2023), and how much of what explore lists random runs see. `--svg=FOLDER` writes
 * the plots as well.
 */
import { join } from 'node:path';
import type { BenchOptions } from './bench-options.ts';
import { coverageRows } from './explore-coverage.ts';
import { applications, growth } from './explore-experiments.ts';
import { type LinePlot, writePlot } from './line-plot.ts';
import { tableLines } from './table.ts';

export async function exploreClients({ quick, print, svgFolder = null }: BenchOptions): Promise<void> {
  const show = async (name: string, title: string, { rows, plot }: { rows: string[][]; plot?: LinePlot }) => {
    print();
    print(title);
    for (const line of tableLines(rows)) print(line);
    if (plot !== undefined && svgFolder !== null) await writePlot(join(svgFolder, `explore-${name}.svg`), plot);
  };
  const timeMaxMs = quick ? 200 : 10_000;
  await show(
    'applications',
    'Clients of PLDI 2023, three sessions of three transactions',
    await applications(timeMaxMs),
  );
  await show(
    'sessions',
    'Ten programs of Wikipedia and TPC-C, averages at causal',
    await growth('sessions', timeMaxMs),
  );
  await show('transactions', 'The same, with more transactions a session', await growth('transactions', timeMaxMs));
  await show('coverage', 'Random runs until a share of the histories was seen', {
    rows: await coverageRows(quick ? 5_000 : 200_000),
  });
}
