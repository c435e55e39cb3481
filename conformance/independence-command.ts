/** `npm run conformance -- independence`: random pairs of statements that `explore` takes for independent, both orders on a real server. */
import { seeded } from '../src/base/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import type { CommandOptions } from './command.ts';
import { checkIndependence, type Dependence } from './independence.ts';
import { randomSchedule } from './random-schedule.ts';
import { dialectsOf, withServer } from './servers.ts';

export async function independence(options: CommandOptions): Promise<boolean> {
  let isFine = true;
  for (const dialect of dialectsOf(options)) isFine = (await independenceOf(dialect, options)) && isFine;
  return isFine;
}

async function independenceOf(dialect: Dialect, { flags, print }: CommandOptions): Promise<boolean> {
  const seed = Number(flags.get('seed') ?? 1);
  const first = Number(flags.get('first') ?? 0);
  const pairsMin = Number(flags.get('pairs') ?? 1_000);
  const counts = { pairs: 0, schedules: 0, 'answered otherwise': 0, 'no independent pair': 0, dependences: 0 };
  return withServer(dialect, async (real) => {
    for (let number = first; counts.pairs < pairsMin; number += 1) {
      const { pairs, leftOut, dependences } = await checkIndependence(
        randomSchedule(seeded(seed, number), dialect),
        real,
      );
      counts.schedules += 1;
      counts.pairs += pairs;
      counts.dependences += dependences.length;
      if (leftOut !== null) counts[leftOut] += 1;
      for (const dependence of dependences) print(`\n-- seed ${seed}, schedule ${number}\n${textOf(dependence)}`);
    }
    print(
      `${real.name}, seed ${seed}, from ${first}: ${counts.pairs} pairs of ${counts.schedules} schedules, ${counts.dependences} not independent; ` +
        `left out ${counts['no independent pair']} schedules without such a pair, ${counts['answered otherwise']} that moirai answers otherwise`,
    );
    return counts.dependences === 0;
  });
}

function textOf({ schedule: { setUp, levels, steps }, at, outcomes, swapped }: Dependence): string {
  return [
    ...setUp.map((sql) => `${sql};`),
    levels.map((level, session) => `s${session} ${level}`).join(', '),
    ...steps.map(({ session, sql }, place) => `${place === at || place === at + 1 ? '> ' : '  '}s${session} ${sql}`),
    ...outcomes.map((outcome) => `    as above: ${outcome}`),
    ...swapped.map((outcome) => `    swapped:  ${outcome}`),
  ].join('\n');
}
