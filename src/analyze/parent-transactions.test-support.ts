/** Random transactions about rows of `t` and rows that refer to them, those of `c` and `d`: most lock a row of `t`, look at what refers to it, and write that. */
import fc from 'fast-check';
import type { IsolationName } from '../sql/index.ts';
import type { Statement, Step, Value } from './application.ts';
import { abort, argument, branch, column, expression, statement } from './builder.ts';

/** Rows of `d` may be gone again: their key says to which row they refer. */
export const referringTables = [
  'CREATE TABLE c (id int PRIMARY KEY, t_id int NOT NULL, a int NOT NULL)',
  'CREATE TABLE d (t_id int NOT NULL, n int NOT NULL, a int NOT NULL, PRIMARY KEY (t_id, n))',
];
export const referringRows = ['INSERT INTO c VALUES (1, 1, 1)', 'INSERT INTO d VALUES (1, 1, 1)'];

/** Of each, some. */
const parent = fc.constantFrom('x', 'x', 'x', 'y').map(argument);

/** What was counted, or a number. */
const amount = fc.constantFrom<Value>(column('counted', 'n'), argument('v'));

const lock: fc.Arbitrary<Statement> = fc
  .tuple(
    fc.constantFrom(
      'SELECT a FROM t WHERE id = $1 FOR UPDATE',
      'SELECT a FROM t WHERE id = $1 FOR UPDATE',
      'UPDATE t SET b = b + 1 WHERE id = $1',
      'SELECT a FROM t WHERE id = $1',
    ),
    parent,
  )
  .map(([sql, x]) => statement(sql, [x], 'locked'));

const lockBoth = statement('SELECT a FROM t WHERE id IN ($1, $2) ORDER BY id FOR UPDATE', [
  argument('x'),
  argument('y'),
]);

const looks: fc.Arbitrary<Statement> = fc
  .tuple(
    fc.constantFrom(
      'SELECT count(*) AS n FROM c WHERE t_id = $1',
      'SELECT count(*) AS n FROM c WHERE t_id = $1 AND a > 1',
      'SELECT coalesce(sum(a), 0) AS n FROM d WHERE t_id = $1',
      'SELECT count(*) AS n FROM d WHERE t_id = $1 AND n > 1',
    ),
    parent,
  )
  .map(([sql, x]) => statement(sql, [x], 'counted'));

const key = argument('k');

const writes: fc.Arbitrary<Statement> = fc.tuple(parent, amount, fc.nat(9)).map(([x, v, which]) => {
  const all: readonly Statement[] = [
    statement('INSERT INTO c VALUES ($1, $2, $3)', [key, x, v]),
    statement('INSERT INTO d VALUES ($2, $1, $3)', [key, x, v]),
    statement('UPDATE c SET a = a + 1 WHERE t_id = $1', [x]),
    statement('UPDATE d SET a = $2 WHERE t_id = $1 AND n > 0', [x, v]),
    statement('DELETE FROM d WHERE t_id = $1', [x]),
    statement('UPDATE t SET a = $2 WHERE id = $1', [x, v]),
    statement('UPDATE c SET a = $2 WHERE id = 1 AND t_id = $1', [x, v]),
    statement('UPDATE c SET a = $2 WHERE id = $1', [key, v]),
    statement('INSERT INTO c VALUES ($1, $2, $3)', [key, x, v]),
    statement('INSERT INTO d VALUES ($2, $1, $3)', [key, x, v]),
  ];
  return all[which] as Statement;
});

/** What makes a reference unknown, or moves a row to another. */
const others: fc.Arbitrary<Statement> = fc.tuple(parent, fc.nat(5)).map(([x, which]) => {
  const all: readonly Statement[] = [
    statement('SELECT count(*) AS n FROM c', [], 'counted'),
    statement('UPDATE c SET t_id = $1 WHERE id = 1', [x]),
    statement('DELETE FROM c WHERE id = $1', [key]),
    statement('SELECT a FROM c WHERE t_id = $1 FOR UPDATE', [x]),
    statement('SELECT a FROM d WHERE t_id = $1 AND n = 1', [x]),
    statement('INSERT INTO t VALUES ($1, 3, 3)', [key]),
  ];
  return all[which] as Statement;
});

/** @param placed the parameters of the dialect */
export function parentTransaction(placed: (sql: string) => string): fc.Arbitrary<readonly Step[]> {
  const isMissing = expression('=', { kind: 'row-count', statement: 'locked' }, 0);
  const found = branch<Step>(isMissing, [abort()], []);
  const begins = fc.oneof(
    { weight: 5, arbitrary: lock.chain((one) => fc.constantFrom<readonly Step[]>([one, found], [one])) },
    { weight: 1, arbitrary: fc.constantFrom<readonly Step[]>([lockBoth], []) },
  );
  const rest = fc.array(
    fc.oneof({ weight: 8, arbitrary: writes }, { weight: 3, arbitrary: looks }, { weight: 1, arbitrary: others }),
    { minLength: 1, maxLength: 2 },
  );
  return fc.tuple(begins, fc.option(looks, { freq: 4 }), rest).map(([first, look, more]) => {
    const counted = look === null ? [] : [look];
    const steps = [...first, ...counted, ...more].map((step) =>
      step.kind === 'statement' ? { ...step, sql: placed(step.sql) } : step,
    );
    return steps.filter((step, at) => step.kind !== 'statement' || !usesLater(step, steps.slice(0, at)));
  });
}

/** A value of a result that no statement before has. */
function usesLater({ parameters }: Statement, before: readonly Step[]): boolean {
  return parameters.some(
    (value) =>
      value.kind === 'column' && !before.some((step) => step.kind === 'statement' && step.result === value.statement),
  );
}

/** Each session has a key of its own, mostly. */
export const parentArguments: fc.Arbitrary<Readonly<Record<'x' | 'y' | 'k' | 'v', number>>> = fc.record({
  x: fc.constantFrom(1, 1, 1, 2),
  y: fc.constantFrom(2, 2, 1),
  k: fc.constantFrom(10, 11, 12, 13),
  v: fc.integer({ min: 20, max: 23 }),
});

export const parentLevel = fc.constantFrom<IsolationName>(
  'read committed',
  'read committed',
  'read committed',
  'read committed',
  'repeatable read',
  'serializable',
);
