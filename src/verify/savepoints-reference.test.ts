/** Savepoints against the definition: right traces give no alarm, and what is found has no explanation. */
import { describe, expect, test } from 'vitest';
import { formatTraceLine } from '../trace/record.ts';
import type { TraceOperation } from '../trace/trace.ts';
import { engines, mechanismsOf } from './engines.ts';
import type { Mechanisms } from './mechanisms.ts';
import { isExplainable } from './model.test-support.ts';
import { initialOf, type Random, simulate } from './simulate.test-support.ts';
import { seededRandom, verifyAll } from './verify.test-support.ts';

/** MOIRAI_HEAVY=1: more traces. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const times = isHeavy ? 20 : 1;

/** One name for all levels that are made of the same. */
const levels = new Map<string, string>();
for (const [engine, of] of Object.entries(engines))
  for (const level of Object.keys(of)) levels.set(JSON.stringify(mechanismsOf(engine, level)), `${engine} ${level}`);
const cases = [...levels].map(([key, name]) => [name, JSON.parse(key) as Mechanisms] as const);

describe('traces that are right by construction give no alarm', () => {
  test.each(cases)('%s', (_name, mechanisms) => {
    for (let seed = 0; seed < 60 * times; seed += 1) {
      const shape = { sessions: 3, transactions: 5, operations: 7, keys: 3, spread: seed % 7, repeats: seed % 3 === 0 };
      const operations = simulate(
        mechanisms,
        { ...shape, savepoints: true, deletes: seed % 2 === 0 },
        seededRandom(seed),
      );
      const { violations } = verifyAll(mechanisms, operations, initialOf(3));
      expect({ seed, reasons: violations.map(({ reason }) => reason) }).toEqual({ seed, reasons: [] });
    }
  });
});

describe('of random traces, right ones of other levels and spoiled ones, what is found has no explanation', () => {
  test.each(cases)('%s', (name, mechanisms) => {
    let [found, missed] = [0, 0];
    for (let seed = 0; seed < 120 * times; seed += 1) {
      const operations = smallTrace(mechanisms, seededRandom(31 * seed + 7));
      if (operations.length > 12 || !operations.some(({ kind }) => kind === 'rollback-to')) continue;
      const isFound = verifyAll(mechanisms, operations, initialOf(2)).violations.length > 0;
      const isFine = isExplainable(mechanisms, operations, initialOf(2));
      const trace = operations.map((operation) => formatTraceLine(operation)).join('\n');
      if (isFound) expect({ seed, isFine, trace }).toEqual({ seed, isFine: false, trace });
      if (isFound) found += 1;
      else if (!isFine) missed += 1;
    }
    if (isHeavy) process.stdout.write(`${name}: ${found} found, ${missed} missed\n`);
    // Where reads are free, little can be wrong.
    if (mechanisms.consistentRead === 'none') return;
    expect(found).toBeGreaterThan(3);
    expect(missed / (found + missed)).toBeLessThan(0.4);
  });
});

function smallTrace(mechanisms: Mechanisms, random: Random): TraceOperation[] {
  const by = random(2) === 0 ? mechanisms : (cases[random(cases.length)] as (typeof cases)[number])[1];
  const shape = { transactions: 1, operations: 5, keys: 2, spread: random(8), repeats: random(2) === 0 };
  const operations = simulate(by, { ...shape, sessions: 2, savepoints: true, deletes: random(2) === 0 }, random);
  if (random(2) === 0) return operations;
  return operations.map((operation) =>
    operation.reads.length === 0 || random(2) === 0
      ? operation
      : { ...operation, reads: operation.reads.map((read) => ({ ...read, image: random(4) })) },
  );
}
