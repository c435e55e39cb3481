/** Shapes: when do two definitions differ only in amounts that decide nothing and hide nothing? */
import { expect, test } from 'vitest';
import type { Step } from './application.ts';
import { argument, column, expression, statement } from './builder.ts';
import { exploringHere } from './explore-witness.ts';
import { runStatements } from './run-session.ts';
import { SerialOutcomes } from './serial-outcomes.ts';
import type { WitnessDefinition } from './witness-definition.ts';

const [id, amount, balance] = [argument('id'), argument('amount'), column('account', 'balance')];
const read = statement('SELECT balance FROM accounts WHERE id = $1', [id], 'account');
const add: readonly Step[] = [
  read,
  statement('UPDATE accounts SET balance = $2 WHERE id = $1', [id, expression('+', balance, amount)]),
];
/** A fee of 1 where there is not enough. */
const take: readonly Step[] = [
  read,
  statement('UPDATE accounts SET balance = balance - $2 WHERE id = $1', [
    id,
    expression('if', expression('<', balance, amount), expression('+', amount, 1), amount),
  ]),
];
const set: readonly Step[] = [read, statement('UPDATE accounts SET balance = $2 WHERE id = $1', [id, amount])];

function twice(steps: readonly Step[], start: number, ...amounts: readonly [number, number]): WitnessDefinition {
  return {
    dialect: 'postgres',
    schema: ['CREATE TABLE accounts (id int PRIMARY KEY, balance int)', `INSERT INTO accounts VALUES (1, ${start})`],
    sessions: amounts.map((each, at) => ({
      name: `s ${at}`,
      scope: 'one transaction',
      level: 'read committed',
      arguments: { id: 1, amount: each },
      steps,
      guards: [],
    })),
    state: ['SELECT id, balance FROM accounts ORDER BY 1'],
    ignored: [],
    compared: 'state and reads',
  };
}

const shapeOf = (definition: WitnessDefinition): Promise<string> =>
  new SerialOutcomes(definition, runStatements(definition.dialect), undefined).shape();

test.each([
  ['amounts that decide nothing', twice(add, 100, 10, 20), twice(add, 7, 60, 150), true],
  ['a condition inside a value', twice(take, 100, 10, 20), twice(take, 2, 1, 2), false],
  ['a write that is not seen: it leaves what was there', twice(set, 100, 10, 20), twice(set, 100, 100, 100), false],
  ['a write after which the state says nothing of the order', twice(set, 100, 10, 20), twice(set, 100, 10, 10), false],
])('%s', async (_, one, other, isSame) => {
  expect((await shapeOf(one)) === (await shapeOf(other))).toBe(isSame);
});

test('a definition that has the shape of one which was explored to the end is not explored', async () => {
  const explore = exploringHere();
  const first = await explore(twice(add, 100, 10, 20), { schedulesMax: 20, exploredShapes: new Set() });
  if (first.kind === 'failed' || first.shape === null) throw new Error('it is explored to the end');
  expect(first).toMatchObject({ isComplete: true, anomaly: 'internal' });
  const limits = { schedulesMax: 20, exploredShapes: new Set([first.shape]) };
  expect(await explore(twice(add, 7, 60, 150), limits)).toMatchObject({ kind: 'failed' });
  expect(await explore(twice(take, 2, 1, 2), limits)).toMatchObject({ kind: 'explored' });
});

test('one that was not explored to the end has no shape', async () => {
  const few = await exploringHere()(twice(add, 100, 10, 20), { schedulesMax: 2, exploredShapes: new Set() });
  expect(few).toMatchObject({ isComplete: false, shape: null });
});
