/** `moirai check --by commit-tests`: what it prints, its exit codes, its JSON. */
import { expect, test } from 'vitest';
import { runHere } from './support/cli.ts';

const files = {
  'skew.history': 'r x _, w y 1\nr y _, w x 1',
  'serial.history': 'transactions 2\nw x 1\nr x 1\n',
  'backwards.history': 'w x 1\nr x 1, r x _',
  'two-sessions.history': 'w x 1 | r x _\nr x 1 | w y 1',
};

const check = (...args: string[]) => runHere(['check', '--by', 'commit-tests', ...args], files);

test('a violation says for each transaction where the others pass and it does not', async () => {
  const { code, out, err } = await check('skew.history', '--level', 'serializable');
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(out).toContain('skew.history: 2 transactions, 4 operations; by commit tests\n');
  expect(out).toContain('snapshot-isolation           satisfied\nserializable                 violated\n');
  expect(out).toContain(
    'serializable: violated: 0/0 and 1/0 never pass together\n' +
      'where 1/0 passes, 0/0 does not; in the order 1/0, 0/0:\n' +
      '  0/0 reads x = null, as in state 0; its parent, state 1, has x = 1 by 1/0\n',
  );
});

test('a level that holds comes with its execution', async () => {
  const { code, out } = await check('serial.history', '--level', 'serializable');
  expect(code).toBe(0);
  expect(out).toContain('strongest level: serializable\n\nserializable: satisfied by the execution 0/0, 1/0\n');
  expect(out).toContain('1/0, from state 1 to state 2, reads x = 1 in state 1\n');
});

test('what the paper calls read committed is called preread, and is not the read-committed of the axioms', async () => {
  const { code, out } = await check('backwards.history', '--level', 'read-committed');
  expect(code).toBe(0);
  expect(out).toContain('strongest level: preread\n');
  expect((await runHere(['check', 'backwards.history', '--level', 'read-committed'], files)).code).toBe(1);
});

test('without --level all levels are judged, two of them strongest, and the exit code is 0', async () => {
  const { code, out } = await check('two-sessions.history');
  expect(code).toBe(0);
  expect(out).toContain('session-snapshot-isolation   violated\nserializable                 satisfied\n');
  expect(out).toContain('strict-serializable          unknown: strict-serializable needs the start and end');
  expect(out).toContain('strongest level: serializable\n');
});

test('--json keeps the shape of check, with obstacles for a cycle and the execution', async () => {
  const { out } = await check('skew.history', '--level', 'serializable', '--json');
  expect(JSON.parse(out)).toEqual({
    file: 'skew.history',
    by: 'commit-tests',
    transactions: 2,
    operations: 4,
    levels: {
      'read-uncommitted': 'satisfied',
      preread: 'satisfied',
      'read-atomic': 'satisfied',
      'parallel-snapshot-isolation': 'satisfied',
      'snapshot-isolation': 'satisfied',
      serializable: 'violated',
    },
    strongest: 'snapshot-isolation',
    assumed: [],
    execution: [
      { transaction: '0/0', parent: 0, readStates: [[0], [0]] },
      { transaction: '1/0', parent: 1, readStates: [[0], [0, 1]] },
    ],
    violations: [
      {
        level: 'serializable',
        anomaly: null,
        transactions: ['0/0', '1/0'],
        cycle: [],
        obstacles: [
          {
            transaction: '0/0',
            conflictsWith: ['1/0'],
            order: ['1/0', '0/0'],
            failures: ['0/0 reads x = null, as in state 0; its parent, state 1, has x = 1 by 1/0'],
          },
          {
            transaction: '1/0',
            conflictsWith: ['0/0'],
            order: ['0/0', '1/0'],
            failures: ['1/0 reads y = null, as in state 0; its parent, state 1, has y = 1 by 0/0'],
          },
        ],
      },
    ],
  });
});

test('not known is exit code 2', async () => {
  expect((await check('serial.history', '--level', 'strict-serializable')).code).toBe(2);
});

test.each([
  [['--by', 'states', 'serial.history'], '--by should be one of axioms, commit-tests, not "states" [option/by]\n'],
  [
    ['--by', 'commit-tests', '--level', 'prefix', 'serial.history'],
    'unknown level of commit tests "prefix"; levels: read-uncommitted, preread, read-atomic, parallel-snapshot-isolation, ' +
      'snapshot-isolation, session-snapshot-isolation, serializable, strict-serializable [level/unknown]\n',
  ],
])('%j is bad usage', async (args, err) => {
  expect(await runHere(['check', ...args], files)).toEqual({ code: 3, out: '', err });
});

test('--max-time ends the search of a history, and the levels that are open are unknown', async () => {
  const skews = Array.from({ length: 9 }, (_, i) => `r x${i} _, w y${i} 1, r z _\nr y${i} _, w x${i} 1, w z ${i}`);
  const hard = { 'hard.history': skews.join('\n') };
  const { code, out } = await runHere(
    ['check', '--by', 'commit-tests', 'hard.history', '--level', 'serializable', '--max-time', '0.001'],
    hard,
  );
  expect(out).toContain('serializable                 unknown: stopped by --max-time\n');
  expect(code).toBe(2);
});
