/**
 * The store of one run of explore-ce: it replays a prefix, then continues by itself. A read that is new sees the first write that its level
 * allows; for every other one, the prefix that leads there is noted. So are the swaps that each new commit allows.
 */
import { assert } from '../base/index.ts';
import type { History, Key, Value } from '../history/index.ts';
import { type ConstrainingLevel, constrainingLevels, type IsolationLevel, parseLevel } from '../isolation/index.ts';
import type { Program, SessionRun, Store, StoreTransaction } from '../program/index.ts';
import { type BaseLevel, exploredLevel } from './base-level.ts';
import { Causality } from './causality.ts';
import { type ExploredLog, historyOf, olderReadsOf, OWN, valueOf, WRITE } from './explored-log.ts';
import { LevelJudge } from './level-judge.ts';
import { Numbers } from './numbers.ts';
import {
  indexOf,
  INITIAL_STATE,
  nameAt,
  namesOf,
  nameOf,
  type Prefix,
  prefixOf,
  sessionOf,
  writesKey,
} from './ordered-history.ts';
import { SessionActivity } from './session-activity.ts';
import { swapsAfter } from './swaps.ts';

export interface StoreOptions {
  readonly level?: ConstrainingLevel;
  readonly base?: BaseLevel;
  /** Decisions that one search for a commit order may take. */
  readonly stepsMax?: number;
}

export class ExploringStore implements Store {
  /** Where the program took another turn than its prefix; never while it explores, and `null` where it followed. */
  divergence: string | null = null;
  /** Prefixes that this run found and did not follow. */
  readonly branches: Prefix[] = [];
  /** Sessions that the run left waiting, because they were at their bounds. */
  cut: readonly number[] = [];
  readonly numbers: Numbers;
  readonly #program: Program;
  readonly #level: ConstrainingLevel;
  readonly #base: BaseLevel;
  readonly #causality = new Causality();
  readonly #judge: LevelJudge;
  readonly #activity: SessionActivity;
  #prefix: Prefix = [];
  #bounds: readonly number[] | null = null;
  #logs: ExploredLog[] = [];
  /** Per session: the position of its last transaction. */
  readonly #lastOf: number[] = [];

  constructor(program: Program, { level = 'causal', base, stepsMax }: StoreOptions) {
    this.numbers = new Numbers(program.initial);
    this.#judge = new LevelJudge(program, this.#causality, this.numbers, stepsMax);
    this.#activity = new SessionActivity(program.sessionNames.length);
    this.#program = program;
    this.#level = parseLevel(level, constrainingLevels);
    this.#base = base ?? 'causal';
  }

  /** @param bounds how many transactions each session may begin */
  reset(prefix: Prefix, bounds: readonly number[] | null = null): void {
    this.#prefix = prefix;
    this.#activity.reset();
    this.#bounds = bounds;
    this.cut = [];
    this.#logs = [];
    this.#causality.reset(this.#logs);
    this.#lastOf.length = 0;
    this.branches.length = 0;
    this.divergence = null;
    this.#judge.reset(this.#logs);
  }

