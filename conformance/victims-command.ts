/** Runs schedules that end in deadlocks on a private MariaDB and counts its victims. */
import type { CommandOptions } from './command.ts';
import { listing } from './difference.ts';
import { withServer } from './servers.ts';
import { compareVictims, type VictimDifference } from './victims.ts';

export async function victims({ flags, print }: CommandOptions): Promise<boolean> {
  const seed = Number(flags.get('seed') ?? 1);
  const schedules = Number(flags.get('schedules') ?? 200);
  const first = Number(flags.get('first') ?? 0);
  const onDifference = ({ number, smallest }: VictimDifference): void => {
    print(`\n-- schedule ${number}, reduced`);
    print(listing(smallest, 'MariaDB'));
  };
  const result = await withServer('mysql', (real) => compareVictims({ schedules, first, seed, onDifference }, real));
  const { deadlocks, notLightest, outside, byPages, different } = result;
  print(`\nMariaDB: ${schedules} schedules from ${first}, seed ${seed}: ${deadlocks} deadlocks`);
  print(`  ${notLightest} victims are not the lightest as every index has one page`);
  print(`  ${outside.length} victims are no candidates: schedules ${outside.join(', ')}`);
  print(
    `  ${byPages.length} schedules are the same where a page begins with a row that was locked: ${byPages.join(', ')}`,
  );
  print(`  ${different.length} schedules differ otherwise: ${different.join(', ')}`);
  return outside.length === 0;
}
