import { isDeepStrictEqual } from 'node:util';
import { exclude, type Level } from './access.ts';
import { areOfOneRow, type ConcreteAccess, type ConcreteTransaction } from './concrete.ts';

/**
 * The definition that the fast algorithms answer to: every interleaving of statements and commits that the levels allow, and whether its
 * serialization graph has a cycle. For a handful of small transactions.
 */
export function isRobustByDefinition(transactions: readonly ConcreteTransaction[]): boolean {
  return !someSchedule(transactions, (schedule) => isAllowedBySsi(schedule) && !isSerializable(schedule));
}

interface Schedule {
  readonly transactions: readonly ConcreteTransaction[];
  /** Moment of each statement, of each transaction; a moment is a position in the schedule. */
  readonly moments: readonly (readonly number[])[];
  readonly commits: readonly number[];
}

/** Is there an interleaving in which no statement waits and no snapshot write is refused, with the property? */
function someSchedule(
  transactions: readonly ConcreteTransaction[],
  property: (schedule: Schedule) => boolean,
): boolean {
  const moments: number[][] = transactions.map(() => []);
  const commits: number[] = transactions.map(() => Infinity);
  const place = (now: number, left: number): boolean => {
    if (left === 0) return property({ transactions, moments, commits });
    for (const [t, { statements }] of transactions.entries()) {
      if (commits[t] !== Infinity) continue;
      const mine = moments[t] as number[];
      const statement = statements[mine.length];
      if (statement === undefined) {
        commits[t] = now;
        if (place(now + 1, left - 1)) return true;
        commits[t] = Infinity;
      } else if (statement.every((access) => mayRun(access, t, now))) {
        mine.push(now);
        if (place(now + 1, left - 1)) return true;
        mine.pop();
      }
    }
    return false;
  };
  const mayRun = (access: ConcreteAccess, t: number, now: number): boolean =>
    transactions.every((other, o) => {
      if (o === t) return true;
      const done = other.statements.slice(0, moments[o]?.length).flat();
      const level = transactions[t]?.level as Level;
      const met = done.filter((theirs) => areOfOneRow(theirs, access) && exclude(theirs, other.level, access, level));
      if ((commits[o] as number) === Infinity) return met.length === 0;
      const snapshot = moments[t]?.[0] ?? now;
      return level === 'RC' || (commits[o] as number) < snapshot || met.length === 0;
    });
  return place(
    0,
    transactions.reduce((sum, { statements }) => sum + statements.length + 1, 0),
  );
}

interface Dependency {
  readonly from: number;
  readonly to: number;
  readonly isReadWrite: boolean;
}

/** Dependencies of the multiversion serialization graph: versions of a column are ordered by commit. */
function dependencies({ transactions, moments, commits }: Schedule): readonly Dependency[] {
  const result: Dependency[] = [];
  const seen = (level: Level, t: number, statement: number): number =>
    (level === 'RC' ? moments[t]?.[statement] : moments[t]?.[0]) as number;
  for (const [a, one] of transactions.entries()) {
    for (const [b, other] of transactions.entries()) {
      if (a === b) continue;
      for (const [i, x] of one.statements.entries()) {
        for (const access of x) {
          for (const write of other.statements.flat()) {
            if (!areOfOneRow(write, access)) continue;
            if ((access.writes & write.writes) !== 0) {
              result.push((commits[a] as number) < (commits[b] as number) ? edge(a, b) : edge(b, a));
            }
            // A column that the transaction wrote itself before is its own: no other version is read.
            const own = one.statements.slice(0, i).flat();
            const reads = own.reduce((left, w) => (covers(w, access) ? left & ~w.writes : left), access.reads);
            if ((reads & write.writes) === 0) continue;
            const isVisible = (commits[b] as number) < seen(one.level, a, i);
            result.push(isVisible ? edge(b, a) : edge(a, b, true));
          }
        }
      }
    }
  }
  return result;
}

/** Is the write of every row that the read is of? Under some parent, or under any. */
function covers(write: ConcreteAccess, { row, parents = [] }: ConcreteAccess): boolean {
  return write.row === row && (write.parents ?? []).every((one) => parents.some((p) => isDeepStrictEqual(p, one)));
}

function edge(from: number, to: number, isReadWrite = false): Dependency {
  return { from, to, isReadWrite };
}

/** The dangerous structure of serializable snapshot isolation with PostgreSQL's commit order, recalled: a pivot between concurrent transactions. */
function isAllowedBySsi(schedule: Schedule): boolean {
  const { transactions, commits, moments } = schedule;
  const starts = moments.map((mine) => mine[0] ?? Infinity);
  const isConcurrent = (a: number, b: number): boolean =>
    (starts[a] as number) < (commits[b] as number) && (starts[b] as number) < (commits[a] as number);
  const dangerous = dependencies(schedule).filter(
    ({ from, to, isReadWrite }) =>
      isReadWrite && isConcurrent(from, to) && transactions[from]?.level === 'SSI' && transactions[to]?.level === 'SSI',
  );
  return !dangerous.some((into) =>
    dangerous.some(
      (out) =>
        into.to === out.from &&
        (commits[out.to] as number) <= (commits[into.from] as number) &&
        (commits[out.to] as number) < (commits[into.to] as number),
    ),
  );
}

function isSerializable(schedule: Schedule): boolean {
  const edges = dependencies(schedule);
  const left = new Set(schedule.transactions.keys());
  for (;;) {
    const free = [...left].filter((t) => !edges.some(({ from, to }) => to === t && left.has(from)));
    if (free.length === 0) return left.size === 0;
    for (const t of free) left.delete(t);
  }
}
