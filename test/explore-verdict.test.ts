/** What explore says of the histories: the verdict, the counterexamples, the smallest one first. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import bankTransfer from '../examples/bank-transfer.ts';
import cart from '../examples/cart.ts';
import shoppingCart from '../examples/shopping-cart.ts';
import { drawCounterexamples, explore } from '../src/explore/index.ts';
import { constrainingLevels } from '../src/isolation/index.ts';
import { program, sealToken, type SessionHandle, shapeOfKeys } from '../src/program/index.ts';
import { fewestTransactionsOfAnError } from './support/brute-force.ts';
import { withErrors, withInvariant } from './support/explored.ts';
import { smallProgram, smallText } from './support/small-program.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

describe('the verdict', () => {
  test('is a proof where nothing fails, and the smallest counterexample where something does', async () => {
    expect(await explore(bankTransfer, { level: 'serializable' })).toMatchObject({
      histories: 2,
      violations: 0,
      complete: true,
      counterexample: null,
    });
    const { violations, counterexample } = await explore(cart, { level: 'causal' });
    expect(violations).toBe(1);
    expect(counterexample?.message).toBe('a deleted item came back');
    expect(counterexample?.olderReads.size).toBe(2);
  });

  test('looks at every final state', async () => {
    const tested = program({
      sessions: { a: (s) => s.write('x', 1), b: (s) => s.write('x', 2) },
      invariant: ({ final, sometimes }) => {
        sometimes('one', final['x'] === 1);
        sometimes('two', final['x'] === 2);
        return true;
      },
    });
    const { histories, marks } = await explore(tested, { level: 'causal' });
    expect(histories).toBe(1);
    expect([...marks]).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });

  test('shows values where the invariant prints a final state', async () => {
    const printed = new Set<string>();
    const tested = program({
      initial: { x: 0, y: 0 },
      sessions: { a: (s) => s.write('x', 1), b: (s) => s.write('x', 2) },
      invariant: ({ final }) => printed.add(inspect(final)).size > 0,
    });
    await explore(tested);
    expect([...printed].toSorted()).toEqual(['{ x: 1, y: 0 }', '{ x: 2, y: 0 }']);
  });

  test('is unknown where a budget ends, with how far it got', async () => {
    expect(await explore(shoppingCart, { historiesMax: 100 })).toMatchObject({
      histories: 100,
      complete: false,
      stopped: 'histories',
    });
    expect(await explore(shoppingCart, { timeMaxMs: 1 })).toMatchObject({ complete: false, stopped: 'time' });
    const polling = program({
      sessions: {
        waiter: async (s) => {
          while ((await s.read('ready')) === null);
        },
        worker: (s) => s.write('ready', true),
      },
    });
    expect(await explore(polling, { turnsMax: 100 })).toMatchObject({ complete: false, stopped: 'endless' });
  });

  test('is unknown where a search for a commit order gives up: a history is not called forbidden for that', async () => {
    const transaction =
      (writes: readonly string[], ...reads: readonly string[]) =>
      (s: SessionHandle) =>
        s.transaction(async (t) => {
          for (const key of reads) await t.read(key);
          for (const key of writes) await t.write(key, true);
        });
    // Either order of p and q puts b before a, and either order of r and s puts a before b.
    const tested = program({
      sessions: {
        p: transaction(['p', 'y']),
        q: transaction(['q', 'y']),
        r: transaction(['r', 'z']),
        s: transaction(['s', 'z']),
        a: transaction([], 'p', 'q', 'forA'),
        b: transaction([], 'r', 's', 'forB'),
        c: transaction(['forB'], 'y'),
        d: transaction(['forB'], 'y'),
        e: transaction(['forA'], 'z'),
        f: transaction(['forA'], 'z'),
      },
    });
    const choices = 'p/0+q/0+r/0+s/0+a/0:p/0,q/0,_+b/0:r/0,s/0,_+c/0:p/0+d/0:q/0+e/0:r/0+f/0:s/0';
    const shape = shapeOfKeys({ sessions: tested.sessionNames, initial: tested.initial }, null);
    const options = { level: 'serializable', replay: sealToken(choices, { shape, steps: [] }) } as const;
    expect(await explore(tested, options)).toMatchObject({ histories: 0, stopped: 'replay', divergence: null });
    expect(await explore(tested, { ...options, stepsMax: 0 })).toMatchObject({
      histories: 0,
      complete: false,
      stopped: 'search',
    });
  });

  test('a counterexample is replayed by its token, and a changed program as far as it goes', async () => {
    const { counterexample } = await explore(cart, { level: 'causal' });
    const token = counterexample?.replay ?? '';
    expect(token).toMatch(/^[\w/:,+]+\.[0-9a-z]{8}-[0-9a-z]{7}$/);
    expect(await explore(cart, { level: 'causal', replay: token })).toMatchObject({
      runs: 1,
      violations: 1,
      divergence: null,
      replayed: { kind: 'same-steps' },
      counterexample: { replay: token },
    });
    const changed = program({
      initial: Object.fromEntries(cart.initial),
      sessions: { adder: (s) => s.read('cart'), remover: (s) => s.read('cart'), reader: (s) => s.read('cart') },
    });
    expect((await explore(changed, { replay: token })).divergence).toMatch(
      /session "reader" has no transaction|cannot see the write/,
    );
    await expect(explore(cart, { replay: token.replace(/.*(?=\.)/, 'nobody/0:_') })).rejects.toMatchObject({
      code: 'replay/token',
    });
  });

  test('a program that changes from run to run is refused', async () => {
    let runs = 0;
    const tested = program({
      initial: { x: 0 },
      sessions: {
        a: async (s) => {
          runs += 1;
          await s.write(runs > 2 ? 'y' : 'x', 1);
        },
        b: (s) => s.read('x'),
        c: (s) => s.read('x'),
      },
    });
    await expect(explore(tested)).rejects.toMatchObject({ code: 'program/nondeterministic' });
  });
});

describe('counterexamples', () => {
  test('a counterexample of each kind, the smallest first', async () => {
    const { counterexample, counterexamples } = await explore(cart, { level: 'read-committed' });
    expect(new Set(counterexamples.map(({ anomaly }) => anomaly))).toEqual(
      new Set(['causality-violation', 'lost-update']),
    );
    expect(counterexamples[0]).toBe(counterexample);
    for (const { replay, anomaly } of counterexamples)
      expect((await explore(cart, { level: 'read-committed', replay })).counterexample?.anomaly).toBe(anomaly);
    expect((await explore(cart, { level: 'read-committed', violationsMax: 1 })).counterexamples).toEqual([
      counterexample,
    ]);
  });

  test('they are drawn: the reads, and the cycle', async () => {
    const [graph] = drawCounterexamples(await explore(cart, { level: 'causal' }), 'cart.ts');
    expect(graph?.nodes.map(({ id }) => id)).toEqual(['adder/0', 'remover/0', 'reader/0', 'reader/1']);
    expect(graph?.edges).toEqual([
      { from: 'remover/0', to: 'reader/0', relation: 'wr', key: 'cart' },
      { from: 'adder/0', to: 'reader/1', relation: 'wr', key: 'cart' },
      { from: 'adder/0', to: 'remover/0', relation: 'rw', key: 'cart' },
      { from: 'remover/0', to: 'adder/0', relation: 'rw', key: 'cart' },
    ]);
  });
});

describe('the first violation', () => {
  test('it may end with the first violation', async () => {
    const stopped = await explore(cart, { level: 'read-committed', failsFast: true });
    expect(stopped).toMatchObject({ violations: 1, stopped: 'violation', complete: false });
    expect(stopped.histories).toBeLessThan(27);
  });

  test('the first violation of a session has the fewest transactions of all, in every order and every cut of brute force', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        smallText,
        fc.constantFrom(...constrainingLevels),
        fc.integer({ min: 2, max: 7 }),
        fc.boolean(),
        async (text, level, oneOf, inside) => {
          const tested = withErrors(smallProgram(text), oneOf, inside);
          const { prefix, violations, complete, counterexample } = await explore(tested, { level, failsFast: true });
          const fewest = await fewestTransactionsOfAnError(tested, level);
          expect(prefix).toBe(fewest);
          expect({ violations, complete }).toEqual(
            fewest === null ? { violations: 0, complete: true } : { violations: 1, complete: false },
          );
          if (fewest === null || counterexample === null) return;
          found += 1;
          expect(counterexample.history.transactions.length).toBe(fewest);
          const { violations: again, divergence } = await explore(tested, { level, replay: counterexample.replay });
          expect({ again, divergence }).toEqual({ again: 1, divergence: null });
        },
      ),
      { numRuns: isHeavy ? 2_000 : 150 },
    );
    expect(found).toBeGreaterThan(20);
  });

  test('an invariant is judged for the whole program only, and limits end the growth', async () => {
    const failing = withInvariant(smallProgram('x+;x+ || x+'));
    expect(await explore(failing, { failsFast: true })).toMatchObject({ violations: 1, prefix: null });
    const throwing = withErrors(smallProgram('x+;x+;x+ || x+;x+;x+'), 1, true);
    expect(await explore(throwing, { failsFast: true })).toMatchObject({ violations: 0, complete: true, prefix: null });
    const large = withErrors(smallProgram('x+;x+;x+ || x+;x+;x+ || x+;x+'), 1, true);
    const stopped = await explore(large, { failsFast: true, historiesMax: 12_000 });
    expect(stopped).toMatchObject({ histories: 12_000, complete: false, stopped: 'histories' });
    expect(stopped.prefix).toBeGreaterThan(3);
    expect(await explore(throwing, { failsFast: true, timeMaxMs: 0 })).toMatchObject({
      complete: false,
      stopped: 'time',
    });
  });
});
