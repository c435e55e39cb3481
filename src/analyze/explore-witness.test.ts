/** Witnesses that share tables begin with a copy of them: what they come to is what each comes to by itself. */
import { expect, test } from 'vitest';
import { argument, column, statement, expression } from './builder.ts';
import { type Explored, exploringHere } from './explore-witness.ts';
import type { WitnessDefinition } from './witness-definition.ts';

const read = statement('SELECT n FROM t WHERE id = $1', [argument('id')], 'read');
const write = statement('UPDATE t SET n = $2 WHERE id = $1', [
  argument('id'),
  expression('+', column('read', 'n'), argument('by')),
]);

function adding(ddl: string, rows: readonly string[], ids: readonly number[]): WitnessDefinition {
  return {
    dialect: 'postgres',
    schema: [ddl, ...rows],
    sessions: ids.map((id, at) => ({
      name: `add ${at + 1}`,
      scope: 'one transaction',
      level: 'read committed',
      arguments: { id, by: at + 1 },
      steps: [read, write],
      guards: [],
    })),
    state: ['SELECT id, n FROM t ORDER BY 1'],
    ignored: [],
    compared: 'state and reads',
  };
}

const tables = 'CREATE TABLE t (id serial PRIMARY KEY, n int NOT NULL); CREATE INDEX of_n ON t (n);';
const row = (n: number): string => `INSERT INTO t (n) VALUES (${n})`;

async function eachAlone(definitions: readonly WitnessDefinition[]): Promise<readonly Explored[]> {
  const explored: Explored[] = [];
  for (const definition of definitions) explored.push(await exploringHere()(definition, { schedulesMax: 100 }));
  return explored;
}

async function allTogether(definitions: readonly WitnessDefinition[]): Promise<readonly Explored[]> {
  const explore = exploringHere();
  const explored: Explored[] = [];
  for (const definition of definitions) explored.push(await explore(definition, { schedulesMax: 100 }));
  return explored;
}

test('the same tables with other rows', async () => {
  const definitions = [
    adding(tables, [row(5)], [1, 1]),
    adding(tables, [row(5), row(6)], [1, 2]),
    adding(tables, [row(1), row(2)], [2, 2]),
    adding(tables, [row(7), `INSERT INTO t VALUES (1, 1)`], [1, 1]),
    adding(tables, [row(5)], [1, 1]),
  ];
  const alone = await eachAlone(definitions);
  expect(alone.map((one) => (one.kind === 'explored' ? one.violations > 0 : one.reason))).toEqual([
    true,
    false,
    true,
    expect.stringContaining('duplicate key'),
    true,
  ]);
  expect(await allTogether(definitions)).toEqual(alone);
});

test('tables behind settings, which hold for their session', async () => {
  const ddl = `
    SET FOREIGN_KEY_CHECKS = 0;
    CREATE TABLE p (id int PRIMARY KEY);
    CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, p int NOT NULL, FOREIGN KEY (p) REFERENCES p (id));`;
  const definitions = [5, 8].map((n): WitnessDefinition => {
    const { sessions, ...rest } = adding(ddl, [`INSERT INTO t VALUES (1, ${n}, 9)`], [1, 1]);
    const steps = [
      statement('SELECT n FROM t WHERE id = ?', [argument('id')], 'read'),
      statement('UPDATE t SET n = ? WHERE id = ?', [
        expression('+', column('read', 'n'), argument('by')),
        argument('id'),
      ]),
    ];
    return { ...rest, dialect: 'mysql', sessions: sessions.map((session) => ({ ...session, steps })) };
  });
  const alone = await eachAlone(definitions);
  expect(alone).toMatchObject([{ anomaly: 'internal' }, { anomaly: 'internal' }]);
  expect(await allTogether(definitions)).toEqual(alone);
});
