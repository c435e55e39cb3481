/** The scheduler: turns, transactions that wait for each other, retries, and runs that do not end. */
import { describe, expect, test } from 'vitest';
import { InputError, seeded } from '../src/base/index.ts';
import { monotonicMs } from '../src/base/clock.ts';
import { formatHistory } from '../src/history/index.ts';
import type { ConstrainingLevel } from '../src/isolation/index.ts';
import { drawing, following, MockDatabase } from '../src/mockdb/index.ts';
import {
  type Program,
  program,
  runProgram,
  type RunOptions,
  SerializationFailure,
  type SessionFunction,
  type SessionHandle,
  sqlProgram,
} from '../src/program/index.ts';

const serial = () => following([], new Map());

async function run(
  tested: Program,
  options: Partial<RunOptions> & { level?: ConstrainingLevel; decisions?: ReturnType<typeof drawing> } = {},
) {
  const { level = 'serializable', decisions = serial(), ...rest } = options;
  const database = new MockDatabase({ level, initial: tested.initial, sessionNames: tested.sessionNames });
  database.reset(decisions);
  const outcome = await runProgram(tested, database, { nextSession: decisions.session, ...rest });
  return { outcome, history: formatHistory(database.history()), schedule: decisions.schedule };
}

describe('turns', () => {
  test('sessions go in the order that is decided, one transaction at a time', async () => {
    const tested = program({
      sessions: {
        a: async (s) => {
          await s.write('x', 'a1');
          await s.write('x', 'a2');
        },
        b: (s) => s.write('x', 'b1'),
      },
    });
    const { schedule, history } = await run(tested, { decisions: following([0, 1, 0], new Map()) });
    expect(schedule).toEqual([0, 1, 0]);
    expect(history).toBe('w x "a1" | w x "a2"\nw x "b1"');
  });

  test('awaits of its own between and inside transactions do not disturb a session', async () => {
    const tested = program({
      sessions: {
        a: async (s) => {
          await Promise.resolve();
          const sum = await s.transaction(async (t) => {
            const [x, y] = await Promise.all([t.read<number>('x'), t.read<number>('y')]);
            await Promise.resolve();
            return x + y;
          });
          await Promise.all([s.write('sum', sum), s.write('done', true)]);
          return sum;
        },
      },
      initial: { x: 1, y: 2 },
    });
    const { outcome, history } = await run(tested);
    expect(outcome).toMatchObject({ kind: 'finished', results: { a: 3 } });
    expect(history.split('\n')[1]).toBe('r x _, r y _ | w sum 3 | w done true');
  });

  test('two sessions that hold transactions open for each other both end', async () => {
    let tell: (value: string) => void = () => {};
    const told = new Promise<string>((resolve) => (tell = resolve));
    const tested = program({
      sessions: {
        waiter: (s) =>
          s.transaction(async (t) => {
            await t.read('x');
            await t.write('heard', await told);
          }),
        teller: (s) =>
          s.transaction(async (t) => {
            await t.write('x', 1);
            tell('hello');
          }),
      },
    });
    const { outcome, history } = await run(tested);
    expect(outcome).toMatchObject({ kind: 'finished', waitedOutside: ['waiter'] });
    expect(history).toBe('r x _, w heard "hello"\nw x 1');
  });

  test('a timer is waited for', async () => {
    const tested = program({
      sessions: {
        a: async (s) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          await s.write('x', 1);
        },
        b: (s) => s.write('x', 2),
      },
    });
    expect((await run(tested)).outcome).toMatchObject({ kind: 'finished', waitedOutside: ['a'] });
  });
});

test('sessions that start a transaction while another of theirs is under way are named', async () => {
  const reads = async (s: SessionHandle) => void (await s.read('x'), await s.read('y'));
  const tested = program({ sessions: { both: (s) => Promise.all([s.read('x'), s.read('y')]), reads } });
  expect((await run(tested)).outcome).toMatchObject({ kind: 'finished', queued: ['both'] });
});

