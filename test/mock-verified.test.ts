/**
 * The mock database against the verifier: what it does at a level of an engine is at that level and is not at a stronger one. Both were
 * written from the same descriptions of the engines, but not by each other.
 */
import { describe, expect, test } from 'vitest';
import { mechanismsOf } from '../src/verify/index.ts';
import type { MockRun } from './support/mock-traces.ts';
import { mockTrace, verifyText } from './support/mock-traces.ts';

const seeds = Array.from({ length: process.env['MOIRAI_HEAVY'] === '1' ? 20 : 1 }, (_, i) => i + 1);

/** The traces of a run, one for each seed: each is checked against every claim. */
async function tracesOf(run: Omit<MockRun, 'seed' | 'clients'>): Promise<string[]> {
  const traces: string[] = [];
  for (const seed of seeds) traces.push(await mockTrace({ ...run, seed, clients: 4 }));
  return traces;
}

/** Violations for each seed. @param operationsMin so many are in each trace, or more */
function violations(traces: readonly string[], engine: string, claim: string, operationsMin: number): number[] {
  return traces.map((trace) => {
    const { counts } = verifyText(trace, mechanismsOf(engine, claim));
    expect(counts.operations).toBeGreaterThan(operationsMin);
    expect(counts.skipped).toBe(0);
    return counts.violations;
  });
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
    const traces = await tracesOf({ profile: { engine, isolation }, workload, transactions: 40 });
    expect(violations(traces, engine, isolation, 40)).toEqual(none);
  });
});

/** What an engine does at a level, and what it then is not. */
test.each<[string, string, readonly (readonly [engine: string, level: string])[]]>([
  [
    'postgres',
    'read committed',
    [
      ['postgres', 'repeatable read'],
      ['postgres', 'serializable'],
    ],
  ],
  ['postgres', 'repeatable read', [['postgres', 'serializable']]],
  [
    'mysql',
    'read uncommitted',
    [
      ['mysql', 'read committed'],
      ['mysql', 'repeatable read'],
    ],
  ],
  [
    'mysql',
    'read committed',
    [
      ['mysql', 'repeatable read'],
      ['mysql', 'serializable'],
    ],
  ],
  [
    'mysql',
    'repeatable read',
    [
      ['mariadb', 'snapshot isolation'],
      ['mysql', 'serializable'],
    ],
  ],
])('%s at %s is nothing stronger: %j', async (engine, isolation, claims) => {
  const traces = await tracesOf({ profile: { engine, isolation }, workload: 'list-append', transactions: 150 });
  for (const [claimed, claim] of claims)
    expect({ claimed, claim, found: violations(traces, claimed, claim, 150) }).toEqual({ claimed, claim, found: some });
});

/** A store of the axioms owes nothing to real time, every engine does. */
test.each<[string, readonly string[]]>([
  ['read-committed', ['read committed', 'repeatable read', 'serializable']],
  ['read-atomic', ['repeatable read', 'serializable']],
  ['causal', ['repeatable read', 'serializable']],
  ['prefix', ['repeatable read', 'serializable']],
  ['snapshot-isolation', ['serializable']],
])('a store that is %s is not PostgreSQL at %j', async (level, claims) => {
  const traces = await tracesOf({ profile: { level }, workload: 'list-append', transactions: 50 });
  for (const claim of claims)
    expect({ claim, found: violations(traces, 'postgres', claim, 50) }).toEqual({ claim, found: some });
});