  /** The prefix's order, then the first session that has not ended; `null` where all that wait would go beyond their bounds. */
  readonly nextSession = (waiting: readonly number[]): number | null => {
    this.#activity.noteWaiting(waiting);
    const next = this.#prefix[this.#logs.length];
    if (next !== undefined) {
      const session = sessionOf(next.name);
      if (waiting.includes(session)) return session;
      this.divergence ??= `session "${this.#program.sessionNames[session]}" has no transaction ${indexOf(next.name)} any more`;
    }
    if (this.#bounds === null) return waiting[0] as number;
    const session = waiting.find((each) => !this.#isAtBound(each)) ?? null;
    if (session === null) this.cut = waiting;
    return session;
  };

  #isAtBound(session: number): boolean {
    const last = this.#lastOf[session];
    const begun = last === undefined ? 0 : (this.#logs[last] as ExploredLog).index + 1;
    return this.#bounds !== null && begun >= (this.#bounds[session] as number);
  }

  begin(session: number, level?: IsolationLevel): StoreTransaction {
    const log = this.open(session, level);
    const { numbers } = this;
    return {
      read: (key) => numbers.copyOf(this.read(log, numbers.keyId(key))),
      write: (key, value) => this.write(log, numbers.keyId(key), numbers.valueNumber(value)),
      commit: () => {
        this.commit(log);
        return 'committed';
      },
      abort: () => this.abort(log),
    };
  }

  // ---- the same by the numbers of keys and values

  open(session: number, level: IsolationLevel = this.#level): ExploredLog {
    const previous = this.#lastOf[session] ?? -1;
    const index = previous < 0 ? 0 : (this.#logs[previous] as ExploredLog).index + 1;
    const position = this.#logs.length;
    const own = parseLevel(level, constrainingLevels);
    const log: ExploredLog = {
      name: nameOf(session, index),
      position,
      session,
      index,
      previous,
      level: own,
      explored: exploredLevel(this.#base, own),
      readKeys: [],
      sources: [],
      writeKeys: [],
      writeValues: [],
      operations: [],
      status: 'pending',
      named: null,
    };
    this.#logs.push(log);
    this.#lastOf[session] = position;
    this.#causality.begin(log);
    return log;
  }

  /** @returns the number of the value */
  read(log: ExploredLog, key: number): number {
    this.#activity.countOperation(log.session);
    const own = log.writeKeys.indexOf(key);
    if (own >= 0) {
      const value = log.writeValues[own] as number;
      log.operations.push(key, value, OWN);
      return value;
    }
    const source = this.#given(log, key) ?? this.#choose(log, key);
    this.#causality.see(log, key, source);
    log.readKeys.push(key);
    log.sources.push(source);
    const value = valueOf(this.#logs, source, key, this.numbers);
    log.operations.push(key, value, source);
    return value;
  }

  /** The position of the transaction that this read saw, if the prefix says so. */
  #given(log: ExploredLog, key: number): number | undefined {
    const given = this.#prefix[log.position]?.sources[log.sources.length];
    if (given === undefined) return undefined;
    if (given === INITIAL_STATE) return -1;
    let writer = log.position - 1;
    while (writer >= 0 && (this.#logs[writer] as ExploredLog).name !== given) writer -= 1;
    if (writer >= 0 && writesKey(this.#logs[writer] as ExploredLog, key)) return writer;
    this.divergence ??= `a read of ${this.numbers.keyOf(key)} in session "${this.#program.sessionNames[log.session]}" cannot see the write that it saw`;
    return undefined;
  }

  /** The first write that the read may see; a branch for each of the others. */
  #choose(log: ExploredLog, key: number): number {
    const { position, sources } = log;
    const writers = this.#causality.writersOf(key);
    if (writers === 0) return -1;
    let first: number | null = null;
    for (let i = -1; i < writers; i += 1) {
      const writer = i < 0 ? -1 : this.#causality.writerOf(key, i);
      if (!this.#causality.allowsRead(position, sources.length, key, writer)) continue;
      if (first === null) first = writer;
      else {
        this.branches.push(this.#prefixWith(log, writer));
        this.#activity.noteOverlap(log.session, this.#sessionAt(first, log));
        this.#activity.noteOverlap(log.session, this.#sessionAt(writer, log));
      }
    }
    assert(first !== null, 'the levels that are explored are causally extensible');
    return first;
  }

  /** The session of a writer; of the initial state the reader's own. */
  #sessionAt(writer: number, { session }: ExploredLog): number {
    return writer < 0 ? session : (this.#logs[writer] as ExploredLog).session;
  }

  #prefixWith({ name, position, sources }: ExploredLog, writer: number): Prefix {
    const prefix = prefixOf(this.#logs, position);
    const names = namesOf(this.#logs, sources);
    names.push(nameAt(this.#logs, writer));
    prefix.push({ name, sources: names });
    return prefix;
  }

  write(log: ExploredLog, key: number, value: number): void {
    this.#activity.countOperation(log.session);
    const own = log.writeKeys.indexOf(key);
    if (own >= 0) log.writeValues[own] = value;
    else {
      log.writeKeys.push(key);
      log.writeValues.push(value);
    }
    log.operations.push(key, value, WRITE);
  }

  commit(log: ExploredLog): void {
    log.status = 'committed';
    this.#causality.commit(log);
    if (log.position < this.#prefix.length - 1) return;
    for (const prefix of swapsAfter(this.#logs, this.#causality)) this.branches.push(prefix);
  }

  abort(log: ExploredLog): void {
    log.status = 'aborted';
  }

  // ---- of the whole run

  /** What each session did. */
  sessionRuns(): SessionRun[] {
    return this.#activity.runs(this.#logs);
  }

  /** A prefix that leads to it. */
  prefix(): Prefix {
    return prefixOf(this.#logs);
  }

  history(): History {
    return historyOf(this.#logs, this.#program, this.#level, this.numbers);
  }

  /** The external reads that saw an older write than the newest before them in the order of the run, as `transaction operation`. */
  olderReads(): ReadonlySet<string> {
    return olderReadsOf(this.#logs);
  }

  /** Is it at the levels that were asked for? */
  isAtLevel(): boolean {
    return this.#judge.isAtLevel();
  }

  /** Did a search for a commit order give up since the run began to be judged? Then a `false` or a missing final state says nothing. */
  get gaveUp(): boolean {
    return this.#judge.gaveUp;
  }

  /** One of its final states. @param choose the last writer of a key, where there are several */
  finalState(choose: (options: number) => number): Record<Key, Value> {
    return this.#judge.finalState(choose);
  }
}