describe('transactions', () => {
  test('abort ends the transaction and rolls it back', async () => {
    const tested = program({
      sessions: {
        a: async (s) => [
          await s.transaction(async (t) => {
            await t.write('x', 1);
            t.abort();
          }),
          await s.read('x'),
        ],
      },
    });
    const { outcome, history } = await run(tested);
    expect(outcome).toMatchObject({ kind: 'finished', results: { a: [undefined, null] } });
    expect(history).toBe('w x 1 ! | r x _');
  });

  test('an error rolls the transaction back and passes through', async () => {
    const tested = program({
      sessions: {
        a: async (s) => {
          try {
            await s.transaction(async (t) => {
              await t.write('x', 1);
              throw new Error('no seat');
            });
          } catch (error) {
            return (error as Error).message;
          }
          return null;
        },
      },
    });
    const { outcome, history } = await run(tested);
    expect(outcome).toMatchObject({ kind: 'finished', results: { a: 'no seat' } });
    expect(history).toBe('w x 1 !');
  });

  test.each([
    ['a transaction throws', false, (s: SessionHandle) => s.transaction(() => Promise.reject(new Error('no')))],
    ['the session throws', true, () => Promise.reject(new Error('no'))],
  ])('when %s and nobody catches it, the outcome tells where it came from', async (_name, isOutside, body) => {
    const { outcome } = await run(program({ sessions: { a: body, b: (s) => s.write('x', 1) } }));
    expect(outcome).toMatchObject({ kind: 'threw', session: 'a', isOutside });
  });

  test('what the store cannot commit runs again, or fails with 40001', async () => {
    const increment = program({
      initial: { x: 0 },
      sessions: Object.fromEntries(
        ['a', 'b', 'c'].map((name) => [
          name,
          async (s) => s.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1)),
        ]),
      ),
    });
    let failures = 0;
    for (let seed = 0; seed < 30; seed += 1) {
      const retried = await run(increment, { decisions: drawing({ chooser: seeded(seed) }) });
      expect(retried.outcome.kind).toBe('finished');
      expect(retried.history.match(/w x \d/g)?.toSorted()).toEqual(['w x 1', 'w x 2', 'w x 3']);
      const failed = await run(increment, { decisions: drawing({ chooser: seeded(seed) }), conflicts: 'abort' });
      if (failed.outcome.kind === 'threw') {
        failures += 1;
        expect(failed.outcome.error).toBeInstanceOf(SerializationFailure);
        expect(failed.outcome).toMatchObject({ isOutside: false, error: { code: '40001' } });
      }
    }
    expect(failures).toBeGreaterThan(0);
  });

  test('many read-modify-writes of two keys all get through at serializable', async () => {
    const both = async (s: SessionHandle) => {
      for (let i = 0; i < 12; i += 1) {
        await s.transaction(async (t) => {
          const [x, y] = [await t.read<number>('x'), await t.read<number>('y')];
          await t.write('x', x + 1);
          await t.write('y', y + 1);
        });
      }
    };
    const tested = program({ initial: { x: 0, y: 0 }, sessions: { a: both, b: both, c: both } });
    for (let seed = 0; seed < 10; seed += 1) {
      const { outcome, history } = await run(tested, {
        decisions: drawing({ chooser: seeded(seed) }),
        attemptsMax: 60,
      });
      expect(outcome.kind).toBe('finished');
      expect(history).toContain('w x 36, w y 36');
    }
  });

  test('a transaction that can never commit fails after so many attempts', async () => {
    const decisions = { ...serial(), failure: () => true };
    const tested = program({ sessions: { a: (s) => s.write('x', 1) } });
    const { outcome } = await run(tested, { decisions, attemptsMax: 3 });
    expect(outcome).toMatchObject({ kind: 'threw', isOutside: false });
    expect(String((outcome as { error: unknown }).error)).toContain('rolled back 3 times');
  });
});

