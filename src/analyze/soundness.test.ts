/**
 * What is called robust is: random transactions that the analysis proves serializable run, with random arguments, in every schedule of the engine's profile, and each has
 * the effect of a serial order. The oracle is the outermost one: the SQL that clients send, and what they see.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IsolationName } from '../sql/index.ts';
import type { Dialect, Statement, Step, Value } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import { exploringHere } from './explore-witness.ts';
import { guardsIn } from './optimistic-locks.ts';
import {
  parentArguments,
  parentLevel,
  parentTransaction,
  referringRows,
  referringTables,
} from './parent-transactions.test-support.ts';
import { RobustSet } from './robust-set.ts';
import type { Arguments } from './run-steps.ts';
import { readSchema } from './schema.ts';
import { transactionsOf } from './transactions.ts';
import { stateOf } from './witness-rows.ts';

const schema = 'CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL)';
const rows = ['INSERT INTO t VALUES (1, 1, 1)', 'INSERT INTO t VALUES (2, 2, 2)'];
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const seed = Number(process.env['MOIRAI_SEED'] ?? 2_718);

const key = fc.constantFrom('x', 'y').map(argument);
const name = fc.constantFrom('a', 'b');

/** What an UPDATE writes: an argument, or what the first statement of the transaction read. */
const value: fc.Arbitrary<Value> = fc.constantFrom(argument('v'), column('first', 'a'));

const keyed = fc.tuple(name, key);
const common: readonly fc.Arbitrary<Statement>[] = [
  keyed.map(([c, k]) => statement(`SELECT ${c} FROM t WHERE id = $1`, [k])),
  keyed.map(([c, k]) => statement(`SELECT ${c} FROM t WHERE id = $1`, [k])),
  keyed.map(([c, k]) => statement(`SELECT ${c} FROM t WHERE id = $1 FOR UPDATE`, [k])),
  fc.tuple(name, key, value).map(([c, k, v]) => statement(`UPDATE t SET ${c} = $1 WHERE id = $2`, [v, k])),
  fc.tuple(name, key, value).map(([c, k, v]) => statement(`UPDATE t SET ${c} = $1 WHERE id = $2`, [v, k])),
  keyed.map(([c, k]) => statement(`UPDATE t SET ${c} = ${c} + 1 WHERE id = $1`, [k])),
  keyed.map(([c, k]) => statement(`UPDATE t SET ${c} = ${c} + 1 WHERE id = $1 AND b > 1`, [k])),
  name.map((c) => statement(`SELECT count(*) AS n FROM t WHERE ${c} > 1`)),
  name.map((c) => statement(`UPDATE t SET a = a + 10 WHERE ${c} > 1`)),
  key.map((k) => statement('DELETE FROM t WHERE id = $1', [k])),
  key.map((k) => statement('INSERT INTO t VALUES ($1, 3, 3)', [k])),
  keyed.map(([c, k]) => statement(`SELECT ${c} FROM t WHERE id = $1 FOR UPDATE SKIP LOCKED`, [k])),
];

const taking = 'SELECT id FROM t WHERE b > 0 ORDER BY id';

const statements: Readonly<Record<Dialect, readonly fc.Arbitrary<Statement>[]>> = {
  postgres: [
    ...common,
    key.map((k) => statement('INSERT INTO t VALUES ($1, 5, 5) ON CONFLICT DO NOTHING', [k])),
    name.map((c) => statement(`UPDATE t SET ${c} = 0 WHERE id = (${taking} LIMIT 1 FOR UPDATE SKIP LOCKED)`)),
    key.map((k) => statement('INSERT INTO t VALUES ($1, 7, 7) ON CONFLICT (id) DO UPDATE SET a = t.a + 1', [k])),
  ],
  mysql: [
    ...common.map((each) => each.map((one) => ({ ...one, sql: one.sql.replaceAll(/\$\d/g, '?') }))),
    keyed.map(([c, k]) => statement(`SELECT ${c} FROM t WHERE id = ? LOCK IN SHARE MODE`, [k])),
    name.map((c) => statement(`SELECT sum(a) AS n FROM t WHERE ${c} > 1 FOR UPDATE`)),
    keyed.map(([c, k]) => statement(`UPDATE t SET ${c} = ${c} + 1 WHERE id IN (1, ?) AND a > 1`, [k])),
    keyed.map(([c, k]) =>
      statement(`UPDATE t SET ${c} = (SELECT m FROM (SELECT max(b) AS m FROM t) AS x) WHERE id = ?`, [k]),
    ),
    name.map((c) => statement(`DELETE FROM t WHERE ${c} > 1 ORDER BY id LIMIT 1`)),
    key.map((k) => statement('INSERT IGNORE INTO t VALUES (?, 5, 5)', [k])),
    key.map((k) => statement('INSERT INTO t VALUES (?, 7, 7) ON DUPLICATE KEY UPDATE a = a + 1', [k])),
    key.map((k) => statement('REPLACE INTO t VALUES (?, 9, 9)', [k])),
    key.map((k) => statement('INSERT IGNORE INTO t SELECT 9, a, b FROM t WHERE id = ?', [k])),
  ],
};

