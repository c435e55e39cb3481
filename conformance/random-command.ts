/** Runs random schedules against a private server and prints what came of it. */
import type { Dialect } from '../src/sql/index.ts';
import { startMariadb } from '../test/support/mariadb-server.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { CommandOptions } from './command.ts';
import { listing } from './difference.ts';
import { mariadbSide } from './mariadb-side.ts';
import { postgresSide } from './postgres-side.ts';
import { randomSchedules, type RandomResult } from './random.ts';

const servers = {
  postgres: { name: 'PostgreSQL', start: startPostgres, open: postgresSide },
  mysql: { name: 'MariaDB', start: startMariadb, open: mariadbSide },
} as const;

export async function random({ flags, print }: CommandOptions): Promise<boolean> {
  const engine = flags.get('engine');
  const dialects: readonly Dialect[] = engine === undefined ? ['postgres', 'mysql'] : [engine as Dialect];
  let isFine = true;
  for (const dialect of dialects) {
    const { name, start, open } = servers[dialect];
    const server = await start();
    try {
      const real = await open(server.port);
      const seed = Number(flags.get('seed') ?? 1);
      const schedules = Number(flags.get('schedules') ?? 200);
      const first = Number(flags.get('first') ?? 0);
      const result = await randomSchedules(
        { dialect, schedules, seed, first, reducedMax: 2, onProgress: progress(schedules) },
        real,
      );
      await real.close();
      printResult(result, { name, seed, first, print });
      isFine &&= result.groups.size === 0;
    } finally {
      await server.stop();
    }
  }
  return isFine;
}

function progress(all: number): (result: RandomResult) => void {
  return ({ schedules, groups }) => {
    if (schedules % 50 === 0) process.stderr.write(`${schedules} of ${all}, ${groups.size} groups of differences\n`);
  };
}

interface Printing {
  readonly name: string;
  readonly seed: number;
  readonly first: number;
  readonly print: (line?: string) => void;
}

export function printResult(result: RandomResult, { name, seed, first, print }: Printing): void {
  const { schedules, equal, equalByAnotherPlan, unsupported, known, groups } = result;
  const different = [...groups.values()].reduce((count, group) => count + group.schedules.length, 0);
  for (const group of [...groups.values()].toSorted((a, b) => b.schedules.length - a.schedules.length)) {
    print(
      `\n-- ${group.signature}   (${group.schedules.length}; seed ${seed}, schedules ${group.schedules.slice(0, 8).join(', ')})`,
    );
    print(listing(group.example, name));
  }
  print(`\n${name}: ${schedules} schedules from ${first}, seed ${seed}`);
  const row = (count: number, text: string): void =>
    print(`  ${String(count).padStart(5)}  ${((100 * count) / schedules).toFixed(1).padStart(5)} %  ${text}`);
  row(equal, 'equal');
  row(equalByAnotherPlan, 'equal by another access path');
  row(sum(unsupported), 'not supported');
  for (const [message, count] of sorted(unsupported)) print(`             ${count} ${message}`);
  row(sum(known), 'known differences');
  for (const [text, count] of sorted(known)) print(`             ${count} ${text}`);
  row(different, `different, ${groups.size} groups`);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([, a], [, b]) => b - a);
}
