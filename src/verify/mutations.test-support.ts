/**
 * Right traces that are spoiled so that they are wrong by construction: what a mutation changes contradicts the engine's mechanisms
 * whatever the moments are, by the intervals alone. Values are written once only, so that each says whose it is.
 */
import type { RowImage, TraceOperation } from '../trace/trace.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { Random } from './simulate.test-support.ts';

interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The last write of a committed transaction to a row. */
interface Written {
  readonly key: string;
  readonly image: RowImage;
  readonly transaction: string;
  readonly write: TraceOperation;
  readonly commit: TraceOperation;
  /** Where the moment lies from which others can see it. */
  readonly version: Interval;
}

/** A row that a read returned, which its transaction has not written before. */
interface Seen {
  readonly at: number;
  readonly index: number;
  readonly transaction: string;
  readonly key: string;
  readonly image: RowImage;
  /** Where the moment lies whose state it sees. */
  readonly snapshot: Interval;
}

export class Facts {
  readonly mechanisms: Mechanisms;
  readonly operations: readonly TraceOperation[];
  readonly written: Written[] = [];
  /** `seen`: where a read may still return it. */
  readonly aborted: {
    readonly key: string;
    readonly image: RowImage;
    readonly transaction: string;
    readonly seen: Interval | null;
  }[] = [];
  readonly seen: Seen[] = [];

