/**
 * The three experiments of the evaluation of explore-ce (PLDI 2023), and how much of what explore lists random runs see. `--svg=FOLDER` writes
 * the plots as well; `--seconds=N` is how long a search may take.
 */
import { join } from 'node:path';
import type { BenchOptions } from './bench-options.ts';
import { coverageRows } from './explore-coverage.ts';
import { applications, type Experiment, growth } from './explore-experiments.ts';
import { writePlot } from './line-plot.ts';
import { tableLines } from './table.ts';

export async function exploreClients({ quick, print, svgFolder = null, settings }: BenchOptions): Promise<void> {
  const show = async ({ name, title, rows, plots }: Experiment): Promise<void> => {
    print();
    print(title);
    for (const line of tableLines(rows)) print(line);
    if (svgFolder === null) return;
    for (const each of plots) await writePlot(join(svgFolder, `explore-${name}-${each.name}.svg`), each.plot);
  };
  // A full run has 175 and twice 50 cells: 15 minutes at most.
  const secondsMax = Number(settings?.get('seconds') ?? (quick ? 0.1 : 3));
  await show(await applications(secondsMax));
  await show(await growth('sessions', secondsMax));
  await show(await growth('transactions', secondsMax));
  await show({
    name: 'coverage',
    title: 'Random runs until a share of the histories was seen',
    rows: await coverageRows(quick ? 2_000 : 200_000),
    plots: [],
  });
}
