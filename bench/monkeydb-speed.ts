/** Runs per second of the shopping cart at each level, history recorded, on one core; and how the time of a run grows with its size. */
import shoppingCart from '../examples/shopping-cart.ts';
import { seeded } from '#moirai/base';
import { ProgramRunner } from '#moirai/campaign';
import { constrainingLevels, type ConstrainingLevel } from '#moirai/isolation';
import { drawing } from '#moirai/mockdb';
import { type Program, program, type SessionHandle } from '#moirai/program';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

export async function speed({ quick, print }: BenchOptions): Promise<void> {
  const seconds = quick ? 0.3 : 2;
  const rows = [['level', 'runs/s', 'ms a run', "times the paper's 5 ms"]];
  for (const level of constrainingLevels) {
    const perSecond = await runsPerSecond(shoppingCart, level, seconds);
    rows.push([level, perSecond.toFixed(0), (1_000 / perSecond).toFixed(3), (perSecond / 200).toFixed(0)]);
  }
  print();
  print('Shopping cart, 3 sessions x 3 operations: runs per second, one core, history recorded');
  for (const line of tableLines(rows)) print(line);

  const sizes = [3, 6, 9, 12, 15, 18, 21, 24, 27, 30];
  const growth: string[][] = [['transactions', ...sizes.map(String)]];
  for (const level of constrainingLevels) {
    const row: string[] = [level];
    for (const size of sizes)
      row.push((1_000 / (await runsPerSecond(increments(size), level, seconds / 4))).toFixed(3));
    growth.push(row);
  }
  print();
  print(
    'Milliseconds a run as it grows: 3 sessions that read two of 3 counters and increment one, 3 to 30 transactions',
  );
  for (const line of tableLines(growth)) print(line);
}

async function runsPerSecond(tested: Program, level: ConstrainingLevel, seconds: number): Promise<number> {
  const runner = new ProgramRunner(tested, level);
  for (let i = 0; i < 200; i += 1) await runner.run(drawing({ chooser: seeded(2, i) }));
  const start = performance.now();
  let runs = 0;
  while (performance.now() - start < seconds * 1_000) {
    for (let i = 0; i < 10; i += 1, runs += 1) await runner.run(drawing({ chooser: seeded(1, runs) }));
  }
  return (runs / (performance.now() - start)) * 1_000;
}

function increments(transactions: number): Program {
  const keys = ['x', 'y', 'z'];
  const session = (offset: number) => async (s: SessionHandle) => {
    for (let i = 0; i < transactions / 3; i += 1) {
      const [written, read] = [keys[(i + offset) % 3] as string, keys[(i + offset + 1) % 3] as string];
      await s.transaction(async (t) => {
        await t.read(read);
        await t.write(written, (await t.read<number>(written)) + 1);
      });
    }
  };
  return program({ initial: { x: 0, y: 0, z: 0 }, sessions: { a: session(0), b: session(1), c: session(2) } });
}
