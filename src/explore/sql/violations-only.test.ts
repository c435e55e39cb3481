import { expect, test } from 'vitest';
import { countingProgram } from '../../sql-program/counting-program.test-support.ts';
import { parseProfile } from '../../database/index.ts';
import { exploreSql } from './index.ts';

test.each(['read committed', 'serializable'])(
  'violations alone, at %s: those of the whole exploration',
  async (isolation) => {
    const profile = parseProfile({ engine: 'postgres', isolation });
    const program = countingProgram({ a: 2, b: 1 });
    const whole = await exploreSql(program, { profile });
    const only = await exploreSql(program, { profile, violationsOnly: true });
    expect(only).toMatchObject({
      complete: true,
      schedules: whole.schedules,
      violations: whole.violations,
      failures: whole.failures,
      histories: 0,
      outcomes: 0,
    });
    expect(whole.histories).toBeGreaterThan(0);
  },
);

test('violations alone: no run is made to see whether the invariant can fail', async () => {
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  const asked = { whole: 0, only: 0 };
  const counting = (which: keyof typeof asked) => {
    const program = countingProgram({ a: 1 });
    return {
      ...program,
      invariant: (end: Parameters<typeof program.invariant>[0]) => ((asked[which] += 1), program.invariant(end)),
    };
  };
  const { schedules } = await exploreSql(counting('only'), { profile, violationsOnly: true, isFunctionOfReads: true });
  await exploreSql(counting('whole'), { profile, isFunctionOfReads: true });
  expect(asked.only).toBe(schedules);
  expect(asked.whole).toBeGreaterThan(schedules);
});
