/**
 * Breadth-first search on several threads, level by level, so that traces stay shortest. The threads take batches of the level's
 * states; at its end they exchange reports. Counts and depth are those of the search on one thread.
 */
import { assert, type JobWorker, monotonicMs, InputError } from '../base/index.ts';
import { collisionProbability } from './fingerprint.ts';
import type { Model } from './model.ts';
import { caused, FaultOnPath } from './protocol-fault.ts';
import type { LevelReport, LevelTask, SearchMessage, SearchReport } from './search-worker.ts';
import type { Progress, SearchOptions, SearchResult } from './search.ts';
import { grownTable, SharedStates, sharedWords } from './shared-states.ts';
import type { Violation } from './violation.ts';

/** Has a thread do what `searchThreadOf` does with a message, one at a time; rejects when the thread fails. */
export type SearchThread = JobWorker<SearchMessage, SearchReport>;

const tableLog2 = 20;
const watchMs = 200;

export async function parallelSearch(
  model: Model,
  threads: readonly SearchThread[],
  options: SearchOptions = {},
): Promise<SearchResult> {
  assert(threads.length > 0, 'a search needs a thread');
  return new ParallelSearch(model, threads, options).run();
}

/** A class: one search, from its initial state to its answer. */
class ParallelSearch {
  readonly #threads: readonly SearchThread[];
  readonly #options: SearchOptions;
  readonly #control = sharedWords(4);
  readonly #states: SharedStates;
  readonly #deadline: number;
  #table = sharedWords(2 << tableLog2);
  #counts: number[];
  #generated = 0;
  #ends = 0;
  #depth = 0;
  #newChunks: LevelTask['chunks'] = [];
  #reason: SearchResult['reason'] = null;
  #level = 0;
  #missing: ReadonlySet<string>;
  #observedMost: number | null = null;
  #violation: Violation | null = null;
  #violating = -1;

  constructor(model: Model, threads: readonly SearchThread[], options: SearchOptions) {
    this.#threads = threads;
    this.#options = options;
    this.#states = new SharedStates(model.words.length, threads.length);
    this.#counts = threads.map(() => 0);
    this.#missing = new Set(Object.keys(model.parts.sometimes ?? {}));
    this.#deadline = monotonicMs() + (options.timeoutMs ?? Infinity);
  }