const readFirst: Readonly<Record<Dialect, string>> = {
  postgres: 'SELECT a FROM t WHERE id = $1',
  mysql: 'SELECT a FROM t WHERE id = ?',
};

function anyTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  return fc
    .tuple(key, fc.array(fc.oneof(...statements[dialect]), { minLength: 1, maxLength: 3 }))
    .map(([k, rest]) => [statement(readFirst[dialect], [k], 'first'), ...rest])
    .chain((withRead) =>
      fc.constantFrom(
        withRead,
        withRead.slice(1).filter((one) => !usesFirst(one)),
      ),
    )
    .filter((steps) => steps.length > 0);
}

/** A choice by whether the first statement found its row: the rest follows where it did, where it did not, or where it did and else a throw. */
function choosingTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  const isMissing: Value = expression('=', { kind: 'row-count', statement: 'first' }, 0);
  const rest = fc.array(
    fc.oneof(...statements[dialect]).filter((one) => !usesFirst(one)),
    { minLength: 1, maxLength: 2 },
  );
  return fc
    .tuple(key, fc.constantFrom(...choosing[dialect]), rest, fc.constantFrom('found', 'missing', 'throw'))
    .map(([k, sql, steps, when]) => [
      statement(sql, [k], 'first'),
      ...(when === 'throw'
        ? [branch<Step>(isMissing, [abort()], []), ...steps]
        : [branch<Step>(isMissing, when === 'missing' ? steps : [], when === 'found' ? steps : [])]),
    ]);
}

const choosing: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    'SELECT a FROM t WHERE id = $1',
    'SELECT a FROM t WHERE id = $1 AND b > 1 FOR UPDATE',
    'UPDATE t SET a = a + 1 WHERE id = $1 AND b > 1 RETURNING a',
    'DELETE FROM t WHERE id = $1 RETURNING a',
    'INSERT INTO t VALUES ($1, 5, 5) ON CONFLICT DO NOTHING RETURNING a',
  ],
  mysql: [
    'SELECT a FROM t WHERE id = ?',
    'SELECT a FROM t WHERE id = ? AND b > 1 FOR UPDATE',
    'UPDATE t SET a = a + 1 WHERE id = ? AND b > 1',
    'DELETE FROM t WHERE id = ?',
    'INSERT IGNORE INTO t VALUES (?, 5, 5)',
  ],
};

/** Looks for a row, and makes it where there is none: of two that do, one fails. None deletes rows. */
function makingTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  const isMissing: Value = expression('=', { kind: 'row-count', statement: 'first' }, 0);
  const [k, k2] = { postgres: ['$1', '$2'], mysql: ['?', '?'] }[dialect] as [string, string];
  const any = (...some: readonly Statement[]): fc.Arbitrary<Statement> => fc.constantFrom(...some);
  const others = fc
    .constantFrom('x', 'y')
    .chain((one) =>
      any(
        statement(`UPDATE t SET a = a + 1 WHERE id = ${k}`, [argument(one)]),
        statement(`SELECT a FROM t WHERE id = ${k}`, [argument(one)]),
        statement(`UPDATE t SET b = ${k} WHERE id = ${k2}`, [argument('v'), argument(one)]),
      ),
    );
  return fc
    .tuple(fc.constantFrom('x', 'y'), fc.array(others, { maxLength: 2 }))
    .map(([one, rest]) => [
      statement(`SELECT a FROM t WHERE id = ${k}`, [argument(one)], 'first'),
      branch<Step>(isMissing, [statement(`INSERT INTO t VALUES (${k}, 3, 3)`, [argument(one)]), ...rest], []),
    ]);
}

