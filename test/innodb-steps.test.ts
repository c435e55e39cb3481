/** Which rows the statements of MySQL's dialect lock, and when: the cases of innodb-steps.txt on the mock's InnoDB and on a real MariaDB. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo } from '../src/serve/index.ts';
import { openSqlDatabase, parseProfile } from '../src/database/index.ts';
import { mockTarget, parseStepCases, runSteps, serverTarget } from './support/innodb-steps.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startedOrSkipped, type TestServer } from './support/server-process.ts';

const cases = parseStepCases(readFileSync(new URL('innodb-steps.txt', import.meta.url), 'utf8'));
let server: TestServer | undefined;

beforeAll(async () => {
  server = await startedOrSkipped(startMariadb);
}, 60_000);

afterAll(() => server?.stop());

test('the file has cases', () => {
  expect(cases.length).toBeGreaterThan(4);
});

test.each(cases)('$name', async (each) => {
  expect(await onMock(each, 'mysql')).toEqual(expectedOf(each));
});

/** As a server of 11.6 would answer, where each session has it on from the start. */
const turnsOn = 'set innodb_snapshot_isolation = on';
const cases116 = cases
  .filter(({ steps }) => steps.some(({ sql }) => sql === turnsOn))
  .map((each) => ({ ...each, steps: each.steps.filter(({ sql }) => sql !== turnsOn) }));

test('the file has cases for MariaDB 11.6', () => {
  expect(cases116.length).toBeGreaterThan(2);
});

test.each(cases116)('$name, on by default', async (each) => {
  expect(await onMock(each, 'mariadb-11.6')).toEqual(expectedOf(each));
});

test.each(cases)('$name, on MariaDB', async (each) => {
  if (server === undefined) return;
  const outcomes = await runSteps(each, serverTarget(server.port));
  expect(written(each, outcomes)).toEqual(expectedOf(each));
});

async function onMock(each: (typeof cases)[number], engine: string): Promise<string[]> {
  const database = await openSqlDatabase({
    profile: parseProfile({ engine }),
    settle: null,
    holdsBack: 'never',
    pauses: false,
  });
  const outcomes = await runSteps(
    each,
    mockTarget(() => connectTo(database)),
  );
  database.close();
  return written(each, outcomes);
}

function expectedOf(each: (typeof cases)[number]): string[] {
  return written(
    each,
    each.steps.map(({ expected }) => expected),
  );
}

function written({ steps }: (typeof cases)[number], outcomes: readonly string[]): string[] {
  return steps.map(({ session, sql }, i) => `${session} ${sql} -> ${outcomes[i]}`);
}
