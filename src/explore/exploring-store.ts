/**
 * The store of one run of explore-ce: it replays a prefix, then continues by itself. A read that is new sees the first write that its level
 * allows; for every other one, the prefix that leads there is noted. So are the swaps that each new commit allows.
 */
import { inspect } from 'node:util';
import { assert } from '../base/index.ts';
import { defaultId, type History, type Key, type Operation, type Transaction, type Value } from '../history/index.ts';
import {
  CommitOrders,
  type ConstrainingLevel,
  constrainingLevels,
  type IsolationLevel,
  parseLevel,
} from '../isolation/index.ts';
import type { Program, SessionRun, Store, StoreTransaction } from '../program/index.ts';
import { type BaseLevel, exploredLevel } from './base-level.ts';
import { Causality } from './causality.ts';
import {
  indexOf,
  INITIAL_STATE,
  type Log,
  nameAt,
  namesOf,
  nameOf,
  type Prefix,
  prefixOf,
  sessionOf,
  writesKey,
} from './ordered-history.ts';
import { copyAgain } from './plain-copy.ts';
import { swapsAfter } from './swaps.ts';
import { isCopyOf, ValueTable } from './value-table.ts';

export interface ExploredLog extends Log {
  readonly level: ConstrainingLevel;
  /** Of each of `writeKeys`, the number of the value that was written last. */
  readonly writeValues: number[];
  /** What it did, three numbers an operation: the key, the value's number, and the position that an external read saw, `OWN` or `WRITE`. */
  readonly operations: number[];
}

/** A read of the transaction's own write. */
const OWN = -2;
const WRITE = -3;

