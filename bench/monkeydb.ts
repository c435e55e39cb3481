/**
 * The evaluation of MonkeyDB (OOPSLA 2021), section 7, on our mock database: runs to the first failure (Table 1), distinct
 * client-observable states over runs against the exact maximum (Fig. 13), and runs per second, which the paper gives as 5 to 9 ms a run.
 *
 * The programs are those of examples/: three sessions of three operations with the paper's assertions. The paper prints neither its
 * programs nor their schedules, so the columns say how soon a tester meets the bug, not which of two stores is better at the same program.
 */
import type { BenchOptions } from './bench-options.ts';
import { coverage } from './monkeydb-coverage.ts';
import { speed } from './monkeydb-speed.ts';
import { table1 } from './monkeydb-table1.ts';

export async function monkeydb(options: BenchOptions): Promise<void> {
  await table1(options);
  await coverage(options);
  await speed(options);
}
