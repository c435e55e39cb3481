/** Which rows the statements of MySQL's dialect lock, and when: the cases of innodb-steps.txt on the mock's InnoDB and on a real MariaDB. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo, openSqlDatabase, parseProfile } from '../src/serve/index.ts';
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
  const database = await openSqlDatabase({
    profile: parseProfile({ engine: 'mysql' }),
    settle: null,
    holdsBack: 'never',
    pauses: false,
  });
  const outcomes = await runSteps(
    each,
    mockTarget(() => connectTo(database)),
  );
  database.close();
  expect(written(each, outcomes)).toEqual(
    written(
      each,
      each.steps.map(({ expected }) => expected),
    ),
  );
});

test.each(cases)('$name, on MariaDB', async (each) => {
  if (server === undefined) return;
  const outcomes = await runSteps(each, serverTarget(server.port));
  expect(written(each, outcomes)).toEqual(
    written(
      each,
      each.steps.map(({ expected }) => expected),
    ),
  );
});

function written({ steps }: (typeof cases)[number], outcomes: readonly string[]): string[] {
  return steps.map(({ session, sql }, i) => `${session} ${sql} -> ${outcomes[i]}`);
}
