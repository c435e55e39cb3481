/** In which orders the statements of a program are granted: each that makes a difference, or random ones. */
import { type Chooser, seeded } from '../base/index.ts';
import { ScheduleTree, type TextFootprints } from '../explore/sql/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { Arrival } from './granted.ts';
import type { Order } from './server-run.ts';

export interface OrdersTried {
  /** Of the next run. */
  readonly order: () => Order;
  /** That run is over. @returns does it differ from an earlier one only in the order of steps without a conflict? */
  readonly ended: () => boolean;
  /** To the next run. @returns is there one? */
  readonly next: () => boolean;
  /** Why no more runs are made; `null`: they are. */
  readonly stopped: string | null;
  /** Why the last run is not the one that was to come; `null`: it is. */
  readonly diverged: string | null;
  /** What leaving out schedules takes for granted. */
  readonly assumed: string | null;
  /** By which the last run is found again. */
  readonly seed: number | null;
}

const assumedOfReduction =
  'statements conflict where one writes or locks rows of a table that the other names, or that foreign keys tie to it; --no-reduction tries every order';

/** The tree of schedules, depth first. Without the reduction every order of the statements. */
export class EveryOrder implements OrdersTried {
  readonly seed = null;
  readonly assumed: string | null;
  readonly #program: SqlProgram;
  readonly #footprints: TextFootprints;
  readonly #tree: ScheduleTree;
  readonly #schedulesMax: number;
  /** Of connections, in the order in which they first sent something. */
  readonly #processes: string[] = [];
  #runs = 0;

  constructor(
    program: SqlProgram,
    { reduces, schedulesMax }: { readonly reduces: boolean; readonly schedulesMax: number | null },
    footprints: TextFootprints,
  ) {
    this.#program = program;
    this.#footprints = footprints;
    this.#schedulesMax = schedulesMax ?? Infinity;
    this.assumed = reduces ? assumedOfReduction : null;
    this.#tree = new ScheduleTree({
      processOf: (connection) => this.#processes[connection] ?? '',
      phase: () => 'sessions',
      waiting: () => footprints.waiting,
      takeFootprint: () => footprints.take(),
      endRun: () => {},
      reduces,
    });
  }

  get stopped(): string | null {
    return this.#runs < this.#schedulesMax ? null : 'there are more schedules than were asked for';
  }

  get diverged(): string | null {
    return this.#tree.hasDiverged ? 'the same statements in the same order led to others than before' : null;
  }

  order(): Order {
    const decisions = this.#tree.decisions();
    this.#footprints.begin();
    return {
      kind: 'chosen',
      choose: (arrived) => {
        const processes = arrived.map((arrival) => this.#numberOf(this.#processOf(arrival)));
        const chosen = arrived[processes.indexOf(decisions.session(processes))] as Arrival; // it is one of them
        this.#footprints.granted(this.#processOf(chosen), chosen.sql);
        return chosen;
      },
      onAnswer: (arrival) => {
        const isError = (arrival.answer?.error ?? null) !== null;
        this.#footprints.answered(this.#processOf(arrival), isError);
      },
      onEnd: (session) => this.#footprints.ended(this.#program.sessionNames[session] ?? ''),
    };
  }

  ended(): boolean {
    this.#runs += 1;
    this.#tree.finish();
    return this.#tree.isRepetition;
  }

  next(): boolean {
    return this.#tree.next();
  }

  #processOf({ session, ordinal }: Arrival): string {
    const name = this.#program.sessionNames[session] ?? '';
    return ordinal === 0 ? name : `${name}#${ordinal + 1}`;
  }

  #numberOf(process: string): number {
    const known = this.#processes.indexOf(process);
    return known < 0 ? this.#processes.push(process) - 1 : known;
  }
}

/** Run i takes the orders of seed + i. */
export class RandomOrders implements OrdersTried {
  readonly stopped = null;
  readonly diverged = null;
  readonly assumed = null;
  readonly #runs: number;
  readonly #seed: number;
  #run = 0;

  constructor({ runs, seed }: { readonly runs: number; readonly seed: number }) {
    this.#runs = runs;
    this.#seed = seed;
  }

  get seed(): number {
    return this.#seed + this.#run;
  }

  order(): Order {
    const chooser: Chooser = seeded(this.seed);
    const choose = (arrived: readonly Arrival[]): Arrival => arrived[chooser.choose(arrived.length)] as Arrival; // below the length
    return { kind: 'chosen', choose, onAnswer: () => {}, onEnd: () => {} };
  }

  ended(): boolean {
    return false;
  }

  next(): boolean {
    this.#run += 1;
    return this.#run < this.#runs;
  }
}
