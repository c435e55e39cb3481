/**
 * Explicit-state search. Breadth-first finds shortest traces and the depth; depth-first finds deep violations sooner. Each
 * state is kept as its words and the ordinal of its predecessor; whether it is new, its fingerprint tells.
 */
import { Breather, monotonicMs, InputError } from '../base/index.ts';
import { symmetryCheckOf } from './check-symmetry.ts';
import { expanderOf, isDone } from './expand.ts';
import { collisionProbability, fingerprint, FingerprintSet } from './fingerprint.ts';
import { localStepsOf } from './local-steps.ts';
import type { Model } from './model.ts';
import { faultsWithPath } from './protocol-fault.ts';
import type { Condition } from './spec.ts';
import type { TimelessLevel } from '../states/index.ts';
import { type StateCheck, stateCheckOf } from './state-check.ts';
import { StateStore } from './state-store.ts';
import type { Violation } from './violation.ts';

export interface SearchOptions {
  readonly order?: 'breadth-first' | 'depth-first';
  /** Levels that the observed transactions must be at, in every state. */
  readonly levels?: readonly TimelessLevel[];
  /** Distinct states. Default 100 million. */
  readonly statesMax?: number;
  readonly timeoutMs?: number;
  /** Aborted when the user has had enough. A search that is to hear of it gives the thread back: `searchYielding`. */
  readonly signal?: AbortSignal;
  readonly memoryBytesMax?: number;
  /** A state without successors in which some process is not done. Default: that is a violation. */
  readonly deadlock?: boolean;
  /** Partial-order reduction by steps that the protocol calls local: fewer states, the same verdict. Default false. */
  readonly reduction?: boolean;
  /** Continues where an earlier breadth-first search of the same protocol stopped. */
  readonly resume?: Checkpoint;
  /** Called now and then. */
  readonly progress?: (progress: Progress) => void;
}

/** How far a search is. */
export interface Progress {
  readonly states: number;
  readonly generated: number;
  /** States on the longest of the shortest paths; a depth-first search does not know it, and says 0 or the length of its trace. */
  readonly depth: number;
  readonly queue: number;
}

/** A breadth-first search that stopped at a budget, as plain data. */
export interface Checkpoint {
  readonly position: {
    /** What was searched, and for what: a search that continues it must be the same. */
    readonly subject: string;
    readonly words: number;
    readonly states: number;
    readonly head: number;
    readonly levelEnd: number;
    readonly depth: number;
    readonly generated: number;
    readonly ends: number;
    readonly missing: readonly string[];
    readonly observedMost: number;
  };
  /** The states in the order in which they were found. */
  readonly parts: Iterable<Int32Array>;
}

export interface SearchResult extends Progress {
  readonly verdict: 'satisfied' | 'violated' | 'unknown';
  readonly violation: Violation | null;
  /** The states from an initial one to the violation. */
  readonly path: readonly Int32Array[] | null;
  /** Why it is unknown. */
  readonly reason: 'states-limit' | 'time-limit' | 'memory-limit' | 'runs-limit' | 'interrupted' | null;
  /** Was every reachable state seen? */
  readonly complete: boolean;
  /** States in which all processes are done. TLC counts a step that stays there for each. */
  readonly ends: number;
  /** The most transactions that one state observed; `null` where no level was asked for. */
  readonly observedMost: number | null;
  readonly collisionProbability: number;
  readonly bytes: number;
  /** Where a search that reached a budget can continue. */
  readonly checkpoint: Checkpoint | null;
}

const progressEvery = 1 << 16;
const yieldEvery = 64;

export function search(model: Model, options: SearchOptions = {}): SearchResult {
  return drained(new SearchRun(model, options).run());
}

/** The same, giving the thread back now and then. */
export function searchYielding(model: Model, options: SearchOptions = {}): Promise<SearchResult> {
  return drainedYielding(new SearchRun(model, options).run());
}

