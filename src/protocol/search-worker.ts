/** One thread of a parallel search: it takes batches of the level's states until there are none, and reports. */
import { InputError } from '../base/index.ts';
import type { TimelessLevel } from '../states/index.ts';
import { symmetryCheckOf } from './check-symmetry.ts';
import { type Expander, expanderOf, isDone } from './expand.ts';
import { fingerprint } from './fingerprint.ts';
import { type LocalSteps, localStepsOf } from './local-steps.ts';
import type { Model } from './model.ts';
import { chunkStates, sharedInsert, SharedStates, sharedWords } from './shared-states.ts';
import type { Condition } from './spec.ts';
import { type StateCheck, stateCheckOf } from './state-check.ts';
import type { Violation } from './violation.ts';

export interface WorkerSetup {
  readonly kind: 'setup';
  readonly thread: number;
  readonly threads: number;
  readonly levels: readonly TimelessLevel[];
  readonly deadlock: boolean;
  readonly reduction: boolean;
  /** [0] the next batch of the level, [1] 1 when all should stop, [2] states in the table. */
  readonly control: Int32Array;
}

export interface LevelTask {
  readonly kind: 'level';
  /** There is one state to visit, the initial one. */
  readonly isInitial: boolean;
  /** For each thread, which of its states are the level. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly table: Int32Array;
  /** Chunks that threads have added since the last task. */
  readonly chunks: readonly { readonly thread: number; readonly chunk: Int32Array }[];
}

export interface LevelReport {
  /** All states of this thread. */
  readonly states: number;
  readonly generated: number;
  readonly ends: number;
  readonly chunks: readonly Int32Array[];
  readonly missing: readonly string[];
  readonly isTableFull: boolean;
  readonly violation: Violation | null;
  /** The state of the violation, or the one before the step at fault. */
  readonly violating: number;
  readonly fault: WorkerFault | null;
  readonly observedMost: number | null;
}

export type SearchMessage = WorkerSetup | LevelTask;

/** `null`: the answer to a setup. */
export type SearchReport = LevelReport | null;

/** An error of the protocol's code, as what can be sent between threads. */
export interface WorkerFault {
  readonly code: string;
  readonly message: string;
  /** Of its cause: the place in the protocol. */
  readonly stack: string;
}

const batchStates = 512;
const [NEXT, STOP, COUNT] = [0, 1, 2];

/** What a thread does with each message; a level's report is returned. */
export function searchWorkerOf(model: Model): (message: SearchMessage) => SearchReport {
  let worker: SearchWorker | null = null;
  return (message) => {
    if (message.kind === 'level') return worker?.run(message) ?? null;
    worker = new SearchWorker(model, message);
    return null;
  };
}

/** A class: it has the thread's states. */
class SearchWorker {
  readonly #model: Model;
  readonly #setup: WorkerSetup;
  readonly #states: SharedStates;
  readonly #check: StateCheck;
  readonly #missing: Map<string, Condition>;
  readonly #expander: Expander;
  readonly #local: LocalSteps | null;
  readonly #checkSymmetry: (state: Int32Array) => void;
  readonly #print = new Int32Array(2);
  #table: Int32Array = new Int32Array(2);
  #count = 0;
  #generated = 0;
  #ends = 0;
  #predecessor = -1;
  #added: Int32Array[] = [];
  #violation: Violation | null = null;
  #violating = -1;
  #fault: WorkerFault | null = null;

  constructor(model: Model, setup: WorkerSetup) {
    this.#model = model;
    this.#setup = setup;
    this.#states = new SharedStates(model.words.length, setup.threads);
    this.#check = stateCheckOf(model, setup.levels);
    this.#missing = new Map(Object.entries(model.parts.sometimes ?? {}));
    this.#expander = expanderOf(model);
    this.#checkSymmetry = symmetryCheckOf(model, this.#expander, this.#check);
    this.#local = setup.reduction ? localStepsOf(model, this.#expander) : null;
  }

  run(task: LevelTask): LevelReport {
    const { thread } = this.#setup;
    for (const each of task.chunks) if (each.thread !== thread) this.#states.addChunk(each.thread, each.chunk);
    this.#table = task.table;
    this.#added = [];
    this.#generated = 0;
    this.#ends = 0;
    let isTableFull = false;
    if (task.isInitial) {
      if (thread === 0) {
        this.#model.words.set(this.#model.initial);
        this.#visit();
      }
    } else isTableFull = this.#runBatches(task);
    return {
      states: this.#count,
      generated: this.#generated,
      ends: this.#ends,
      chunks: this.#added,
      missing: [...this.#missing.keys()],
      isTableFull,
      violation: this.#violation,
      violating: this.#violating,
      fault: this.#fault,
      observedMost: this.#check.observedMost(),
    };
  }

  /** @returns whether it stopped because the table is full */
  #runBatches({ from, to }: LevelTask): boolean {
    const { control, threads } = this.#setup;
    const state = new Int32Array(this.#model.words.length);
    const batches = from.map((first, thread) => Math.ceil((to[thread] - first) / batchStates));
    for (;;) {
      // Half full: what all threads add in their batches finds room.
      if (Atomics.load(control, COUNT) * 4 > this.#table.length) return true;
      if (Atomics.load(control, STOP) === 1) return false;
      let batch = Atomics.add(control, NEXT, 1);
      let owner = 0;
      while (owner < threads && batch >= batches[owner]) {
        batch -= batches[owner];
        owner += 1;
      }
      if (owner === threads) return false;
      const before = this.#count;
      const start = from[owner] + batch * batchStates;
      const end = Math.min(start + batchStates, to[owner]);
      for (let index = start; index < end && !this.#isOver; index += 1) {
        this.#states.load(owner, index, state);
        this.#predecessor = index * threads + owner;
        this.#expandState(state);
      }
      Atomics.add(control, COUNT, this.#count - before);
      if (this.#isOver) Atomics.store(control, STOP, 1);
    }
  }

  get #isOver(): boolean {
    return this.#violation !== null || this.#fault !== null;
  }

  #expandState(state: Int32Array): void {
    try {
      this.#checkSymmetry(state);
      if (this.#local?.suffice(state, this.#visitNew) === true) return;
      if (this.#expander.expand(state, this.#visit) === 0) this.#ended(this.#predecessor);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const { code, message, cause } = error;
      this.#fault = { code, message, stack: cause instanceof Error ? (cause.stack ?? '') : '' };
      this.#violating = this.#predecessor;
    }
  }

  readonly #visitNew = (): boolean => {
    const before = this.#count;
    this.#visit();
    return this.#count > before;
  };

  readonly #visit = (): boolean => {
    const { words, symmetry } = this.#model;
    const { thread, threads } = this.#setup;
    this.#generated += 1;
    symmetry.canonicalise(words);
    fingerprint(words, words.length, this.#print);
    if (!sharedInsert(this.#table, this.#print[0], this.#print[1])) return true;
    const index = this.#count;
    if (index % chunkStates === 0) {
      const chunk = sharedWords(chunkStates * this.#states.stride);
      this.#states.addChunk(thread, chunk);
      this.#added.push(chunk);
    }
    this.#states.store(thread, index, words, this.#predecessor);
    this.#count = index + 1;
    this.#check.strike(this.#missing);
    this.#violation = this.#check.check();
    if (this.#violation === null) return true;
    this.#violating = index * threads + thread;
    return false;
  };

  #ended(state: number): void {
    if (isDone(this.#model)) this.#ends += 1;
    else if (this.#setup.deadlock) {
      this.#violation = { kind: 'deadlock', name: 'deadlock' };
      this.#violating = state;
    }
  }
}