describe('bad programs', () => {
  test('a transaction inside a transaction of the same session is refused', async () => {
    const tested = program({ sessions: { a: (s) => s.transaction(() => s.write('x', 1)) } });
    await expect(run(tested)).rejects.toThrow(/session "a" waits for a transaction inside its own/);
  });

  test('a value that JSON cannot carry is refused, with the key', async () => {
    const tested = program({ sessions: { a: (s) => s.write('x', new Map()) } });
    await expect(run(tested)).rejects.toMatchObject({
      code: 'history/value',
      message: expect.stringContaining('write of x') as unknown,
    });
    await expect(run(tested)).rejects.toBeInstanceOf(InputError);
  });

  const endless: readonly (readonly [string, SessionFunction, string])[] = [
    ['never resolves', () => new Promise(() => {}), 'nothing yet'],
    [
      'never resolves inside a transaction',
      (s: SessionHandle) =>
        s.transaction(async (t) => {
          await t.read('x');
          await new Promise(() => {});
        }),
      'read of x',
    ],
    [
      'loops for ever',
      async (s) => {
        for (;;) await s.read('y');
      },
      'read of y',
    ],
    [
      'loops for ever inside a transaction',
      (s: SessionHandle) =>
        s.transaction(async (t) => {
          for (;;) await t.write('z', 1);
        }),
      'write of z',
    ],
  ];
  test.each(endless)('a session that %s ends at the deadline', async (_name, body, lastOperation) => {
    const tested = program({ sessions: { a: (s) => s.write('w', 1), b: body } });
    const { outcome } = await run(tested, { deadlineMs: monotonicMs() + 60 });
    expect(outcome).toEqual({ kind: 'timeout', reason: 'time', session: 'b', lastOperation });
  });

  const malformed: readonly (readonly [string, unknown, string])[] = [
    ['no sessions', { sessions: {} }, 'at least one session'],
    ['a session that is not a function', { sessions: { a: 1 } }, 'session "a" is not a function'],
    ['an invariant that is not a function', { sessions: { a: () => 1 }, invariant: true }, '`invariant`'],
    ['a misspelt field', { initail: { x: 1 }, sessions: { a: () => 1 } }, 'did you mean "initial"?'],
    ['an unknown field', { sessions: { a: () => 1 }, level: 'causal' }, 'known: initial, sessions, invariant'],
    [
      'an initial state that is a Map',
      { sessions: { a: () => 1 }, initial: new Map([['x', 1]]) },
      '`initial` is a Map',
    ],
    [
      'an initial value that JSON cannot carry',
      { sessions: { a: () => 1 }, initial: { x: undefined } },
      'the initial value of x',
    ],
  ];
  test.each(malformed)('%s', (_name, definition, message) => {
    expect(() => program(definition as never)).toThrow(message);
  });

  test('a misspelt field of a SQL program is refused; one that was made is taken with other sessions', () => {
    const sessions = { a: () => 1 };
    const made = sqlProgram({ dialect: 'postgres', schema: 'create table t (n int)', sessions });
    const misspelt = { ...made, sessions, invarient: () => true };
    expect(() => sqlProgram(misspelt)).toThrow('unknown field "invarient" of a SQL program: did you mean "invariant"?');
    expect(() => sqlProgram({ ...made, sessions, isolaton: 'serializable' } as never)).toThrow('"isolaton"');
    expect(sqlProgram({ ...made, sessions: { b: () => 1 } }).sessionNames).toEqual(['b']);
  });

  test.each(['serialisable', 'toString'])('level %j of one transaction is refused at once', async (level) => {
    const options = { level } as never;
    const tested = program({ sessions: { a: (s) => s.transaction((t) => t.write('x', 1), options), b: () => 1 } });
    await expect(run(tested)).rejects.toMatchObject({ code: 'level/unknown' });
  });

  test('an option that a transaction does not have is refused, also where the session catches errors', async () => {
    const options: object = { isolation: 'read-committed' };
    const tested = program({
      sessions: { a: async (s) => s.transaction((t) => t.write('x', 1), options).catch(() => {}) },
    });
    const refused = { code: 'program/shape', message: expect.stringContaining('known: level') as unknown };
    await expect(run(tested)).rejects.toMatchObject(refused);
  });
});