/** Nodes of commit orders are given out in the order of the run; 0 is the initial state. */
function nodeAt(position: number): number {
  return position + 1;
}

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
  readonly #program: Program;
  readonly #level: ConstrainingLevel;
  readonly #base: BaseLevel;
  readonly #causality = new Causality();
  readonly #judge: CommitOrders;
  readonly #keyIds = new Map<Key, number>();
  readonly #keys: Key[] = [];
  #values = new ValueTable();
  /** Per key: the number of its initial value. */
  readonly #initial: number[] = [];
  #prefix: Prefix = [];
  #bounds: readonly number[] | null = null;
  #logs: ExploredLog[] = [];
  #hasGivenUp = false;
  /** Per session: the position of its last transaction. */
  readonly #lastOf: number[] = [];
  /** Per session, in this run: operations, and whether there was a choice between its next step and that of another session. */
  readonly #operations: number[];
  readonly #overlapped: boolean[];

  constructor(program: Program, { level = 'causal', base, stepsMax }: StoreOptions) {
    this.#judge = new CommitOrders(stepsMax === undefined ? {} : { stepsMax });
    this.#program = program;
    this.#operations = program.sessionNames.map(() => 0);
    this.#overlapped = program.sessionNames.map(() => false);
    this.#level = parseLevel(level, constrainingLevels);
    this.#base = base ?? 'causal';
  }

  /** @param bounds how many transactions each session may begin */
  reset(prefix: Prefix, bounds: readonly number[] | null = null): void {
    this.#prefix = prefix;
    this.#operations.fill(0);
    this.#overlapped.fill(false);
    this.#bounds = bounds;
    this.cut = [];
    this.#logs = [];
    this.#causality.reset(this.#logs);
    this.#lastOf.length = 0;
    this.branches.length = 0;
    this.divergence = null;
    this.#judge.reset();
    this.#hasGivenUp = false;
  }

  /** The prefix's order, then the first session that has not ended; `null` where all that wait would go beyond their bounds. */
  readonly nextSession = (waiting: readonly number[]): number | null => {
    if (waiting.length > 1) for (const session of waiting) this.#overlapped[session] = true;
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
    return {
      read: (key) => this.copyOf(this.read(log, this.keyId(key))),
      write: (key, value) => this.write(log, this.keyId(key), this.valueNumber(value)),
      commit: () => {
        this.commit(log);
        return 'committed';
      },
      abort: () => this.abort(log),
    };
  }

  // ---- the same by numbers: of keys (`keyId`) and of values (`valueNumber`)

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
    this.#operations[log.session] = (this.#operations[log.session] as number) + 1;
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
    const value = this.#valueOf(source, key);
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
    this.divergence ??= `a read of ${this.keyOf(key)} in session "${this.#program.sessionNames[log.session]}" cannot see the write that it saw`;
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
        this.#noteOverlap(log, first);
        this.#noteOverlap(log, writer);
      }
    }
    assert(first !== null, 'the levels that are explored are causally extensible');
    return first;
  }

  /** A read that may see or not see the write of another session is a choice between the steps of the two. */
  #noteOverlap({ session }: ExploredLog, writer: number): void {
    const other = writer < 0 ? session : (this.#logs[writer] as ExploredLog).session;
    if (other === session) return;
    this.#overlapped[session] = true;
    this.#overlapped[other] = true;
  }

  /** What each session did in this run. */
  sessionRuns(): SessionRun[] {
    return this.#operations.map((operations, session) => ({
      operations,
      overlapped: this.#overlapped[session] as boolean,
      failure: null,
      loss: this.#hasLostWrites(session) ? 'rolled-back' : null,
    }));
  }

  /** Did the session write, and abort every transaction that did? */
  #hasLostWrites(session: number): boolean {
    const writing = this.#logs.filter((log) => log.session === session && log.writeKeys.length > 0);
    return writing.length > 0 && writing.every(({ status }) => status === 'aborted');
  }

  #prefixWith({ name, position, sources }: ExploredLog, writer: number): Prefix {
    const prefix = prefixOf(this.#logs, position);
    const names = namesOf(this.#logs, sources);
    names.push(nameAt(this.#logs, writer));
    prefix.push({ name, sources: names });
    return prefix;
  }

  write(log: ExploredLog, key: number, value: number): void {
    this.#operations[log.session] = (this.#operations[log.session] as number) + 1;
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

  /** Did a search for a commit order give up since the run began to be judged? Then a `false` or a missing final state says nothing. */
  get gaveUp(): boolean {
    return this.#hasGivenUp || this.#judge.gaveUp;
  }

  /** Is the whole run at the levels that were asked for? True without a look where all of them were explored directly. */
  isAtLevel(): boolean {
    if (this.#logs.every(({ level, explored }) => explored === level)) return true;
    this.#buildJudge();
    return this.#judge.rebuild();
  }

  #buildJudge(): void {
    this.#hasGivenUp ||= this.#judge.gaveUp;
    this.#judge.reset();
    const { constraints } = this.#judge;
    for (const log of this.#logs) {
      const node = constraints.begin(log.session, log.level);
      log.readKeys.forEach((key, i) => {
        // What no transaction writes, all may read.
        if (this.#causality.writersOf(key) > 0) constraints.addRead(node, key, nodeAt(log.sources[i] as number));
      });
      if (log.status === 'committed') constraints.addWrites(node, log.writeKeys);
    }
  }

  /** The whole run, as a prefix that leads to it. */
  prefix(): Prefix {
    return prefixOf(this.#logs);
  }

  /**
   * A final state of the run: what a serializable observer at the end reads. Which of its writers a key has last is chosen when it is looked at,
   * among those that are left; keys with one writer need no choice.
   */
  finalState(choose: (options: number) => number): Record<Key, Value> {
    const written = this.#logs.flatMap(({ status, writeKeys }) => (status === 'committed' ? writeKeys : []));
    const keys = new Set([...this.#program.initial.keys(), ...written.map((id) => this.keyOf(id))]);
    const final: Record<Key, Value> = {};
    // Printed, it has values where `inspect` would show accessors.
    Object.defineProperty(final, inspect.custom, { value: () => ({ ...final }) });
    let observer: number | null = null;
    for (const key of [...keys].toSorted()) {
      const id = this.keyId(key);
      const writers = this.#causality.writersOf(id);
      const define = (shape: PropertyDescriptor): unknown =>
        Object.defineProperty(final, key, { enumerable: true, configurable: true, ...shape });
      if (writers < 2) {
        define({ value: this.copyOf(this.#valueOf(writers === 0 ? -1 : this.#causality.writerOf(id, 0), id)) });
        continue;
      }
      define({
        get: () => {
          const value = this.copyOf(this.#valueOf(this.#lastWriter((observer ??= this.#observer()), id, choose), id));
          define({ value });
          return value;
        },
      });
    }
    return final;
  }

  #observer(): number {
    this.#buildJudge();
    assert(this.#judge.rebuild(), 'only runs at their level are shown');
    return this.#judge.beginObserver(this.#program.sessions.length);
  }

  /** The position of the writer of a key that the observer reads from. */
  #lastWriter(observer: number, key: number, choose: (options: number) => number): number {
    const writers = this.#judge.constraints
      .writersOf(key)
      .filter((node) => this.#judge.allowsRead(observer, key, node));
    const node = writers[writers.length === 1 ? 0 : choose(writers.length)] as number;
    this.#judge.read(observer, key, node);
    return node - 1;
  }

  /** The external reads that saw an older write than the newest before them in the order of the run, as `transaction operation`. */
  olderReads(): ReadonlySet<string> {
    const places = new Set<string>();
    this.#logs.forEach(({ operations }, t) => {
      for (let i = 0; i < operations.length; i += 3) {
        const [key, source] = [operations[i] as number, operations[i + 2] as number];
        if (source < -1) continue;
        const newest = this.#logs.findLastIndex((log, w) => w < t && writesKey(log, key));
        if (newest !== source) places.add(`${t} ${i / 3}`);
      }
    });
    return places;
  }

  history(): History {
    const transactions = this.#logs.map((log): Transaction => {
      const { session, index, operations, level } = log;
      return {
        id: defaultId(this.#program.sessionNames[session] as string, index),
        session,
        status: log.status === 'committed' ? 'committed' : 'aborted',
        operations: this.#operationsOf(operations),
        ...(level === this.#level ? {} : { level }),
      };
    });
    return { sessions: this.#program.sessionNames, transactions, initial: this.#program.initial };
  }

  #operationsOf(numbers: readonly number[]): Operation[] {
    const operations: Operation[] = [];
    for (let i = 0; i < numbers.length; i += 3) {
      const key = this.keyOf(numbers[i] as number);
      const value = this.copyOf(numbers[i + 1] as number);
      const from = numbers[i + 2] as number;
      if (from === WRITE) operations.push({ kind: 'write', key, value });
      else operations.push({ kind: 'read', key, value, ...(from === OWN ? {} : { from }) });
    }
    return operations;
  }

  /** The number of the value that a committed transaction, or the initial state, gave a key. */
  #valueOf(source: number, key: number): number {
    if (source < 0) return (this.#initial[key] ??= this.#initialOf(key));
    const { writeKeys, writeValues } = this.#logs[source] as ExploredLog;
    return writeValues[writeKeys.indexOf(key)] as number;
  }

  #initialOf(key: number): number {
    return this.#values.numberOf(this.#program.initial.get(this.keyOf(key)) ?? null);
  }

  /** A value by its number. */
  copyOf(value: number): Value {
    return copyAgain(this.#values.at(value));
  }

  /** @throws InputError `history/value` for what JSON cannot carry */
  valueNumber(value: unknown): number {
    return this.#values.numberOf(value);
  }

  /** Is this the value with that number? */
  isValue(number: number, value: unknown): boolean {
    return isCopyOf(value, this.#values.at(number));
  }

  keyOf(key: number): Key {
    return this.#keys[key] as Key;
  }

  /** Those that were read or written since the store last forgot, and those that have an initial value. */
  get keys(): readonly Key[] {
    return this.#keys;
  }

  keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) this.#keyIds.set(key, (id = this.#keys.push(key) - 1));
    return id;
  }

  /** How many keys and values have numbers. */
  get size(): number {
    return this.#keys.length + this.#values.size;
  }

  /** Numbers them anew, from the next run on. */
  forget(): void {
    this.#keyIds.clear();
    this.#keys.length = 0;
    this.#initial.length = 0;
    this.#values = new ValueTable();
  }
}