  constructor(mechanisms: Mechanisms, operations: readonly TraceOperation[]) {
    this.mechanisms = mechanisms;
    this.operations = operations;
    for (const [at, operation] of operations.entries()) {
      const own = this.of(operation.transaction);
      const ending = own.at(-1) as TraceOperation;
      for (const { key, image } of operation.writes) {
        const isLast = !own.some((later) => later.start > operation.start && writes(later, key));
        const { transaction } = operation;
        const isUncommitted = mechanisms.consistentRead === 'uncommitted';
        const first = isUncommitted ? operation : mechanisms.install === 'commit' ? ending : own[0];
        const version = { start: (first as TraceOperation).start, end: ending.end };
        if (ending.kind === 'abort')
          this.aborted.push({ key, image, transaction, seen: isUncommitted ? version : null });
        else if (isLast) this.written.push({ key, image, transaction, write: operation, commit: ending, version });
      }
      if (mechanisms.consistentRead === 'none') continue;
      for (const [index, { key, image }] of operation.reads.entries()) {
        if (own.some((earlier) => earlier.start < operation.start && writes(earlier, key))) continue;
        const { transaction } = operation;
        this.seen.push({ at, index, transaction, key, image, snapshot: this.#snapshotOf(operation, own) });
      }
    }
  }

  of(transaction: string): TraceOperation[] {
    return this.operations.filter((operation) => operation.transaction === transaction);
  }

  #snapshotOf(operation: TraceOperation, own: readonly TraceOperation[]): Interval {
    const { consistentRead, lockingReads } = this.mechanisms;
    const isPlain = ({ kind, lock }: TraceOperation): boolean =>
      kind === 'read' && (lock === null || lockingReads === 'as-plain');
    if (!isPlain(operation)) return operation;
    switch (consistentRead) {
      case 'begin':
      case 'first-statement':
        return own[0] as TraceOperation;
      case 'first-read':
        return own.find(isPlain) ?? operation;
      case 'transaction':
        return { start: (own[0] as TraceOperation).start, end: operation.end };
      default:
        return operation;
    }
  }

  /** The operation in which the transaction takes its snapshot. */
  snapshotTakenBy(transaction: string): TraceOperation | undefined {
    const own = this.of(transaction);
    if (this.mechanisms.consistentRead !== 'first-read') return own[0];
    return own.find(({ kind, lock }) => kind === 'read' && lock === null);
  }

  withRead({ at, index }: Seen, image: RowImage): TraceOperation[] {
    return this.operations.map((operation, i) =>
      i === at
        ? { ...operation, reads: operation.reads.map((read, r) => (r === index ? { ...read, image } : read)) }
        : operation,
    );
  }

  /** The trace with an operation at another time, if it still is in the order of its session. */
  withMoved(moved: TraceOperation, { start, end }: Interval): TraceOperation[] | null {
    const session = this.operations.filter((operation) => operation.session === moved.session);
    const at = session.indexOf(moved);
    const [before, after] = [session[at - 1], session[at + 1]];
    if ((before !== undefined && before.end >= start) || (after !== undefined && end >= after.start)) return null;
    return this.operations
      .map((operation) => (operation === moved ? { ...operation, start, end } : operation))
      .toSorted((a, b) => a.start - b.start);
  }
}

function writes({ writes: rows }: TraceOperation, key: string): boolean {
  return rows.some((row) => row.key === key);
}

function precedes(earlier: Interval, later: Interval): boolean {
  return earlier.end < later.start;
}

/** Interval times are multiples of 10: there is room right behind one. */
function justAfter({ end }: Interval): Interval {
  return { start: end + 1, end: end + 2 };
}

function chosen<T>(options: readonly T[], random: Random): T | undefined {
  return options[random(Math.max(1, options.length))];
}

type Mutation = (facts: Facts, random: Random) => TraceOperation[] | null;

export const mutations: Readonly<Record<string, Mutation>> = {
  'stale read': (facts, random) => {
    const options = facts.seen.flatMap((read) => {
      const past = facts.written.filter(({ key, version }) => key === read.key && precedes(version, read.snapshot));
      return past.flatMap((old) => (past.some((next) => precedes(old.version, next.version)) ? [{ read, old }] : []));
    });
    const choice = chosen(options, random);
    return choice === undefined ? null : facts.withRead(choice.read, choice.old.image);
  },
  'read of the initial state': (facts, random) => {
    const options = facts.seen.filter((read) =>
      facts.written.some(({ key, version }) => key === read.key && precedes(version, read.snapshot)),
    );
    const choice = chosen(options, random);
    return choice === undefined ? null : facts.withRead(choice, 0);
  },
  'read of the future': (facts, random) => {
    const options = facts.seen.flatMap((read) =>
      facts.written
        .filter(({ key, version }) => key === read.key && precedes(read.snapshot, version))
        .map((later) => ({ read, later })),
    );
    const choice = chosen(options, random);
    return choice === undefined ? null : facts.withRead(choice.read, choice.later.image);
  },
  'read of what was aborted': (facts, random) => {
    const options = facts.seen.flatMap((read) =>
      facts.aborted
        .filter(({ key, transaction }) => key === read.key && transaction !== read.transaction)
        .filter(({ seen }) => seen === null || precedes(seen, read.snapshot) || precedes(read.snapshot, seen))
        .map((lost) => ({ read, lost })),
    );
    const choice = chosen(options, random);
    return choice === undefined ? null : facts.withRead(choice.read, choice.lost.image);
  },
  'lost write': (facts, random) => {
    const options = facts.written.filter((lost) =>
      facts.seen.some(
        (read) => read.key === lost.key && precedes(lost.version, read.snapshot) && read.image === lost.image,
      ),
    );
    const lost = chosen(options, random);
    if (lost === undefined) return null;
    const before = facts.written
      .filter(({ key, version }) => key === lost.key && precedes(version, lost.version))
      .toSorted((a, b) => a.version.start - b.version.start)
      .at(-1);
    return facts.operations.map((operation) =>
      operation.transaction === lost.transaction
        ? operation
        : {
            ...operation,
            reads: operation.reads.map((row) =>
              row.key === lost.key && row.image === lost.image ? { ...row, image: before?.image ?? 0 } : row,
            ),
          },
    );
  },
  'swapped versions': (facts, random) => {
    const options = facts.written.flatMap((one) =>
      facts.written
        .filter((two) => two.key === one.key && precedes(one.version, two.version))
        .filter((two) =>
          facts.seen.some(
            ({ key, image, snapshot }) => key === one.key && image === one.image && precedes(snapshot, two.version),
          ),
        )
        .map((two) => ({ one, two })),
    );
    const choice = chosen(options, random);
    if (choice === undefined) return null;
    const swapped = (operation: TraceOperation, from: Written, to: Written): TraceOperation => ({
      ...operation,
      writes: operation.writes.map((row) => (row.key === from.key ? { ...row, image: to.image } : row)),
    });
    const { one, two } = choice;
    return facts.operations.map((operation) => {
      if (operation === one.write) return swapped(operation, one, two);
      return operation === two.write ? swapped(operation, two, one) : operation;
    });
  },
  'early lock': (facts, random) => {
    const { mutualExclusion } = facts.mechanisms;
    if (mutualExclusion === 'none') return null;
    const isLock = (operation: TraceOperation, key: string): boolean =>
      writes(operation, key) ||
      (operation.reads.some((row) => row.key === key) &&
        (operation.lock !== null || mutualExclusion === 'reads-and-writes'));
    const options = facts.written.flatMap((one) => {
      const early = justAfter(one.write);
      if (early.end >= one.commit.start) return [];
      return facts.operations.flatMap((operation) => {
        if (operation.transaction === one.transaction || !isLock(operation, one.key)) return [];
        const moved = precedes(one.commit, operation) ? facts.withMoved(operation, early) : null;
        return moved === null ? [] : [moved];
      });
    });
    return chosen(options, random) ?? null;
  },
  'late unlock': (facts, random) => {
    if (facts.mechanisms.mutualExclusion === 'none') return null;
    const options = facts.written.flatMap((one) =>
      facts.written.flatMap((two) => {
        if (two.key !== one.key || two.transaction === one.transaction || !precedes(one.commit, two.write)) return [];
        const late = justAfter(two.write);
        const moved = late.end < two.commit.start ? facts.withMoved(one.commit, late) : null;
        return moved === null ? [] : [moved];
      }),
    );
    return chosen(options, random) ?? null;
  },
  'early snapshot': (facts, random) => {
    const { firstUpdaterWins, certifier } = facts.mechanisms;
    if (!firstUpdaterWins && certifier !== 'percolator') return null;
    const options = facts.written.flatMap((one) =>
      facts.written.flatMap((two) => {
        const snapshot = facts.snapshotTakenBy(two.transaction);
        if (two.key !== one.key || snapshot === undefined || !precedes(one.commit, snapshot)) return [];
        const early = { start: one.commit.start - 2, end: one.commit.start - 1 };
        const moved = facts.withMoved(snapshot, early);
        return moved === null ? [] : [moved];
      }),
    );
    return chosen(options, random) ?? null;
  },
};