  async run(): Promise<SearchResult> {
    const { levels = [], deadlock = true, reduction = false } = this.#options;
    const setup = { kind: 'setup', levels, deadlock, reduction, control: this.#control } as const;
    const threads = this.#threads.length;
    await this.#whileWatched(Promise.all(this.#threads.map((ask, thread) => ask({ ...setup, thread, threads }))));
    let from = this.#counts;
    await this.#runLevel({ isInitial: true, from, to: from });
    while (this.#violation === null) {
      this.#depth += 1;
      const to = [...this.#counts];
      this.#level = total(to) - total(from);
      if (this.#level === 0) {
        this.#depth -= 1;
        break;
      }
      this.#reason = this.#exhausted(total(to));
      if (this.#reason !== null) break;
      this.#options.progress?.(this.#progress());
      await this.#runLevel({ isInitial: false, from, to });
      if (this.#reason !== null) break;
      from = to;
    }
    if (this.#violation !== null && this.#violating >= 0) this.#depth = this.#states.pathTo(this.#violating).length;
    return this.#result(this.#violation === null ? this.#reason : null);
  }

  /** Until every batch of the level is done; threads stop between batches when the table gets full. */
  async #runLevel(level: {
    readonly isInitial: boolean;
    readonly from: number[];
    readonly to: number[];
  }): Promise<void> {
    Atomics.store(this.#control, 0, 0);
    let chunks: LevelTask['chunks'] = this.#newChunks;
    for (;;) {
      Atomics.store(this.#control, 1, 0);
      const task: LevelTask = { kind: 'level', ...level, table: this.#table, chunks };
      const reports = await this.#whileWatched(Promise.all(this.#threads.map((ask) => reportOf(ask, task))));
      chunks = this.#take(reports);
      this.#newChunks = chunks;
      if (this.#violation !== null || this.#reason !== null || !reports.some(({ isTableFull }) => isTableFull)) return;
      this.#table = grownTable(this.#table);
    }
  }

  /** A level of a large search takes minutes: budgets are looked at meanwhile, and the threads stop at the next batch. */
  async #whileWatched<Answers>(answers: Promise<Answers>): Promise<Answers> {
    const watch = setInterval(() => {
      const states = Atomics.load(this.#control, 2);
      this.#reason ??= this.#exhausted(states);
      if (this.#reason !== null) Atomics.store(this.#control, 1, 1);
      else this.#options.progress?.({ ...this.#progress(), states });
    }, watchMs);
    try {
      return await answers;
    } finally {
      clearInterval(watch);
    }
  }

  #take(reports: readonly LevelReport[]): LevelTask['chunks'] {
    const chunks = reports.flatMap((report, thread) => report.chunks.map((chunk) => ({ thread, chunk })));
    for (const { thread, chunk } of chunks) this.#states.addChunk(thread, chunk);
    this.#counts = reports.map(({ states }) => states);
    this.#generated += total(reports.map(({ generated }) => generated));
    this.#ends += total(reports.map(({ ends }) => ends));
    this.#missing = new Set(
      [...this.#missing].filter((name) => reports.every(({ missing }) => missing.includes(name))),
    );
    const faulty = reports.find(({ fault }) => fault !== null);
    if (faulty !== undefined) throw this.#faultOf(faulty);
    this.#observedMost = reports.reduce<number | null>(
      (most, { observedMost }) => (observedMost === null ? most : Math.max(most ?? 0, observedMost)),
      this.#observedMost,
    );
    const failed = reports.find(({ violation }) => violation !== null);
    if (failed !== undefined && this.#violation === null) {
      this.#violation = failed.violation;
      this.#violating = failed.violating;
    }
    return chunks;
  }

  #faultOf({ fault, violating }: LevelReport): FaultOnPath {
    const { code = '', message = '', stack = '' } = fault ?? {};
    const cause = Object.assign(new Error(message), { stack });
    const path = violating < 0 ? [] : this.#states.pathTo(violating);
    return new FaultOnPath(caused(new InputError(code, message), cause), path);
  }

  #exhausted(states: number): SearchResult['reason'] {
    if (this.#options.signal?.aborted === true) return 'interrupted';
    const { statesMax = 100_000_000, memoryBytesMax = Infinity } = this.#options;
    if (states >= statesMax) return 'states-limit';
    if (this.#bytes > memoryBytesMax) return 'memory-limit';
    return monotonicMs() > this.#deadline ? 'time-limit' : null;
  }

  get #bytes(): number {
    return this.#states.bytes + this.#table.byteLength;
  }

  #progress(): Progress {
    return { states: total(this.#counts), generated: this.#generated, depth: this.#depth, queue: this.#level };
  }

  #result(reason: SearchResult['reason']): SearchResult {
    const complete = reason === null && this.#violation === null;
    const missed = [...this.#missing][0];
    const violation: Violation | null =
      this.#violation ?? (complete && missed !== undefined ? { kind: 'sometimes', name: missed } : null);
    const progress = this.#progress();
    return {
      ...progress,
      verdict: violation !== null ? 'violated' : reason === null ? 'satisfied' : 'unknown',
      violation,
      path: this.#violating < 0 ? null : this.#states.pathTo(this.#violating),
      reason,
      complete,
      ends: this.#ends,
      observedMost: this.#observedMost,
      collisionProbability: collisionProbability(progress.states, progress.generated),
      bytes: this.#bytes,
      checkpoint: null,
    };
  }
}

async function reportOf(ask: SearchThread, task: LevelTask): Promise<LevelReport> {
  const report = await ask(task);
  assert(report !== null, 'a thread reports each level');
  return report;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
