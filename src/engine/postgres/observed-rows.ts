/**
 * The versions that a scan finds, for a recorder: it hears of the scan before the first of them, of each as it comes, and of the end. Where the statement
 * stops the scan at one (LIMIT, EXISTS), it hears what the scan has looked at; where the scan fails, nothing.
 */
import type { KeptCondition } from '../../sql/model/index.ts';
import type { ObservedScan } from '../observer.ts';
import type { Version } from './table.ts';

type Step = IteratorResult<Version, undefined>;

const finished: Step = { done: true, value: undefined };

export class ObservedRows implements IterableIterator<Version, undefined> {
  readonly #begin: () => ObservedScan | null;
  readonly #open: () => Iterable<Version>;
  readonly #read: (version: Version) => void;
  readonly #upTo: (stop: Version) => KeptCondition;
  #found: Iterator<Version> | null = null;
  #scan: ObservedScan | null = null;
  /** The version that the statement has. */
  #at: Version | null = null;
  #hasEnded = false;

  constructor(
    begin: () => ObservedScan | null,
    open: () => Iterable<Version>,
    read: (version: Version) => void,
    upTo: (stop: Version) => KeptCondition,
  ) {
    this.#begin = begin;
    this.#open = open;
    this.#read = read;
    this.#upTo = upTo;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): Step {
    if (this.#hasEnded) return finished;
    // A scan that fails is over.
    this.#hasEnded = true;
    this.#at = null;
    const step = this.#nextOfScan();
    if (step.done === true) {
      this.#scan?.ended();
      return finished;
    }
    this.#read(step.value);
    this.#at = step.value;
    this.#hasEnded = false;
    return step;
  }

  #nextOfScan(): Step {
    const found = this.#found;
    if (found !== null) return found.next() as Step;
    this.#scan = this.#begin();
    const opened = this.#open()[Symbol.iterator]();
    this.#found = opened;
    return opened.next() as Step;
  }

  return(): Step {
    if (this.#hasEnded) return finished;
    this.#hasEnded = true;
    this.#found?.return?.();
    if (this.#at !== null) this.#scan?.stopped(this.#upTo(this.#at));
    return finished;
  }
}
