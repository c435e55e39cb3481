/**
 * Units without a finding are: random units of autocommit statements, most with an optimistic lock, run in every schedule of the engine's profile. Their writes and
 * the final state are those of some serial order of the runs that were not refused. Which UPDATE refuses a run is said here, by how the unit was made.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analyze } from './analyze.ts';
import type { Statement, UnitStep, Value } from './application.ts';
import { application, argument, branch, column, expression, statement } from './builder.ts';
import { exploringHere } from './explore-witness.ts';
import { readSchema } from './schema.ts';
import { stateOf } from './witness-rows.ts';

const schema = 'CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL)';
const rows = ['INSERT INTO t VALUES (1, 1, 1)', 'INSERT INTO t VALUES (2, 2, 2)'];
const x = argument('x');
const read = statement('SELECT a, b FROM t WHERE id = $1', [x], 'first');
const sum = expression('+', column('first', 'a'), argument('v'));
const version = column('first', 'b');

interface DrawnUnit {
  readonly steps: readonly UnitStep[];
  readonly guards: readonly string[];
}

const saved = (sql: string, ...given: readonly Value[]): Statement => statement(sql, given, 'saved');
const guarded = fc.constantFrom(
  saved('UPDATE t SET a = $1, b = b + 1 WHERE id = $2 AND b = $3', sum, x, version),
  saved('UPDATE t SET a = $1, b = b + 1 WHERE id = $2 AND b = $3', sum, x, version),
  saved('UPDATE t SET a = $1, b = b + 2 WHERE id = $2 AND b = $3', sum, x, version),
  saved('UPDATE t SET a = $1, b = $4 WHERE id = $2 AND b = $3', sum, x, version, expression('+', version, 1)),
  saved('UPDATE t SET a = $1 WHERE id = $2 AND b = $3', sum, x, version),
  saved('UPDATE t SET a = $1 WHERE id = $2 AND a = $3', sum, x, column('first', 'a')),
  saved('UPDATE t SET b = 5 WHERE id = $1 AND b = $2', x, version),
  saved('UPDATE t SET b = 5, a = $3 WHERE id = $1 AND b = $2', x, version, sum),
  saved('DELETE FROM t WHERE id = $1 AND b = $2', x, version),
);
const byKey = saved('UPDATE t SET a = $1, b = b + 1 WHERE id = $2', sum, x);
const isNone = expression('=', { kind: 'row-count', statement: 'saved' }, 0);
const looks = branch<UnitStep>(isNone, [{ kind: 'return' }]);
const copies: readonly UnitStep[] = [statement('UPDATE t SET a = $1 WHERE id = 9', [sum])];

const saving = fc
  .tuple(guarded, fc.constantFrom<readonly UnitStep[]>([looks], [looks], [looks], [looks, ...copies], []))
  .map(([one, behind]): DrawnUnit => ({ steps: [read, one, ...behind], guards: behind.length > 0 ? [one.sql] : [] }));
const other = fc
  .constantFrom<readonly UnitStep[]>(
    [statement('UPDATE t SET a = a + 10 WHERE id = $1', [x])],
    [statement('UPDATE t SET a = $2, b = b + 1 WHERE id = $1', [x, argument('v')])],
    [statement('UPDATE t SET b = 1 WHERE id = $1', [x])],
    [statement('UPDATE t SET b = b + 1 WHERE id = $1', [x])],
    [statement('DELETE FROM t WHERE id = $1', [x])],
    [statement('INSERT INTO t VALUES ($1, 7, 1) ON CONFLICT DO NOTHING', [x])],
    [statement('INSERT INTO t VALUES ($1, 7, 1) ON CONFLICT (id) DO UPDATE SET b = 1', [x])],
    [read, byKey, looks],
  )
  .map((steps): DrawnUnit => ({ steps, guards: [] }));
const units = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(saving) },
  { weight: 2, arbitrary: fc.tuple(saving, saving) },
  { weight: 3, arbitrary: fc.tuple(saving, other) },
);

/** Mostly the same row: runs without a conflict show nothing. */
const runs = fc.array(fc.record({ x: fc.constantFrom(1, 1, 1, 1, 1, 2), v: fc.integer({ min: 20, max: 23 }) }), {
  minLength: 3,
  maxLength: 3,
});

test('no schedule of units without a finding has an effect that no serial order has', {
  timeout: 3_600_000,
}, async () => {
  const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
  let proven = 0;
  await fc.assert(
    fc.asyncProperty(units, runs, async (drawn, given) => {
      const app = application({ schema, units: Object.fromEntries(drawn.map(({ steps }, at) => [`u${at}`, steps])) });
      const { evidence } = await analyze(app, { isolation: 'read committed', schedulesMax: 1 });
      if (conclude(evidence).kind !== 'satisfied') return;
      proven += 1;
      const sessions = given.map((values, at) => {
        const { steps, guards } = drawn[at % drawn.length] as DrawnUnit;
        const scope = 'transactions of their own' as const;
        return { name: `s${at}`, scope, level: 'read committed' as const, arguments: values, steps, guards };
      });
      const explored = await exploringHere()(
        {
          schema: [schema, ...rows, 'INSERT INTO t VALUES (9, 9, 9)'],
          sessions,
          dialect: 'postgres',
          compared: 'state and writes',
          ...stateOf(await readSchema(app), { has: () => true }, new Set()),
        },
        { schedulesMax: isHeavy ? 300 : 60 },
      );
      if (explored.kind === 'failed') throw new Error(explored.reason);
      expect(explored.violations).toBe(0);
    }),
    { seed: Number(process.env['MOIRAI_SEED'] ?? 2_718), numRuns: isHeavy ? 2_000 : 60 },
  );
  expect(proven).toBeGreaterThan(isHeavy ? 500 : 10);
});
