/**
 * All that one run leaves open, decided one thing at a time and noted: which session goes next, which write a read sees, whether a
 * commit fails. The notes are a path that replays the run whatever strategy drew it, and however the strategy used its chooser.
 */
import { type Chooser, replaying } from '../base/index.ts';
import { strategies, type Strategy, type StrategyName, type Version } from './strategy.ts';

export interface DecisionsOptions {
  readonly chooser: Chooser;
  /** How a read chooses among what it may see. Default `uniform`: over the values. */
  readonly strategy?: StrategyName | Strategy;
  /** The share of commits that fail although they could succeed. Default 0. */
  readonly abortRate?: number;
}

/** Which read it is: the session, which of its transactions (attempts that were rolled back count), which external read of that. */
export interface ReadPoint {
  readonly session: number;
  readonly attempt: number;
  readonly read: number;
}

/** A read that could have seen several writes. Position 0 is the newest commit. */
export interface ReadChoice extends ReadPoint {
  readonly position: number;
  readonly admissible: number;
}

export interface Decisions {
  /** Which of the sessions that wait for their turn goes next; they are given by index, ascending. @returns one of them */
  readonly session: (waiting: readonly number[]) => number;
  /** Which of these writes, the newest commit first, a read sees. @returns a position */
  readonly read: (admissible: readonly Version[], point: ReadPoint) => number;
  /** Does this commit fail, though it could succeed? */
  readonly failure: () => boolean;
  /** What was decided where there was more than one way: positions, in order. */
  readonly path: readonly number[];
  /** The order in which sessions went. */
  readonly schedule: readonly number[];
  readonly readChoices: readonly ReadChoice[];
}

/**
 * Decisions drawn from a chooser by a strategy. The session that went last continues in half of the cases, because what users call one
 * operation is often several transactions; this reaches more distinct states than an even draw where it is so.
 */
export function drawing(options: DecisionsOptions): Decisions {
  const { chooser, abortRate = 0, strategy = 'uniform' } = options;
  const choosePosition = typeof strategy === 'function' ? strategy : strategies[strategy];
  let last = -1;
  return noting({
    session: (waiting) => {
      if (!waiting.includes(last) || chooser.choose(2) === 1) last = waiting[chooser.choose(waiting.length)] as number;
      return last;
    },
    read: (admissible) => choosePosition(admissible, chooser),
    failure: abortRate === 0 ? null : () => chooser.choose(RATE_STEPS) < abortRate * RATE_STEPS,
  });
}

/** Every way, one for each path of `chooser`: for `forEveryChoice`. */
export function enumerating(chooser: Chooser, failures = false): Decisions {
  return noting({
    session: (waiting) => waiting[chooser.choose(waiting.length)] as number,
    read: (admissible) => chooser.choose(admissible.length),
    failure: failures ? () => chooser.choose(2) === 1 : null,
  });
}

/** The run whose `path` this is; where the program took another turn, the first session and the newest write. */
export function retracing(path: readonly number[], failures = false): Decisions {
  return enumerating(replaying(path), failures);
}

/** A schedule, and the reads that do not see the newest write: all others do. */
export function following(
  schedule: readonly number[],
  older: ReadonlyMap<string, number>,
  failures = false,
): Decisions {
  let next = 0;
  return noting({
    session: (waiting) => {
      while (next < schedule.length) {
        const session = schedule[next] as number;
        next += 1;
        if (waiting.includes(session)) return session;
      }
      return waiting[0] as number;
    },
    onlyOne: (session) => {
      if (schedule[next] === session) next += 1;
    },
    read: (admissible, point) => Math.min(older.get(readPointKey(point)) ?? 0, admissible.length - 1),
    failure: failures ? () => false : null,
  });
}

/** One session after the other, and reads see what was written last. @param order sessions by index */
export function serial(order: readonly number[]): Decisions {
  return noting({
    session: (waiting) => order.find((session) => waiting.includes(session)) ?? (waiting[0] as number),
    read: () => 0,
    failure: null,
  });
}

/** Always the first of the waiting sessions, or the last, and of each read the oldest write that it may see. */
export function keepingOrder(first: 'first' | 'last'): Decisions {
  return noting({
    session: (waiting) => waiting.at(first === 'first' ? 0 : -1) as number,
    read: (admissible) => admissible.length - 1,
    failure: null,
  });
}

export function readPointKey({ session, attempt, read }: ReadPoint): string {
  return `${session} ${attempt} ${read}`;
}

const RATE_STEPS = 1_000_000;

interface Source {
  readonly session: (waiting: readonly number[]) => number;
  /** Called with the session that went where no other waited. */
  readonly onlyOne?: (session: number) => void;
  readonly read: (admissible: readonly Version[], point: ReadPoint) => number;
  /** `null`: no commit fails, and none is noted. */
  readonly failure: (() => boolean) | null;
}

function noting(source: Source): Decisions {
  const path: number[] = [];
  const schedule: number[] = [];
  const readChoices: ReadChoice[] = [];
  return {
    path,
    schedule,
    readChoices,
    session(waiting) {
      const [first] = waiting as readonly [number];
      const session = waiting.length === 1 ? first : source.session(waiting);
      if (waiting.length === 1) source.onlyOne?.(session);
      else path.push(waiting.indexOf(session));
      schedule.push(session);
      return session;
    },
    read(admissible, point) {
      if (admissible.length === 1) return 0;
      const position = source.read(admissible, point);
      path.push(position);
      readChoices.push({ ...point, position, admissible: admissible.length });
      return position;
    },
    failure() {
      if (source.failure === null) return false;
      const fails = source.failure();
      path.push(fails ? 1 : 0);
      return fails;
    },
  };
}
