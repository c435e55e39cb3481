/** What several threads find together is what one finds, whatever their number: with threads that are none. */
import { deserialize, serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { countingProgram } from '../../sql-program/counting-program.test-support.ts';
import { type SqlConnection, sqlProgram } from '../../program/index.ts';
import { onPostgres } from '../../sql-program/engines.test-support.ts';
import { type SqlThread } from './explore-sql-shared.ts';
import { exploreSql, exploreSqlPart, exploreSqlShared, type SharedSqlOptions } from './index.ts';
import { parseProfile } from '../../database/index.ts';
import { conclusionOf } from '../../sql-program/run-evidence.ts';
import type { OneCheckpoint } from './sql-checkpoint.ts';

const profile = parseProfile({ engine: 'postgres' });

const counting = countingProgram({ a: 2, b: 1 });

function shared(threads: number, more: Partial<SharedSqlOptions> = {}, program = counting) {
  const options = { profile, schedulesAlone: 3, ...more };
  const { failsFast = false } = options;
  return exploreSqlShared(
    program,
    options,
    Array.from(
      { length: threads },
      () => (job, onProgress) => exploreSqlPart(program, { profile, failsFast }, job, onProgress, more.signal),
    ),
  );
}

test('the same histories, outcomes and kinds of failures, and one result for any number of threads', async () => {
  const one = await exploreSql(counting, { profile });
  const two = await shared(2);
  expect(await shared(3)).toEqual(two);
  const { histories, outcomes, failures } = one;
  expect(two).toMatchObject({ complete: true, stopped: null, histories, outcomes });
  expect(two.schedules).toBeGreaterThanOrEqual(one.schedules);
  const kinds = (all: typeof failures) => all.map(({ message, anomaly }) => `${message} ${anomaly}`).toSorted();
  expect(kinds(two.failures)).toEqual(kinds(failures));
  expect(failures).not.toEqual([]);
  expect(two.marks.get('all were counted')).toBe(two.schedules - two.violations);
  for (const { replay, message, statements } of two.failures)
    expect((await exploreSql(counting, { profile, replay })).failures).toMatchObject([{ message, statements }]);
});

test('the parts of the tree are together what the whole is, without reduction', async () => {
  const whole = await exploreSql(counting, { profile, reduces: false });
  let schedules = 0;
  for (const first of [0, 1]) {
    const part = await exploreSqlPart(
      counting,
      { profile, reduces: false },
      { prefix: [first], timeMaxMs: null },
      () => {},
    );
    schedules += part.result.schedules;
    expect(part.result.failures.every(({ replay }) => replay.startsWith(`2.${first}`))).toBe(true);
  }
  expect(schedules).toBe(whole.schedules);
});

test('a program of few schedules needs no threads', async () => {
  const alone = await shared(2, { schedulesAlone: 1_000 });
  expect(alone).toEqual(await exploreSql(counting, { profile }));
});

test('interrupted, it continues from its checkpoint to what one without stops finds, with any number of threads', async () => {
  const small = countingProgram({ a: 1, b: 1 });
  const whole = await shared(2, {}, small);
  let saved: OneCheckpoint | null = null;
  const onCheckpoint = (made: OneCheckpoint): void => void (saved = deserialize(serialize(made)) as OneCheckpoint);
  let stops = 0;
  for (const threads of [1, 2]) {
    const resume: OneCheckpoint | null = saved;
    const interruption = new AbortController();
    let runs = 0;
    const onRun = (): void => {
      // Those that begin the parts again come first.
      if ((runs += 1) === 60 && stops === 0) interruption.abort();
    };
    const more = { signal: interruption.signal, onRun, onCheckpoint, ...(resume === null ? {} : { resume }) };
    const result = await shared(threads, more, small);
    if (result.complete) {
      expect(result).toEqual(whole);
      break;
    }
    stops += 1;
  }
  expect(stops).toBeGreaterThan(0);
  if (saved === null) throw new Error('it gave no checkpoint');
  const { parts } = saved as Extract<OneCheckpoint, { kind: 'shared' }>;
  expect(new Set(parts.map((part) => part?.position))).toEqual(new Set([null]));
});

test('budgets and the first violation end it', async () => {
  expect(await shared(2, { historiesMax: 2 })).toMatchObject({ stopped: 'histories', complete: false });
  expect(await shared(2, { schedulesMax: 6 })).toMatchObject({ stopped: 'schedules', complete: false });
  expect(await shared(1, { failsFast: true })).toMatchObject({ stopped: 'violation', complete: false });
  expect(await shared(2, { timeMaxMs: 0 })).toMatchObject({ stopped: 'time', complete: false });
});

test('progress is told of all threads together', async () => {
  const seen: number[] = [];
  const { schedules } = await shared(2, { onProgress: (progress) => void seen.push(progress.schedules) });
  expect(seen.at(-1)).toBe(schedules);
  expect(seen.some((soFar) => soFar > 3)).toBe(true);
});

test('somebody has to do the work', async () => {
  await expect(shared(0)).rejects.toMatchObject({ code: 'option/threads' });
});

test('statements that moirai cannot do are one list of all threads, and leave no verdict', async () => {
  const locking = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: Object.fromEntries(
      ['a', 'b'].map((name) => [
        name,
        (c: SqlConnection) =>
          onPostgres(c, async (client) => {
            await client.query('UPDATE t SET n = n + 1');
            await client.query('CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING').catch(() => null);
            await client.query('UPDATE t SET n = n + 1');
          }),
      ]),
    ),
    invariant: () => true,
  });
  const options = { profile, schedulesAlone: 2 };
  const threads = [1, 2].map(
    (): SqlThread => (job, onProgress) => exploreSqlPart(locking, { profile }, job, onProgress),
  );
  const result = await exploreSqlShared(locking, options, threads);
  // What a schedule repeats is not counted.
  expect(result.unsupported.map(({ session, statement, count }) => [session, statement, count])).toEqual(
    ['a', 'b'].map((session) => [session, 'CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING', result.schedules]),
  );
  expect(result.schedules).toBeGreaterThan(2);
  expect(conclusionOf(result).kind).toBe('unknown');
});
