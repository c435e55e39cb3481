/**
 * The mock database against the verifier: what it does at a level of an engine is at that level and is not at a stronger one. Both were
 * written from the same descriptions of the engines, but not by each other.
 */
import { describe, expect, test } from 'vitest';
import { mechanismsOf } from '../src/verify/index.ts';
import type { MockRun } from './support/mock-traces.ts';
import { mockTrace, verifyText } from './support/mock-traces.ts';

const seeds = Array.from({ length: process.env['MOIRAI_HEAVY'] === '1' ? 20 : 2 }, (_, i) => i + 1);

/** Violations for each seed. */
async function violations(run: Omit<MockRun, 'seed' | 'clients'>, engine: string, claim: string): Promise<number[]> {
  const found: number[] = [];
  for (const seed of seeds) {
    const result = verifyText(await mockTrace({ ...run, seed, clients: 4 }), mechanismsOf(engine, claim));
    expect(result.counts.operations).toBeGreaterThan(run.transactions);
    expect(result.counts.skipped).toBe(0);
    found.push(result.counts.violations);
  }
  return found;
}

const none = seeds.map(() => 0);
const some: number[] = seeds.map(() => expect.toSatisfy((count: number) => count > 0) as number);

const levels = [
  ...['read committed', 'repeatable read', 'serializable'].map((isolation) => ({ engine: 'postgres', isolation })),
  ...['read uncommitted', 'read committed', 'repeatable read', 'serializable'].map((isolation) => ({
    engine: 'mysql',
    isolation,
  })),
];

describe.each(['list-append', 'smallbank', 'tpcc'] as const)('%s', (workload) => {
  test.each(levels)('$engine at $isolation is what it claims', async ({ engine, isolation }) => {
    const run = { profile: { engine, isolation }, workload, transactions: 80 };
    expect(await violations(run, engine, isolation)).toEqual(none);
  });
});

test.each<[string, string, string, string]>([
  ['postgres', 'read committed', 'postgres', 'repeatable read'],
  ['postgres', 'read committed', 'postgres', 'serializable'],
  ['postgres', 'repeatable read', 'postgres', 'serializable'],
  ['mysql', 'read uncommitted', 'mysql', 'read committed'],
  ['mysql', 'read uncommitted', 'mysql', 'repeatable read'],
  ['mysql', 'read committed', 'mysql', 'repeatable read'],
  ['mysql', 'read committed', 'mysql', 'serializable'],
  ['mysql', 'repeatable read', 'mariadb', 'snapshot isolation'],
  ['mysql', 'repeatable read', 'mysql', 'serializable'],
])('%s at %s is not %s at %s', async (engine, isolation, claimed, claim) => {
  const run = { profile: { engine, isolation }, workload: 'list-append', transactions: 400 } as const;
  expect(await violations(run, claimed, claim)).toEqual(some);
});

/** A store of the axioms owes nothing to real time, every engine does. */
test.each<[string, string]>([
  ['read-committed', 'read committed'],
  ['read-committed', 'repeatable read'],
  ['read-committed', 'serializable'],
  ['read-atomic', 'repeatable read'],
  ['read-atomic', 'serializable'],
  ['causal', 'repeatable read'],
  ['causal', 'serializable'],
  ['prefix', 'repeatable read'],
  ['prefix', 'serializable'],
  ['snapshot-isolation', 'serializable'],
])('a store that is %s is not PostgreSQL at %s', async (level, claim) => {
  const run = { profile: { level }, workload: 'list-append', transactions: 100 } as const;
  expect(await violations(run, 'postgres', claim)).toEqual(some);
});
