/**
 * When may the database decide who goes next? When every session of the program stands at it or has ended. A session that is elsewhere either
 * awaits something that comes by itself (a timer, a file, the network), and is waited for, or a result of another session, which comes only
 * after a decision. Node lists what its event loop waits for: where that is no more than before the sessions began, nothing can come by
 * itself. What Node does not list (work of its thread pool, such as `crypto.scrypt`) gets a short time.
 */
// Those of the module: the global ones are watched while programs are tested.
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { monotonicMs, activeResources } from '../base/index.ts';
import type { Settle } from '../database/index.ts';

export interface ArrivalOptions {
  /** The sessions that have neither ended nor sent a statement, each with the number of statements it has sent. */
  readonly absent: () => readonly Absent[];
  /** Timers that the database has set. */
  readonly ownTimers: () => number;
  /** How long a session that awaits something else is waited for. */
  readonly waitMs: number;
  readonly memory: ArrivalMemory;
}

export interface Absent {
  readonly session: string;
  readonly statements: number;
}

/** What several runs of one program have shown about what its sessions know past the database. */
export class ArrivalMemory {
  /** Sessions that awaited something else than the database, and came back. */
  readonly returned = new Set<string>();
  /** Sessions that did not come back in time: the others went first. */
  readonly overdue = new Set<string>();
  /** Sessions that awaited what nothing but another session could bring. */
  readonly joining = new Set<string>();
  /** Sessions that did something else after the same answers: they look at memory that another session changes. */
  readonly looking = new Set<string>();
  /** Places in sessions where others have to go first; a place is not waited for twice. */
  readonly passed = new Set<string>();

  /** Do sessions know of each other by memory that they share? */
  get isShared(): boolean {
    return this.joining.size > 0 || this.looking.size > 0;
  }

  saved(): SavedArrivals {
    return {
      returned: [...this.returned],
      overdue: [...this.overdue],
      joining: [...this.joining],
      looking: [...this.looking],
      passed: [...this.passed],
    };
  }

  restore({ returned, overdue, joining, looking, passed }: SavedArrivals): void {
    for (const each of returned) this.returned.add(each);
    for (const each of overdue) this.overdue.add(each);
    for (const each of joining) this.joining.add(each);
    for (const each of looking) this.looking.add(each);
    for (const each of passed) this.passed.add(each);
  }
}

/** Plain data. */
export type SavedArrivals = Readonly<
  Record<'returned' | 'overdue' | 'joining' | 'looking' | 'passed', readonly string[]>
>;

export class Arrivals {
  readonly #options: ArrivalOptions;
  #baseline = new Map<string, number>();

  constructor(options: ArrivalOptions) {
    this.#options = options;
  }

  /** What the event loop waits for now is not of the sessions. */
  begin(): void {
    this.#baseline = activeResources();
  }

  readonly settle: Settle = (callback) => {
    const began = monotonicMs();
    let turns = 0;
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    const look = (): void => {
      turns += 1;
      const patience = turns < TURNS_MIN ? 'turn' : this.#patience(turns, monotonicMs() - began);
      if (patience === 'none') callback();
      else if (patience === 'turn') immediate = setImmediate(look);
      // A timer counts as active while it runs, unless it is unreferenced. The run's own deadline keeps the process.
      else timer = setTimeout(look, 1).unref();
    };
    immediate = setImmediate(look);
    return () => {
      clearImmediate(immediate);
      clearTimeout(timer);
    };
  };

  /** Decide now, look again after a turn of the event loop, or after some time? */
  #patience(turns: number, waitedMs: number): 'none' | 'turn' | 'time' {
    const { absent, waitMs, memory } = this.#options;
    const awaited = absent().filter((each) => !memory.passed.has(placeOf(each)));
    if (awaited.length === 0) return 'none';
    if (turns < TURNS_MAX) return 'turn';
    const mayComeByItself = this.#mayComeByItself();
    if (mayComeByItself) for (const { session } of awaited) memory.returned.add(session);
    if (waitedMs < (mayComeByItself ? waitMs : UNLISTED_MS)) return 'time';
    for (const each of awaited) {
      memory.passed.add(placeOf(each));
      (mayComeByItself ? memory.overdue : memory.joining).add(each.session);
    }
    return 'none';
  }

  #mayComeByItself(): boolean {
    for (const [kind, count] of activeResources()) {
      const own = kind === 'Timeout' ? this.#options.ownTimers() : 0;
      if (count - own > (this.#baseline.get(kind) ?? 0)) return true;
    }
    return false;
  }
}

function placeOf({ session, statements }: Absent): string {
  return `${session} ${statements}`;
}

/** A driver in this process has read its answer and sent its next statement by then. */
const TURNS_MIN = 3;
/** After these, looking costs more than a timer. */
const TURNS_MAX = 40;
/** For what Node does not list. */
const UNLISTED_MS = 50;
