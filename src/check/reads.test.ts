import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Chooser, forEveryChoice, seeded } from '../base/index.ts';
import { compactOf, type History, INITIAL, type Operation, relationsOf } from '../history/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../isolation/small-history.test-support.ts';
import { readsOf, writesKey } from './reads.ts';

const statuses = ['committed', 'aborted', 'unknown'] as const;

describe('readsOf agrees with relationsOf', () => {
  test('on every pair of transactions of any fate that read anything', () => {
    let compared = 0;
    forEveryChoice((chooser) => {
      expectSame(smallHistory(chooser, { transactionsMax: 2, operationsMax: 2, keysMax: 2, reads: 'any', statuses }));
      compared += 1;
    });
    expect(compared).toBe(9_468);
  });

  test('on random larger histories', () => {
    const options: SmallHistoryOptions = {
      transactionsMin: 3,
      transactionsMax: 7,
      operationsMax: 5,
      keysMax: 3,
      reads: 'any',
      statuses,
    };
    forRandom(400, (chooser) => void expectSame(smallHistory(chooser, options)));
  });

  test('on random histories in which values repeat, with and without recorded writers', () => {
    const seen = new Set<string>();
    forRandom(3_000, (chooser) => void seen.add(expectSame(repeatingHistory(chooser))));
    expect([...seen].toSorted()).toEqual(['ambiguous', 'resolved', 'thin-air', 'understood']);
  });
});

describe('an empty list read of a key that nothing wrote is its initial state', () => {
  const phenomenaOf = (...operations: readonly Operation[]): string[] => {
    const transaction = { id: 't', session: 0, status: 'committed', operations } as const;
    const other = { ...transaction, id: 'u', operations: [{ kind: 'write', key: 'written', value: 1 } as const] };
    const history: History = { sessions: ['a'], transactions: [transaction, other], initial: new Map([['given', 1]]) };
    expectSame(history);
    return relationsOf(history).phenomena.map(({ kind }) => kind);
  };

  test('whether its writer is recorded or not, beside a null of the same key', () => {
    const [read, recorded] = [
      { kind: 'read', key: 'x', value: [] },
      { kind: 'read', key: 'x', value: [], from: INITIAL },
    ] as const;
    expect(phenomenaOf(read, recorded, { kind: 'read', key: 'x', value: null })).toEqual([]);
  });

  test.each(['given', 'written'])('a key that is %s is a register: it is out of thin air', (key) => {
    expect(phenomenaOf({ kind: 'read', key, value: [] })).toEqual(['thin-air-read']);
  });

  test('from a recorded transaction, and a list with an element, it is out of thin air', () => {
    expect(phenomenaOf({ kind: 'read', key: 'x', value: [], from: 1 })).toEqual(['thin-air-read']);
    expect(phenomenaOf({ kind: 'read', key: 'x', value: [1] })).toEqual(['thin-air-read']);
  });
});

function forRandom(numRuns: number, expectOf: (chooser: Chooser) => void): void {
  fc.assert(
    fc.property(fc.nat(), (seed) => expectOf(seeded(seed))),
    { numRuns },
  );
}

/** Three sessions, values 0 to 2 on two keys, 0 the initial value of one; some reads record a writer. */
function repeatingHistory(chooser: Chooser): History {
  const count = 2 + chooser.choose(3);
  const transactions = Array.from({ length: count }, (_, t) => ({
    id: `t${t}`,
    session: t % 2,
    status: statuses[chooser.choose(3)] ?? 'committed',
    operations: Array.from({ length: 1 + chooser.choose(3) }, () => {
      const key = chooser.choose(3) === 0 ? 'y' : 'x';
      const value = chooser.choose(4);
      if (chooser.choose(2) === 0) return { kind: 'write' as const, key, value };
      const from = chooser.choose(2) === 0 ? {} : { from: chooser.choose(count + 1) - 1 };
      return { kind: 'read' as const, key, value, ...from };
    }),
  }));
  return { sessions: ['a', 'b'], transactions, initial: new Map([['x', 0]]) };
}

/** @returns what became of it */
function expectSame(history: History): string {
  const compact = compactOf(history);
  const reads = readsOf(compact);
  const relations = relationsOf(history);
  if (relations.ambiguous.length > 0) {
    expect(reads.firstAmbiguous).not.toBe(-1);
    return 'ambiguous';
  }
  if (reads.firstAmbiguous >= 0) return 'resolved'; // of several writers one was committed and last, or an aborted transaction read
  expect(reads.thinAirCount).toBe(relations.phenomena.filter(({ kind }) => kind === 'thin-air-read').length);
  const ids = [...history.transactions.keys()];
  expect(ids.filter((t) => reads.isMember[t] === 1)).toEqual(relations.members);
  const external = relations.members.flatMap((by) => {
    const [first, end] = [reads.readStart[by] as number, reads.readStart[by + 1] as number];
    return Array.from({ length: end - first }, (_, i) => ({
      by,
      operation: (reads.readOperation[first + i] as number) - (compact.operationStart[by] as number),
      key: compact.names.key(reads.readKey[first + i] as number),
      from: reads.readFrom[first + i],
    }));
  });
  expect(external).toEqual(relations.reads);
  expect(reads.anomalous.map(({ kind }) => kind).toSorted()).toEqual(
    [...new Set(relations.phenomena.map(({ kind }) => kind))].toSorted(),
  );
  for (const anomalous of reads.anomalous) {
    const first = relations.phenomena.find(({ kind }) => kind === anomalous.kind);
    const operation = anomalous.operation - (compact.operationStart[anomalous.by] as number);
    expect({ ...anomalous, operation, key: first?.key }).toEqual(first);
  }
  for (const t of ids) {
    for (let k = 0; k < compact.keyCount; k += 1)
      expect(writesKey(reads, t, k)).toBe(relations.writes(t, compact.names.key(k)));
  }
  return reads.thinAirCount > 0 ? 'thin-air' : 'understood';
}
