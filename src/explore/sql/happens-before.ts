/**
 * Which steps of one run happen before which, and which of them race. A step happens before a later one that it conflicts with (`engine/footprint.ts`),
 * before the later ones of its own program session, and before all that those happen before. Runs with the same relation come to the same.
 *
 * Two steps of different processes race when one happens before the other and nothing in between makes it so: then they may be taken in the
 * other order. Flanagan and Godefroid, POPL 2005; Abdulla, Aronis, Jonsson and Sagonas, "Source Sets", JACM 64(4), 2017.
 */
import { Footprint } from '../../engine/index.ts';

/** What one connection does, in order. */
export interface Step {
  /** A name that is the same in every run. */
  readonly process: string;
  /** How many steps the process made before. */
  readonly ordinal: number;
  readonly footprint: Footprint;
  /** Does it end with waiting for others? */
  readonly waits: boolean;
}

export interface Race {
  readonly first: number;
  readonly second: number;
}

/** Could the two neighbours, in the other order, read, leave or wait for anything else? */
export function areDependent(a: Step, b: Step): boolean {
  return groupOf(a.process) === groupOf(b.process) || a.footprint.conflictsWith(b.footprint);
}

/** The same, of what the two do in their own time, whatever comes after them. */
export function areDependentAtOnce(a: Step, b: Step): boolean {
  return groupOf(a.process) === groupOf(b.process) || a.footprint.conflictsAtOnceWith(b.footprint);
}

/** The program session of a connection. It may have several, and what passes between them is not recorded. */
function groupOf(process: string): string {
  return process.replace(/#\d+$/, '');
}

export class HappensBefore {
  readonly #steps: Step[] = [];
  /** For each step the earlier ones that happen before it, as bits. */
  readonly #before: bigint[] = [];
  readonly #races: Race[][] = [];

  get length(): number {
    return this.#steps.length;
  }

  /** Forgets all but the first steps. */
  cutTo(length: number): void {
    this.#steps.length = Math.min(length, this.#steps.length);
    this.#before.length = this.#steps.length;
    this.#races.length = this.#steps.length;
  }

  /** Linear in the steps, and in what their footprints hold. */
  add(step: Step): void {
    const second = this.#steps.length;
    const races: Race[] = [];
    let before = 0n;
    for (let first = second - 1; first >= 0; first -= 1) {
      const earlier = this.#steps[first] as Step;
      // What happens before something that happens before it is no race.
      if (((before >> BigInt(first)) & 1n) === 1n || !areDependent(earlier, step)) continue;
      before |= (this.#before[first] as bigint) | (1n << BigInt(first));
      if (earlier.process !== step.process) races.push({ first, second });
    }
    this.#steps.push(step);
    this.#before.push(before);
    this.#races.push(races);
  }

  /** Of a step with earlier ones. */
  races(second: number): readonly Race[] {
    return this.#races[second] as Race[];
  }

  /** Does no step from `from` on happen before it? */
  isFirst(step: number, from: number): boolean {
    return (this.#before[step] as bigint) >> BigInt(from) === 0n;
  }

  happensBefore(first: number, second: number): boolean {
    return (((this.#before[second] as bigint) >> BigInt(first)) & 1n) === 1n;
  }

  /** The steps after `from`, those up to `to`, that happen before `to` and not after `from`; then `to`. As bits. */
  wayTo(to: number, from: number): bigint {
    let way = 1n << BigInt(to);
    const before = (this.#before[to] as bigint) >> BigInt(from + 1);
    for (let step = from + 1; step < to; step += 1) {
      const happensBefore = ((before >> BigInt(step - from - 1)) & 1n) === 1n;
      if (happensBefore && !this.happensBefore(from, step)) way |= 1n << BigInt(step);
    }
    return way;
  }

  /** The processes that could begin a set of steps: no other step of it happens before theirs. */
  initials(steps: bigint): string[] {
    const initials: string[] = [];
    for (const [step, { process }] of this.#steps.entries()) {
      const isIn = ((steps >> BigInt(step)) & 1n) === 1n;
      if (isIn && ((this.#before[step] as bigint) & steps) === 0n) initials.push(process);
    }
    return initials;
  }

  get steps(): readonly Step[] {
    return this.#steps;
  }

  step(index: number): Step {
    return this.#steps[index] as Step;
  }
}

/** A step of which is only known that it waits. */
export function waitingForAll(process: string): Step {
  const footprint = new Footprint();
  footprint.touchAll();
  return { process, ordinal: -1, footprint, waits: true };
}
