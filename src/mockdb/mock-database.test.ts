import { describe, expect, test } from 'vitest';
import { InputError, seeded } from '../base/index.ts';
import { formatHistory, type Value } from '../history/index.ts';
import { check, type ConstrainingLevel, constrainingLevels, satisfies } from '../isolation/index.ts';
import { mockDatabase, type MockDatabase, type Version } from './index.ts';
import { FAILURES_BEFORE_NEWEST } from './axiomatic-core.ts';

/** Sees the newest write with this value. */
const wants = (wanted: () => unknown) => (admissible: readonly Version[]) => {
  const position = admissible.findIndex(({ value }) => value === wanted());
  if (position < 0) throw new Error(`${String(wanted())} is not admissible`);
  return position;
};

/** A database whose reads see what the test says; `read` fails where the level does not allow it. */
function guided(level: ConstrainingLevel, initial: Record<string, Value> = { x: 0, y: 0 }) {
  let next: unknown = null;
  const database = mockDatabase({
    level,
    initial: new Map(Object.entries(initial)),
    chooser: seeded(1),
    strategy: wants(() => next),
  });
  const see = (t: ReturnType<MockDatabase['begin']>, key: string, value: unknown) => {
    next = value;
    expect(t.read(key)).toBe(value);
  };
  return { database, see };
}

describe('transactions that are open at the same time', () => {
  test('the second of two lost updates is refused at snapshot-isolation and leaves no trace', () => {
    const { database, see } = guided('snapshot-isolation');
    const [a, b] = [database.begin(0), database.begin(1)];
    see(a, 'x', 0);
    see(b, 'x', 0);
    a.write('x', 1);
    b.write('x', 2);
    expect(a.commit()).toBe('committed');
    expect(b.commit()).toBe('serialization-failure');
    expect(formatHistory(database.history())).toBe('initial {"x":0,"y":0}\nr x _, w x 1');
  });

  test('both are let through at prefix', () => {
    const { database, see } = guided('prefix');
    const [a, b] = [database.begin(0), database.begin(1)];
    see(a, 'x', 0);
    see(b, 'x', 0);
    a.write('x', 1);
    b.write('x', 2);
    expect([a.commit(), b.commit()]).toEqual(['committed', 'committed']);
  });

  test('write skew is refused at serializable and let through at snapshot-isolation', () => {
    const outcomes = (['snapshot-isolation', 'serializable'] as const).map((level) => {
      const { database, see } = guided(level);
      const [a, b] = [database.begin(0), database.begin(1)];
      see(a, 'x', 0);
      see(b, 'y', 0);
      a.write('y', 1);
      b.write('x', 1);
      return [a.commit(), b.commit()];
    });
    expect(outcomes).toEqual([
      ['committed', 'committed'],
      ['committed', 'serialization-failure'],
    ]);
  });

  test('an open transaction is not seen', () => {
    const { database, see } = guided('read-committed');
    const a = database.begin(0);
    a.write('x', 1);
    const b = database.begin(1);
    expect(() => see(b, 'x', 1)).toThrow('expected +0 to be 1');
    see(b, 'x', 0);
    a.commit();
    see(b, 'x', 1);
  });

  test('after a failure the session continues with reads that the failed attempt could not have had', () => {
    const { database, see } = guided('serializable');
    const [a, b] = [database.begin(0), database.begin(1)];
    see(a, 'x', 0);
    see(b, 'x', 0);
    a.write('x', 1);
    a.commit();
    b.write('x', 2);
    expect(b.commit()).toBe('serialization-failure');
    const again = database.begin(1);
    see(again, 'x', 1);
    again.write('x', 2);
    expect(again.commit()).toBe('committed');
    expect(satisfies(database.history(), database.commitOrder(), 'serializable')).toBe(true);
  });
});

test('a session that commits after many failures draws again what its reads see', () => {
  const { database, see } = guided('snapshot-isolation');
  for (let value = 0; value < FAILURES_BEFORE_NEWEST; value += 1) {
    const [a, b] = [database.begin(0), database.begin(1)];
    see(a, 'x', value);
    see(b, 'x', value);
    a.write('x', value + 1);
    b.write('x', 100);
    expect([a.commit(), b.commit()]).toEqual(['committed', 'serialization-failure']);
  }
  for (const [session, key] of ['y', 'z'].entries()) {
    const other = database.begin(2 + session);
    other.write(key, 1);
    other.commit();
  }
  const insisting = database.begin(1);
  expect(insisting.read('z')).toBe(1);
  insisting.abort();
  const lucky = database.begin(1);
  lucky.write('w', 1);
  expect(lucky.commit()).toBe('committed');
  see(database.begin(1), 'y', 0);
});

test('the reads of a failed attempt constrain no other transaction', () => {
  const { database, see } = guided('serializable');
  const c = database.begin(3);
  c.write('y', 1);
  c.commit();
  const [a, b] = [database.begin(0), database.begin(1)];
  see(a, 'x', 0);
  see(b, 'x', 0);
  see(b, 'y', 1);
  a.write('x', 1);
  expect(a.commit()).toBe('committed');
  b.write('x', 2);
  expect(b.commit()).toBe('serialization-failure');
  // a, d, c: were b among them, it would be after c and before a.
  const d = database.begin(2);
  see(d, 'x', 1);
  see(d, 'y', 0);
});