/** As a worker of a queue: takes some row, changes it, and does something else. */
function takingTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  const rest = fc.array(
    fc.oneof(...statements[dialect]).filter((one) => !usesFirst(one)),
    { maxLength: 1 },
  );
  const found = column('first', 'id');
  const byId = `WHERE id = ${{ postgres: '$1', mysql: '?' }[dialect]}`;
  const changes = [`UPDATE t SET b = 0, a = 30 ${byId}`, `DELETE FROM t ${byId}`].map((sql) => statement(sql, [found]));
  return fc
    .tuple(fc.constantFrom(' LIMIT 1', ''), fc.constantFrom(...changes), rest)
    .map(([limit, change, others]) => [
      statement(`${taking}${limit} FOR UPDATE SKIP LOCKED`, [], 'first'),
      branch<Step>(expression('is null', found), [], [change]),
      ...others,
    ]);
}

/** Reads a row, changes it where it is as it was read, and looks whether it was: `b` is a version, or a state that others set back. */
function optimisticTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  const of = (sql: string, ...given: readonly Value[]): Statement => statement(placed(sql, dialect), given, 'saved');
  const saves = (k: Value): fc.Arbitrary<Statement> =>
    fc.constantFrom(
      of('UPDATE t SET a = $1, b = b + 1 WHERE id = $2 AND b = $3', column('first', 'a'), k, column('first', 'b')),
      of('UPDATE t SET a = a + $1, b = b + 1 WHERE id = $2 AND b = $3', argument('v'), k, column('first', 'b')),
      of('UPDATE t SET a = $1 WHERE id = $2 AND b = $3', column('first', 'a'), k, column('first', 'b')),
      of('UPDATE t SET b = 5 WHERE id = $1 AND b = $2', k, column('first', 'b')),
      of('DELETE FROM t WHERE id = $1 AND b = $2', k, column('first', 'b')),
    );
  const rest = fc.array(
    fc.oneof(...statements[dialect]).filter((one) => !usesFirst(one)),
    { maxLength: 1 },
  );
  const isNone: Value = expression('=', { kind: 'row-count', statement: 'saved' }, 0);
  return key
    .chain((k) => fc.tuple(fc.constant(k), saves(k), rest, fc.constantFrom('throw', 'else', 'always')))
    .map(([k, save, others, when]) => [
      statement(placed('SELECT a, b FROM t WHERE id = $1', dialect), [k], 'first'),
      save,
      branch<Step>(isNone, when === 'throw' ? [abort()] : [], when === 'else' ? others : []),
      ...(when === 'else' ? [] : others),
    ]);
}

function placed(sql: string, dialect: Dialect): string {
  return { postgres: sql, mysql: sql.replaceAll(/\$\d/g, '?') }[dialect];
}

function usesFirst({ parameters }: Statement): boolean {
  return parameters.some(({ kind }) => kind === 'column');
}

/** One statement, or such as follow a lock on the row that they name: most sets of these are robust. */
function guardedTransaction(dialect: Dialect): fc.Arbitrary<readonly Step[]> {
  const any = fc.oneof(...statements[dialect]);
  const alone = any.filter((one) => !usesFirst(one)).map((one) => [one]);
  const locking = fc
    .array(any, { minLength: 1, maxLength: 2 })
    .map((rest) => [statement(`${readFirst[dialect]} FOR UPDATE`, [argument('x')], 'first'), ...rest.map(onRowX)]);
  return fc.oneof({ weight: 2, arbitrary: alone }, { weight: 1, arbitrary: locking });
}

function onRowX(one: Statement): Statement {
  const isRow = (given: Value): boolean => given.kind === 'argument' && given.name === 'y';
  return { ...one, parameters: one.parameters.map((given) => (isRow(given) ? argument('x') : given)) };
}

const anyLevel = fc.constantFrom<IsolationName>(
  'read committed',
  'read committed',
  'read committed',
  'repeatable read',
  'serializable',
);

type DrawnTransaction = { readonly level: IsolationName; readonly steps: readonly Step[] };

