/** At least 99 % of the traces that are wrong by construction have to be found, of every kind and for every engine that forbids it. */
import { expect, test } from 'vitest';
import { engines, mechanismsOf } from './engines.ts';
import type { Mechanisms } from './mechanisms.ts';
import { Facts, mutations } from './mutations.test-support.ts';
import { initialOf, simulate } from './simulate.test-support.ts';
import { seededRandom, verifyAll } from './verify.test-support.ts';

/** Seeds 0 to 49. MOIRAI_HEAVY=1: more traces, and the figures. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const traces = isHeavy ? 1_500 : 50;

/** Levels by what they are made of: several engines have the same. */
const levels = new Map<string, string[]>();
for (const [engine, of] of Object.entries(engines)) {
  for (const level of Object.keys(of)) {
    const key = JSON.stringify(mechanismsOf(engine, level));
    levels.set(key, [...(levels.get(key) ?? []), `${engine} ${level}`]);
  }
}

interface Count {
  made: number;
  found: number;
}

const perKind = new Map<string, Count>();

test.each([...levels].map(([key, names]) => [names.join(', '), key]))('%s', (name, key) => {
  const mechanisms = JSON.parse(key) as Mechanisms;
  const counts = new Map<string, Count>();
  for (let seed = 0; seed < traces; seed += 1) {
    const random = seededRandom(7 * seed + 3);
    const shape = { sessions: 3, transactions: 5, operations: 4, keys: 2, spread: seed % 5 };
    const right = simulate(mechanisms, shape, random).map((operation) => ({
      ...operation,
      start: 10 * operation.start,
      end: 10 * operation.end,
    }));
    const facts = new Facts(mechanisms, right);
    for (const [kind, mutate] of Object.entries(mutations)) {
      const wrong = mutate(facts, random);
      if (wrong === null) continue;
      const isFound = verifyAll(mechanisms, wrong, initialOf(2)).violations.length > 0;
      for (const map of [counts, perKind]) {
        const { made, found } = map.get(kind) ?? { made: 0, found: 0 };
        map.set(kind, { made: made + 1, found: found + (isFound ? 1 : 0) });
      }
    }
  }
  if (isHeavy) process.stdout.write(`${name}: ${shown(counts)}\n`);
  for (const [kind, { made, found }] of counts)
    expect({ kind, made, found, missed: made - found <= made / 100 }).toMatchObject({ missed: true });
  expect(counts.size).toBeGreaterThan(
    mechanisms.mutualExclusion === 'none' && mechanisms.consistentRead === 'none' ? 0 : 1,
  );
});

test('every kind, of all engines together', () => {
  expect([...perKind.keys()].toSorted()).toEqual(Object.keys(mutations).toSorted());
  for (const [kind, { made, found }] of perKind) {
    expect({ kind, isEnough: made > 20 }).toEqual({ kind, isEnough: true });
    expect(found / made).toBeGreaterThanOrEqual(0.99);
  }
  if (isHeavy) process.stdout.write(`all: ${shown(perKind)}\n`);
});

function shown(counts: ReadonlyMap<string, Count>): string {
  return [...counts].map(([kind, { made, found }]) => `${kind} ${found}/${made}`).join(', ');
}