describe('levels of single transactions', () => {
  test('a serializable transaction among causal ones does not lose an update', () => {
    const { database, see } = guided('causal');
    const a = database.begin(0);
    see(a, 'x', 0);
    a.write('x', 1);
    a.commit();
    const b = database.begin(1, 'serializable');
    see(b, 'x', 0); // may still be ordered before a ...
    b.write('x', 2);
    expect(b.commit()).toBe('committed'); // ... and is: a is causal and may have read the initial x after b
    expect(database.history().transactions.map(({ level }) => level)).toEqual([undefined, 'serializable']);
  });

  test('an unknown level is bad input that lists the levels', () => {
    expect(() => mockDatabase({ level: 'read-uncommitted' as 'causal', chooser: seeded(1) })).toThrow(
      /read-committed, read-atomic, causal/,
    );
  });
});

describe('aborts', () => {
  test('what an aborted transaction wrote is never seen, what it read stays in the history', () => {
    const { database, see } = guided('causal');
    const a = database.begin(0);
    see(a, 'x', 0);
    a.write('x', 1);
    a.abort();
    const b = database.begin(1);
    expect(() => see(b, 'x', 1)).toThrow('expected +0 to be 1');
    expect(formatHistory(database.history())).toContain('r x _, w x 1 !');
  });

  test('a transaction that has ended refuses further operations', () => {
    const { database } = guided('causal');
    const a = database.begin(0);
    a.commit();
    expect(() => a.read('x')).toThrow(InputError);
  });

  test('with an abort rate, that share of commits fails, and their transactions leave no trace', () => {
    const database = mockDatabase({ level: 'causal', chooser: seeded(3), abortRate: 0.25 });
    const outcomes = Array.from({ length: 2_000 }, () => {
      const t = database.begin(0);
      t.write('x', 1);
      return t.commit();
    });
    const failed = outcomes.filter((outcome) => outcome === 'serialization-failure').length;
    expect(failed / outcomes.length).toBeGreaterThan(0.2);
    expect(failed / outcomes.length).toBeLessThan(0.3);
    expect(database.history().transactions).toHaveLength(2_000 - failed);
  });
});

describe('values', () => {
  test('reads and writes copy: neither side can change what is stored', () => {
    const database = mockDatabase({ level: 'serializable', chooser: seeded(1) });
    const written = { items: ['a'] };
    const a = database.begin(0);
    a.write('x', written);
    written.items.push('b');
    a.commit();
    const b = database.begin(0);
    (b.read('x') as { items: string[] }).items.push('c');
    expect(b.read('x')).toEqual({ items: ['a'] });
  });

  test.each([
    ['undefined', undefined, 'undefined'],
    ['a function', () => 1, 'a function'],
    ['NaN', { n: [Number.NaN] }, 'NaN at .n[0]'],
    ['a bigint', 1n, 'the bigint 1n'],
    ['a Map', new Map(), 'a Map'],
    ['a Date', { at: new Date(0) }, 'a Date at .at'],
  ])('%s cannot be written', (_name, value, text) => {
    const t = mockDatabase({ level: 'causal', chooser: seeded(1) }).begin(0);
    expect(() => t.write('x', value)).toThrow(`write of x: ${text}`);
  });
});

describe('the final state', () => {
  test('below serializable it is one that some commit order allows, and every such one is drawn', () => {
    const finals = new Set<unknown>();
    for (let seed = 0; seed < 50; seed += 1) {
      const database = mockDatabase({ level: 'causal', chooser: seeded(seed), initial: new Map([['y', 5]]) });
      for (const session of [0, 1]) {
        const t = database.begin(session);
        t.write('x', session);
        t.commit();
      }
      const final = database.finalState();
      expect(final['y']).toBe(5);
      finals.add(final['x']);
    }
    expect(finals).toEqual(new Set([0, 1]));
  });

  test('it adds no transaction to the history', () => {
    const database = mockDatabase({ level: 'prefix', chooser: seeded(1), initial: new Map([['x', 0]]) });
    const t = database.begin(0);
    t.write('x', 1);
    t.commit();
    expect(database.finalState()).toEqual({ x: 1 });
    expect(database.history().transactions).toHaveLength(1);
  });
});

test('forty transactions that overlap in threes stay at their level', () => {
  for (const level of constrainingLevels) {
    const chooser = seeded(9);
    const database = mockDatabase({ level, chooser });
    for (let round = 0; round < 14; round += 1) {
      const open = [0, 1, 2].map((session) => database.begin(session));
      for (let step = 0; step < 3; step += 1) for (const t of open) t.read('xyz'[chooser.choose(3)] as string);
      open.forEach((t, i) => t.write('xyz'[chooser.choose(3)] as string, round * 3 + i));
      for (const t of open) t.commit();
    }
    expect(satisfies(database.history(), database.commitOrder(), level)).toBe(true);
    expect(check(database.history(), level).kind).toBe('satisfied');
  }
});
