/** Runs random schedules against a private server and prints what came of it. */
import type { CommandOptions } from './command.ts';
import { listing } from './difference.ts';
import { randomSchedules, type RandomResult } from './random.ts';
import { dialectsOf, withServer } from './servers.ts';

export async function random(options: CommandOptions): Promise<boolean> {
  const { flags, print } = options;
  const seed = Number(flags.get('seed') ?? 1);
  const schedules = Number(flags.get('schedules') ?? 200);
  const first = Number(flags.get('first') ?? 0);
  let isFine = true;
  for (const dialect of dialectsOf(options)) {
    const result = await withServer(dialect, async (real) => {
      const onProgress = progress(schedules);
      const found = await randomSchedules({ dialect, schedules, seed, first, reducedMax: 2, onProgress }, real);
      printResult(found, { name: real.name, seed, first, print });
      return found;
    });
    isFine &&= result.groups.size === 0;
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

function printResult(result: RandomResult, { name, seed, first, print }: Printing): void {
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
