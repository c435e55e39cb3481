/**
 * The client programs of the evaluation of explore-ce (PLDI 2023): histories at each level, runs of the program (the histories of the level
 * that is explored), time, and memory. Twitter, Wikipedia and TPC-C are not ported yet.
 */
import { explore } from '#moirai/explore';
import { clients } from '../examples/pldi2023/applications.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const levels = ['causal', 'snapshot-isolation', 'serializable'] as const;

export async function exploreClients({ quick, print }: BenchOptions): Promise<void> {
  const rows = [['client', 'level', 'histories', 'runs', 'complete', 'ms', 'histories/s', 'runs/s', 'heap MB']];
  for (const [name, client] of Object.entries(clients)) {
    for (const level of levels) {
      await explore(client, { level, historiesMax: 100 }); // warm
      const start = performance.now();
      const { histories, runs, complete } = await explore(client, { level, timeMaxMs: quick ? 2_000 : 120_000 });
      const seconds = (performance.now() - start) / 1_000;
      rows.push([
        name,
        level,
        String(histories),
        String(runs),
        complete ? 'yes' : 'no',
        (seconds * 1_000).toFixed(0),
        (histories / seconds).toFixed(0),
        (runs / seconds).toFixed(0),
        (process.memoryUsage().heapUsed / 1e6).toFixed(0),
      ]);
    }
  }
  print();
  print('Client programs of PLDI 2023, three sessions of three transactions');
  for (const line of tableLines(rows)) print(line);
}
