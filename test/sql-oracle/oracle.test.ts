/**
 * Every form of statement on our database and on the real server, over random tables, through the drivers: rows, counts, columns with their
 * types, codes of errors. A failure is shrunk and prints its seed; MOIRAI_SEED repeats it, MOIRAI_HEAVY=1 runs many more.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../src/base/chooser.ts';
import type { Dialect } from '../../src/sql/model/index.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped, type TestServer } from '../support/server-process.ts';
import { answerText, type Client } from './answer.ts';
import { differenceText, firstDifference, mockClient, realClient, scenarios } from './compare.ts';
import { forms } from './forms.ts';
import { isKnownDifference, knownDifferences } from './known-differences.ts';
import { regressions } from './regressions.ts';
import { windowStatement, windowTable } from './windows.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const seed = Number(process.env['MOIRAI_SEED'] ?? 20_261);
const starts = { postgres: startPostgres, mysql: startMariadb } as const;

describe.each(['postgres', 'mysql'] as const)('%s', (dialect: Dialect) => {
  let server: TestServer | undefined;
  let real: Client | undefined;

  beforeAll(async () => {
    server = await startedOrSkipped(starts[dialect]);
    if (server !== undefined) real = await realClient(dialect, server.port);
  }, 60_000);

  afterAll(async () => {
    await real?.end();
    await server?.stop();
  });

  test(`random statements, seed ${seed}`, { timeout: isHeavy ? 3_600_000 : 120_000 }, async ({ skip }) => {
    if (real === undefined) return skip('no server');
    const client = real;
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(scenarios(dialect, 10), async (scenario) => {
        const difference = await firstDifference(dialect, client, scenario);
        for (const { form } of scenario.statements) met.set(form, (met.get(form) ?? 0) + 1);
        if (difference !== undefined) throw new Error(differenceText(difference));
      }),
      { seed, numRuns: isHeavy ? 5000 : 90, endOnFailure: !isHeavy },
    );
    const all = forms.filter(({ dialects }) => dialects.includes(dialect)).map(({ name }) => name);
    expect(all.filter((name) => !met.has(name))).toEqual([]);
  });

  test(`random window frames, seed ${seed}`, async ({ skip }) => {
    if (real === undefined) return skip('no server');
    const chooser = seeded(seed);
    const statements = Array.from({ length: isHeavy ? 2000 : 120 }, () => windowStatement(chooser, dialect));
    const scenario = {
      setUp: windowTable(chooser, dialect),
      statements: statements.map((each) => ({ ...each, form: 'window', isWrite: false })),
    };
    const passedOver: string[] = [];
    const difference = await firstDifference(dialect, real, scenario, (message) => passedOver.push(message));
    expect(difference === undefined ? '' : differenceText(difference)).toBe('');
    expect(passedOver).toEqual([]);
  });

  test.each(regressions.filter((each) => each.dialect === dialect))('once differed: $what', async ({ statements }) => {
    if (real === undefined) return;
    const setUp = {
      setUp: [],
      statements: statements.map((sql) => ({ sql, isOrdered: true, form: 'known', isWrite: false })),
    };
    const passedOver: string[] = [];
    const difference = await firstDifference(dialect, real, setUp, (message) => passedOver.push(message));
    expect(difference === undefined ? '' : differenceText(difference)).toBe('');
    expect(passedOver).toEqual([]);
  });
});

test('known differences have a dialect and are told apart from agreement', async () => {
  const client = await mockClient('postgres');
  const answer = await client.ask({ sql: 'SELECT 1 AS one' });
  await client.end();
  expect(answerText(answer)).toBe('SELECT 1 ["one 23 -1"] ["1"]');
  expect(knownDifferences.length).toBeGreaterThan(0);
  expect(isKnownDifference('postgres', 'SELECT 1', answer, answer)).toBe(false);
});
