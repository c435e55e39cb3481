import { describe, expect, test } from 'vitest';
import crashingCoordinator from '../../examples/protocols/crashing-coordinator.ts';
import keyValueSnapshot from '../../examples/protocols/key-value-snapshot.ts';
import lastWriterWins from '../../examples/protocols/last-writer-wins.ts';
import optimisticCommit from '../../examples/protocols/optimistic-commit.ts';
import paxosCommit from '../../examples/protocols/paxos-commit.ts';
import snapshotStore from '../../examples/protocols/snapshot-store.ts';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { check } from '../isolation/index.ts';
import { checkProtocol, type Protocol } from './index.ts';

const heavy = process.env['MOIRAI_HEAVY'] === '1';

describe('Paxos commit, two managers, three acceptors, two ballots', () => {
  test.each([
    [{ managers: 1 }, 376, 1_461, 15],
    [{ acceptors: 1 }, 735, 1_425, 16],
  ])('with fewer, %o: the same depth with symmetry and without', (parameters, reduced, states, depth) => {
    const verdict = 'satisfied';
    expect(checkProtocol(paxosCommit, { parameters })).toMatchObject({ states: reduced, depth, verdict });
    expect(checkProtocol(paxosCommit, { parameters, symmetry: false })).toMatchObject({ states, depth, verdict });
  });

  test.runIf(heavy)('with symmetry', () => {
    expect(checkProtocol(paxosCommit)).toMatchObject({
      states: 119_992,
      depth: 28,
      symmetry: 12,
      verdict: 'satisfied',
    });
  });

  test.runIf(heavy)('the count of the TLA+ tools', () => {
    const found = checkProtocol(paxosCommit, { symmetry: false });
    expect(found).toMatchObject({ states: 1_321_761, depth: 28, verdict: 'satisfied' });
  });
});

describe('two-phase commit with a coordinator that crashes', () => {
  test.each([
    [2, 1, 269, 14],
    [3, 2, 1_416, 20],
  ])('%i managers, %i crashes: consistent', (managers, crashes, states, depth) => {
    const found = checkProtocol(crashingCoordinator, { parameters: { managers, crashes }, eventually: false });
    expect(found).toMatchObject({ states, depth, verdict: 'satisfied' });
  });

  test('without its log it tells one to commit and another to abort', () => {
    const { violation, trace } = checkProtocol(crashingCoordinator, { parameters: { log: 0 } });
    expect(violation).toEqual({ kind: 'invariant', name: 'consistent' });
    expect(trace?.steps).toHaveLength(12);
    expect(trace?.steps.some(({ step }) => step === 'crash')).toBe(true);
  });
});

describe('the snapshot store of the TLA+ examples', () => {
  test('the count of the TLA+ tools, at snapshot isolation', () => {
    const found = checkProtocol(keyValueSnapshot, { levels: ['snapshot-isolation'], eventually: false });
    expect(found).toMatchObject({ states: 32_293, depth: 13, verdict: 'satisfied' });
    expect(found.generated + found.ends).toBe(63_082);
  });

  test('is not serializable, at the depth that the TLA+ tools say', () => {
    const found = checkProtocol(keyValueSnapshot, { levels: ['serializable'] });
    expect(found).toMatchObject({ depth: 9, violation: { kind: 'isolation', name: 'serializable' } });
  });
});

describe('two-phase locking that forgets to store: equal transactions stay two', () => {
  test.each(['serializable', 'snapshot-isolation'] as const)('violates %s', (level) => {
    const parameters = { transactions: 2, resources: 1, bug: 2 };
    const { violation, trace } = checkProtocol(twoPhaseLocking, { parameters, levels: [level] });
    expect(violation).toMatchObject({ kind: 'isolation', name: level });
    const [first, second] = trace?.observed?.transactions ?? [];
    expect(first?.operations).toEqual(second?.operations);
  });
});

describe('counts', () => {
  test.each<[Protocol, Readonly<Record<string, number>>, number, number]>([
    [snapshotStore, {}, 97, 7],
    [snapshotStore, { check: 0 }, 101, 7],
    [optimisticCommit, {}, 139, 13],
    [optimisticCommit, { writes: 2 }, 243, 17],
    [lastWriterWins, {}, 591, 10],
    [lastWriterWins, { whole: 1 }, 113, 7],
  ])('%o %o', (protocol, parameters, states, depth) => {
    const found = checkProtocol(protocol, { parameters, eventually: false });
    expect(found).toMatchObject({ states, depth, verdict: 'satisfied' });
  });
});

test('write skew: found at serializable, allowed at snapshot isolation, and check says the same of what clients observed', () => {
  const { violation, trace } = checkProtocol(snapshotStore, { levels: ['snapshot-isolation', 'serializable'] });
  expect(violation).toMatchObject({ kind: 'isolation', name: 'serializable' });
  const observed = trace?.observed;
  if (!observed) throw new Error('a store is observed');
  expect(check(observed, 'snapshot-isolation').kind).toBe('satisfied');
  expect(check(observed, 'serializable')).toMatchObject({ kind: 'violated', anomaly: 'write-skew' });
});
