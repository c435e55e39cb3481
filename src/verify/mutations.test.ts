/** Right traces that are spoiled so that they are wrong by construction: at least 99 % have to be found. */
import { describe, expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import { initialOf, type Random, simulate } from './simulate.test-support.ts';
import type { RowImage, TraceOperation } from './trace.ts';
import { seededRandom, verifyAll } from './verify.test-support.ts';

const mechanisms = mechanismsOf('postgres', 'repeatable read');

/** A committed write with the intervals around it. */
interface Written {
  readonly key: string;
  readonly image: RowImage;
  readonly transaction: string;
  readonly write: TraceOperation;
  readonly commit: TraceOperation;
}

interface Seen {
  readonly at: number;
  readonly index: number;
  /** The first statement of its transaction: the snapshot. */
  readonly snapshot: TraceOperation;
  readonly key: string;
  readonly image: RowImage;
}

class Facts {
  readonly operations: readonly TraceOperation[];
  readonly written: Written[] = [];
  readonly aborted: { readonly key: string; readonly image: RowImage; readonly transaction: string }[] = [];
  readonly seen: Seen[] = [];

  constructor(operations: readonly TraceOperation[]) {
    this.operations = operations;
    for (const [at, operation] of operations.entries()) {
      const own = operations.filter(({ transaction }) => transaction === operation.transaction);
      const ending = own.at(-1) as TraceOperation;
      for (const { key, image } of operation.writes) {
        const isLast = !own.some(
          (later) => later.start > operation.start && later.writes.some((row) => row.key === key),
        );
        const { transaction } = operation;
        if (ending.kind === 'abort') this.aborted.push({ key, image, transaction });
        else if (isLast) this.written.push({ key, image, transaction, write: operation, commit: ending });
      }
      const isOwn = (key: string): boolean =>
        own.some((earlier) => earlier.start < operation.start && earlier.writes.some((row) => row.key === key));
      for (const [index, { key, image }] of operation.reads.entries())
        if (!isOwn(key)) this.seen.push({ at, index, snapshot: own[0] as TraceOperation, key, image });
    }
  }

  withRead({ at, index }: Seen, image: RowImage): TraceOperation[] {
    return this.operations.map((operation, i) =>
      i === at
        ? { ...operation, reads: operation.reads.map((read, r) => (r === index ? { ...read, image } : read)) }
        : operation,
    );
  }
}

type Mutation = (facts: Facts, random: Random) => TraceOperation[] | null;

const mutations: Readonly<Record<string, Mutation>> = {
  'a stale read, as after a lost write': (facts, random) => {
    const options = facts.seen.flatMap((read) => {
      const past = facts.written.filter(({ key, commit }) => key === read.key && commit.end < read.snapshot.start);
      const last = past.toSorted((a, b) => b.commit.start - a.commit.start)[0];
      return past.flatMap((old) => (last !== undefined && old.commit.end < last.commit.start ? [{ read, old }] : []));
    });
    const chosen = options[random(Math.max(1, options.length))];
    return chosen === undefined ? null : facts.withRead(chosen.read, chosen.old.image);
  },
  'the initial value after it was overwritten': (facts, random) => {
    const options = facts.seen.filter((read) =>
      facts.written.some(({ key, commit }) => key === read.key && commit.end < read.snapshot.start),
    );
    const chosen = options[random(Math.max(1, options.length))];
    return chosen === undefined ? null : facts.withRead(chosen, 0);
  },
  'a read of what is committed after the snapshot': (facts, random) => {
    const options = facts.seen.flatMap((read) =>
      facts.written
        .filter(({ key, commit }) => key === read.key && commit.start > read.snapshot.end)
        .map((later) => ({ read, later })),
    );
    const chosen = options[random(Math.max(1, options.length))];
    return chosen === undefined ? null : facts.withRead(chosen.read, chosen.later.image);
  },
  'a read of what was aborted': (facts, random) => {
    const options = facts.seen.flatMap((read) =>
      facts.aborted
        .filter(({ key, transaction }) => key === read.key && transaction !== read.snapshot.transaction)
        .map((lost) => ({ read, lost })),
    );
    const chosen = options[random(Math.max(1, options.length))];
    return chosen === undefined ? null : facts.withRead(chosen.read, chosen.lost.image);
  },
  'two versions with each other’s values': (facts, random) => {
    const pairs = facts.written.flatMap((one) =>
      facts.written
        .filter((two) => two.key === one.key && one.commit.end < two.commit.start)
        .map((two) => ({ one, two })),
    );
    const options = pairs.filter(({ one, two }) =>
      facts.seen.some(
        (read) => read.key === one.key && read.image === one.image && read.snapshot.end < two.commit.start,
      ),
    );
    const chosen = options[random(Math.max(1, options.length))];
    if (chosen === undefined) return null;
    const { one, two } = chosen;
    const swapped = (operation: TraceOperation, from: Written, to: Written): TraceOperation => ({
      ...operation,
      writes: operation.writes.map((row) => (row.key === from.key ? { ...row, image: to.image } : row)),
    });
    return facts.operations.map((operation) => {
      if (operation === one.write) return swapped(operation, one, two);
      return operation === two.write ? swapped(operation, two, one) : operation;
    });
  },
  'a lock that is released only after another has it': (facts, random) => {
    const options = facts.written.flatMap((one) =>
      facts.written.flatMap((two) => {
        if (two.key !== one.key || two.transaction === one.transaction || one.commit.end >= two.write.start) return [];
        const next = facts.operations.find(
          ({ session, start }) => session === one.write.session && start > one.commit.start,
        );
        const late = { start: two.write.end + 1, end: two.write.end + 2 };
        const fits = (next === undefined || next.start >= late.end) && two.commit.start > late.start;
        return fits ? [{ one, late }] : [];
      }),
    );
    const chosen = options[random(Math.max(1, options.length))];
    if (chosen === undefined) return null;
    return facts.operations.map((operation) =>
      operation === chosen.one.commit ? { ...operation, ...chosen.late } : operation,
    );
  },
};

describe('at least 99 % are found of', () => {
  test.each(Object.entries(mutations))('%s', (_name, mutate) => {
    let [made, found] = [0, 0];
    for (let seed = 0; seed < 600; seed += 1) {
      const random = seededRandom(7 * seed + 3);
      const shape = { sessions: 3, transactions: 5, operations: 4, keys: 2, spread: seed % 5 };
      const right = simulate(mechanisms, shape, random).map((operation) => ({
        ...operation,
        start: 10 * operation.start,
        end: 10 * operation.end,
      }));
      const wrong = mutate(new Facts(right), random);
      if (wrong === null) continue;
      made += 1;
      if (verifyAll(mechanisms, wrong, initialOf(2)).violations.length > 0) found += 1;
    }
    expect(made).toBeGreaterThan(100);
    expect(found / made).toBeGreaterThanOrEqual(0.99);
  });
});