function setOf(
  level: fc.Arbitrary<IsolationName>,
  steps: fc.Arbitrary<readonly Step[]>,
): fc.Arbitrary<readonly DrawnTransaction[]> {
  return fc.array(fc.record({ level, steps }), { minLength: 1, maxLength: 2 });
}

/** About two of three are robust: of `anyTransaction` alone, two of five. */
function anySet(dialect: Dialect): fc.Arbitrary<readonly DrawnTransaction[]> {
  return fc.oneof(
    { weight: 2, arbitrary: setOf(anyLevel, anyTransaction(dialect)) },
    { weight: 5, arbitrary: setOf(anyLevel, guardedTransaction(dialect)) },
    { weight: 3, arbitrary: setOf(anyLevel, fc.oneof(choosingTransaction(dialect), guardedTransaction(dialect))) },
    { weight: 1, arbitrary: setOf(anyLevel, takingTransaction(dialect)) },
    { weight: 2, arbitrary: setOf(anyLevel, makingTransaction(dialect)) },
    { weight: 3, arbitrary: setOf(anyLevel, fc.oneof(optimisticTransaction(dialect), guardedTransaction(dialect))) },
    { weight: 1, arbitrary: setOf(fc.constant('serializable'), anyTransaction(dialect)) },
  );
}

/** Mostly the same rows: sessions without a conflict show nothing. */
const anyArguments = fc.record({
  x: fc.constantFrom(1, 1, 1, 2, 3),
  y: fc.constantFrom(2, 2, 2, 3),
  v: fc.integer({ min: 20, max: 23 }),
});

interface Drawn {
  readonly name: string;
  readonly setOf: (dialect: Dialect) => fc.Arbitrary<readonly DrawnTransaction[]>;
  readonly given: fc.Arbitrary<Arguments>;
  readonly schema: readonly string[];
  readonly rows: readonly string[];
}

const ofOneTable: Drawn = { name: 'one table', setOf: anySet, given: anyArguments, schema: [schema], rows };
const ofParents: Drawn = {
  name: 'rows that refer to rows',
  setOf: (dialect) =>
    setOf(
      parentLevel,
      parentTransaction((sql) => placed(sql, dialect)),
    ),
  given: parentArguments,
  schema: [schema, ...referringTables],
  rows: [...rows, ...referringRows],
};

test.each<readonly [Dialect, string, Drawn]>(
  (['postgres', 'mysql'] as const).flatMap((dialect) =>
    [ofOneTable, ofParents].map((drawn) => [dialect, drawn.name, drawn] as const),
  ),
)(
  'no schedule of robust transactions is unserializable: %s, %s',
  { timeout: 3_600_000 },
  async (dialect, _name, sets) => {
    let schedules = 0;
    const numRuns = isHeavy ? 1_500 : 7;
    const drawn = fc.tuple(sets.setOf(dialect), fc.array(sets.given, { minLength: 2, maxLength: 2 }));
    await fc.assert(
      fc.asyncProperty(drawn, async ([transactions, given]) => {
        const units = Object.fromEntries(
          transactions.map(({ level, steps }, at) => [`t${at}`, [transaction(`t${at}`, level, steps)]]),
        );
        const app = application({ dialect, schema: sets.schema.join(';'), units });
        const catalog = await readSchema(app);
        const analyzed = transactionsOf(app, catalog);
        expect(analyzed.flatMap(({ notUnderstood }) => notUnderstood)).toEqual([]);
        const levels = transactions.map(({ level }) => level);
        fc.pre(new RobustSet(analyzed, dialect).isRobust(levels));
        const sessions = given.map((values, at) => {
          const number = at % transactions.length;
          const { level, steps } = transactions[number] as (typeof transactions)[number];
          const guards = guardsIn(analyzed[number]?.paths ?? []);
          return { name: `s${at}`, scope: 'one transaction' as const, level, arguments: values, steps, guards };
        });
        const explored = await exploringHere()(
          {
            schema: [...sets.schema, ...sets.rows],
            sessions,
            dialect,
            compared: 'state and reads',
            ...stateOf(catalog, { has: () => true }, new Set()),
          },
          { schedulesMax: isHeavy ? 300 : 40 },
        );
        if (explored.kind === 'failed') throw new Error(explored.reason);
        schedules += explored.schedules;
        expect(explored.violations).toBe(0);
      }),
      { seed, numRuns },
    );
    expect(schedules).toBeGreaterThan(numRuns);
  },
);
