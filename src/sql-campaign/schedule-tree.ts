/**
 * The tree of schedules of a program, walked depth first, one run a leaf. Where several sessions could go on, each goes first once, except
 * where that only repeats a schedule that was walked before, with independent steps swapped: sleep sets (Godefroid, 1996). A session is put
 * to sleep when its step was tried here before; it wakes up when a step comes that its step depends on. Every schedule is equivalent to one
 * that is walked to its end; a run in which all that could go are asleep is a repetition from there on, and is not counted. This is not
 * optimal: such runs cost time.
 */
import type { Decisions } from '../mockdb/index.ts';
import { areIndependent, type StepClass } from './step-class.ts';

interface SessionNode {
  readonly kind: 'session';
  readonly ready: readonly number[];
  /** Tried here before, and what their step was. */
  readonly done: Map<number, StepClass>;
  readonly sleep: ReadonlyMap<number, StepClass>;
  chosen: number;
  executed: StepClass;
}

/** What a read sees, or whether something fails: every way is tried. */
interface OtherNode {
  readonly kind: 'other';
  readonly options: number;
  chosen: number;
}

export interface ScheduleTreeOptions {
  /** Told before a session's step. */
  readonly onStep: (session: number) => void;
  /** What the step of this session that went last was. */
  readonly takeClass: (session: number) => StepClass;
  /** Leave out repetitions? */
  readonly reduces: boolean;
}

export class ScheduleTree {
  /** Does the program take another turn than it took before with the same decisions? */
  hasDiverged = false;
  /** Is this run a repetition of one that was walked before? */
  isRepetition = false;
  readonly #options: ScheduleTreeOptions;
  readonly #nodes: (SessionNode | OtherNode)[] = [];
  /** How many of the nodes this run has passed. */
  #depth = 0;
  #last: SessionNode | null = null;

  constructor(options: ScheduleTreeOptions) {
    this.#options = options;
  }

  /** The decisions of the next run. */
  decisions(): Decisions {
    this.#depth = 0;
    this.#last = null;
    this.isRepetition = false;
    const path: number[] = [];
    const schedule: number[] = [];
    return {
      path,
      schedule,
      readChoices: [],
      session: (ready) => {
        const session = this.#session(ready);
        this.#options.onStep(session);
        if (ready.length > 1) path.push(ready.indexOf(session));
        schedule.push(session);
        return session;
      },
      read: (admissible) => {
        if (admissible.length === 1) return 0;
        const position = this.#other(admissible.length);
        path.push(position);
        return position;
      },
      failure: () => false,
    };
  }

  /** Goes to the next leaf. @returns false when there is none */
  next(): boolean {
    this.#noteClass();
    for (let node = this.#nodes.at(-1); node !== undefined; node = this.#nodes.at(-1)) {
      if (node.kind === 'other') {
        node.chosen += 1;
        if (node.chosen < node.options) return true;
      } else {
        const { ready, done, sleep } = node;
        done.set(node.chosen, node.executed);
        const next = ready.find((session) => !done.has(session) && !sleep.has(session));
        if (next !== undefined) {
          node.chosen = next;
          return true;
        }
      }
      this.#nodes.pop();
    }
    return false;
  }

  /** The share of the tree that was walked, if every branch were of the same size. */
  get share(): number {
    let share = 0;
    let part = 1;
    for (const node of this.#nodes) {
      const count =
        node.kind === 'other' ? node.options : node.ready.filter((session) => !node.sleep.has(session)).length;
      const before = node.kind === 'other' ? node.chosen : node.done.size;
      part /= count;
      share += before * part;
    }
    return share;
  }

  #session(ready: readonly number[]): number {
    this.#noteClass();
    const known = this.#nodes[this.#depth];
    if (known !== undefined && !this.isRepetition) {
      this.#depth += 1;
      if (known.kind !== 'session' || known.ready.join() !== ready.join()) return this.#diverged(ready);
      this.#last = known;
      return known.chosen;
    }
    const sleep = this.#sleepers();
    const chosen = ready.find((session) => !sleep.has(session));
    if (chosen === undefined || this.isRepetition) {
      this.isRepetition = true;
      this.#last = null;
      return ready[0] as number;
    }
    const node: SessionNode = {
      kind: 'session',
      ready: [...ready],
      done: new Map(),
      sleep,
      chosen,
      executed: 'global',
    };
    this.#nodes.push(node);
    this.#depth += 1;
    this.#last = node;
    return chosen;
  }

  #diverged(ready: readonly number[]): number {
    this.hasDiverged = true;
    return ready[0] as number;
  }

  #other(options: number): number {
    if (this.isRepetition) return 0;
    const known = this.#nodes[this.#depth];
    this.#depth += 1;
    if (known === undefined) {
      this.#nodes.push({ kind: 'other', options, chosen: 0 });
      return 0;
    }
    if (known.kind === 'other' && known.options === options) return known.chosen;
    this.hasDiverged = true;
    return 0;
  }

  #noteClass(): void {
    if (this.#last !== null) this.#last.executed = this.#options.takeClass(this.#last.chosen);
    this.#last = null;
  }

  /** Who sleeps after the step before this one. */
  #sleepers(): Map<number, StepClass> {
    const sleepers = new Map<number, StepClass>();
    const previous = this.#nodes[this.#depth - 1];
    if (!this.#options.reduces || previous?.kind !== 'session') return sleepers;
    for (const [session, step] of [...previous.sleep, ...previous.done]) {
      if (session !== previous.chosen && areIndependent(step, previous.executed)) sleepers.set(session, step);
    }
    return sleepers;
  }
}