/** What happens in small steps, in one. */
function drained<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function drainedYielding<Result>(steps: Generator<void, Result>): Promise<Result> {
  const breather = new Breather();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await breather.breathe();
  }
}

/** A class: one search, from its initial state to its answer. */
class SearchRun {
  readonly #model: Model;
  readonly #options: SearchOptions;
  readonly #store: StateStore;
  readonly #seen = new FingerprintSet();
  readonly #check: StateCheck;
  readonly #sometimes: Map<string, Condition>;
  readonly #print = new Int32Array(2);
  readonly #stack: number[] | null;
  readonly #deadline: number;
  #generated = 0;
  #ends = 0;
  #observedBefore = 0;
  #predecessor = -1;
  #violation: Violation | null = null;
  #violating = -1;

  constructor(model: Model, options: SearchOptions) {
    this.#model = model;
    this.#options = options;
    this.#store = new StateStore(model.words.length);
    this.#check = stateCheckOf(model, options.levels);
    this.#sometimes = new Map(Object.entries(model.parts.sometimes ?? {}));
    this.#stack = options.order === 'depth-first' ? [] : null;
    this.#deadline = monotonicMs() + (options.timeoutMs ?? Infinity);
  }

  *run(): Generator<void, SearchResult> {
    const model = this.#model;
    const expander = expanderOf(model);
    const checkSymmetry = symmetryCheckOf(model, expander, this.#check);
    const local = this.#options.reduction === true ? localStepsOf(model, expander) : null;
    const state = new Int32Array(model.words.length);
    const expandState = faultsWithPath(
      () => {
        checkSymmetry(state);
        if (local?.suffice(state, this.#visitNew) === true) return;
        if (expander.expand(state, this.#visit) === 0) this.#ended(this.#predecessor);
      },
      () => this.#store.pathTo(this.#predecessor),
    );
    let { depth, levelEnd, head } = this.#start();
    let reason: SearchResult['reason'] = null;
    for (; this.#violation === null; head += 1) {
      const ordinal = this.#stack === null ? head : (this.#stack.pop() ?? this.#store.size);
      if (ordinal >= this.#store.size) break;
      if (head === levelEnd) {
        depth += 1;
        levelEnd = this.#store.size;
      }
      if (head % yieldEvery === 0) {
        yield;
        reason = this.#exhausted(head);
        if (reason !== null) break;
        if (head % progressEvery === 0 && head > 0) this.#report(depth, head);
      }
      this.#store.load(ordinal, state);
      this.#predecessor = ordinal;
      expandState();
    }
    const known = this.#stack === null ? depth : 0;
    const found = this.#violation === null ? known : this.#depthOfViolation(known);
    return this.#result(found, head, reason, levelEnd);
  }

  #start(): Pick<Checkpoint['position'], 'depth' | 'levelEnd' | 'head'> {
    const { resume } = this.#options;
    const { words, initial } = this.#model;
    if (resume === undefined) {
      words.set(initial);
      this.#visit();
      return { depth: 1, levelEnd: this.#store.size, head: 0 };
    }
    const { position, parts } = resume;
    this.#requireSame(position);
    this.#store.restore(parts, (state) => {
      fingerprint(state, state.length, this.#print);
      this.#seen.add(this.#print[0], this.#print[1]);
    });
    if (this.#store.size !== position.states) throw new InputError('protocol/checkpoint', 'the checkpoint is cut off');
    this.#generated = position.generated;
    this.#ends = position.ends;
    this.#observedBefore = position.observedMost;
    for (const name of this.#sometimes.keys()) if (!position.missing.includes(name)) this.#sometimes.delete(name);
    return position;
  }

  #requireSame(position: Checkpoint['position']): void {
    if (position.subject === this.#position().subject && this.#stack === null) return;
    const what =
      'the checkpoint is of another protocol, or of other parameters, levels, symmetry, reduction, deadlock or order';
    throw new InputError('protocol/checkpoint', what);
  }

  #position(): Omit<Checkpoint['position'], 'head' | 'levelEnd' | 'depth'> {
    const { protocol, parameters, words, symmetry } = this.#model;
    const { levels = [], reduction = false, deadlock = true } = this.#options;
    return {
      subject: JSON.stringify([protocol.name, parameters, levels, symmetry.order, reduction, deadlock, words.length]),
      words: words.length,
      states: this.#store.size,
      generated: this.#generated,
      ends: this.#ends,
      missing: [...this.#sometimes.keys()],
      observedMost: this.#observedMost() ?? 0,
    };
  }

  readonly #visitNew = (): boolean => {
    const before = this.#store.size;
    this.#visit();
    return this.#store.size > before;
  };

  /** Looks at the successor in the model's words. */
  readonly #visit = (): boolean => {
    const model = this.#model;
    this.#generated += 1;
    model.symmetry.canonicalise(model.words);
    fingerprint(model.words, model.words.length, this.#print);
    if (!this.#seen.add(this.#print[0], this.#print[1])) return true;
    const ordinal = this.#store.append(model.words, this.#predecessor);
    this.#stack?.push(ordinal);
    this.#check.strike(this.#sometimes);
    this.#violation = this.#check.check();
    if (this.#violation === null) return true;
    this.#violating = ordinal;
    return false;
  };

  /** A state without successors: the end of all processes, or a deadlock. */
  #ended(ordinal: number): void {
    if (isDone(this.#model)) this.#ends += 1;
    else if (this.#options.deadlock !== false) {
      this.#violation = { kind: 'deadlock', name: 'deadlock' };
      this.#violating = ordinal;
    }
  }

  #observedMost(): number | null {
    const observed = this.#check.observedMost();
    return observed === null ? null : Math.max(observed, this.#observedBefore);
  }

  #exhausted(head: number): SearchResult['reason'] {
    if (this.#options.signal?.aborted === true) return 'interrupted';
    if (head % 1024 !== 0) return null;
    const { statesMax = 100_000_000, memoryBytesMax = Infinity } = this.#options;
    if (this.#store.size >= statesMax) return 'states-limit';
    if (this.#store.bytes + this.#seen.bytes > memoryBytesMax) return 'memory-limit';
    return monotonicMs() > this.#deadline ? 'time-limit' : null;
  }

  #report(depth: number, head: number): void {
    this.#options.progress?.(this.#progress(depth, head));
  }

  #progress(depth: number, head: number): Progress {
    const states = this.#store.size;
    const queue = this.#stack === null ? states - Math.min(head, states) : this.#stack.length;
    return { states, generated: this.#generated, depth, queue };
  }

  #depthOfViolation(depth: number): number {
    return Math.max(depth, this.#store.pathTo(this.#violating).length);
  }

  #result(depth: number, head: number, reason: SearchResult['reason'], levelEnd: number): SearchResult {
    const missed = [...this.#sometimes.keys()][0];
    const complete = reason === null && this.#violation === null;
    const violation: Violation | null =
      this.#violation ?? (complete && missed !== undefined ? { kind: 'sometimes', name: missed } : null);
    const progress = this.#progress(depth, head);
    return {
      ...progress,
      verdict: violation !== null ? 'violated' : reason === null ? 'satisfied' : 'unknown',
      violation,
      path: this.#violating < 0 ? null : this.#store.pathTo(this.#violating),
      reason,
      complete,
      ends: this.#ends,
      observedMost: this.#observedMost(),
      collisionProbability: collisionProbability(progress.states, progress.generated),
      bytes: this.#store.bytes + this.#seen.bytes,
      checkpoint:
        reason === null || this.#stack !== null
          ? null
          : { position: { ...this.#position(), head, levelEnd, depth }, parts: this.#store.parts() },
    };
  }
}
