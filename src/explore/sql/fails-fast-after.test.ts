import { expect, test } from 'vitest';
import { parseProfile } from '../../database/index.ts';
import { countingProgram } from '../../sql-program/counting-program.test-support.ts';
import { type ExploreSqlOptions, exploreSql } from './index.ts';

const profile = parseProfile({ engine: 'postgres', isolation: 'read committed' });
const explored = (options: Omit<ExploreSqlOptions, 'profile'>) =>
  exploreSql(countingProgram({ a: 2, b: 1 }), { profile, violationsOnly: true, ...options });

test('so many schedules where one of them violates, else up to the first that does', async () => {
  const { schedules: first } = await explored({ failsFast: true });
  const { schedules: all } = await explored({});
  expect(first).toBeGreaterThan(1);
  expect(all).toBeGreaterThan(first + 2);
  const few = await explored({ schedulesMax: first + 2 });
  expect(few.violations).toBeGreaterThan(1);
  const { schedules, violations, failures } = few;
  expect(await explored({ failsFastAfter: first + 2 })).toMatchObject({
    schedules,
    violations,
    failures,
    complete: false,
    stopped: 'violation',
  });
  expect(await explored({ failsFastAfter: first - 1 })).toMatchObject({
    schedules: first,
    violations: 1,
    complete: false,
    stopped: 'violation',
  });
  expect(await explored({ failsFastAfter: all })).toMatchObject({ schedules: all, complete: true });
});
