/**
 * The store of one run of explore-ce: it replays a prefix, then goes on by itself. A read that is new sees the first write that its level
 * allows; for every other one, the prefix that leads there is noted. So are the swaps that each new commit allows.
 */
import { assert } from '../base/assert.ts';
import {
  copyValue,
  defaultId,
  type History,
  type Key,
  type Operation,
  type Transaction,
  type Value,
} from '../history/index.ts';
import {
  CommitOrders,
  type ConstrainingLevel,
  constrainingLevels,
  type IsolationLevel,
  parseLevel,
} from '../isolation/index.ts';
import type { Program, Store, StoreTransaction } from '../program/index.ts';
import {
  INITIAL_STATE,
  type Log,
  nameAt,
  nameOf,
  type Prefix,
  prefixOf,
  sessionOf,
  writesKey,
} from './ordered-history.ts';
import { Swaps } from './swaps.ts';

interface ExploredLog extends Log {
  readonly level: ConstrainingLevel;
  readonly operations: Operation[];
  readonly written: Map<number, Value>;
}

/** Nodes of commit orders are given out in the order of the run; 0 is the initial state. */
function nodeAt(position: number): number {
  return position + 1;
}

/** Prefix, snapshot isolation and serializable cannot be explored directly: causal is explored and what is not at its level is left out. */
function explorationLevel(level: ConstrainingLevel): ConstrainingLevel {
  return level === 'read-committed' || level === 'read-atomic' ? level : 'causal';
}

export class ExploringStore implements Store {
  /** Where the program took another turn than its prefix; never while it explores, and `null` where it followed. */
  divergence: string | null = null;
  /** Prefixes that this run found and did not follow. */
  readonly branches: Prefix[] = [];
  readonly #program: Program;
  readonly #level: ConstrainingLevel;
  readonly #orders = new CommitOrders();
  readonly #judge: CommitOrders;
  readonly #swaps: Swaps;
  readonly #keyIds = new Map<Key, number>();
  readonly #keys: Key[] = [];
  #prefix: Prefix = [];
  #logs: ExploredLog[] = [];
  #hasGivenUp = false;
  /** Per session: the position of its last transaction. */
  readonly #lastOf: number[] = [];

  /** @param stepsMax decisions that one search for a commit order may take */
  constructor(program: Program, level: ConstrainingLevel, stepsMax?: number) {
    this.#judge = new CommitOrders(stepsMax === undefined ? {} : { stepsMax });
    this.#program = program;
    this.#level = level;
    this.#swaps = new Swaps((log) => explorationLevel((log as ExploredLog).level));
  }

  reset(prefix: Prefix): void {
    this.#prefix = prefix;
    this.#logs = [];
    this.#orders.reset();
    this.#lastOf.length = 0;
    this.branches.length = 0;
    this.divergence = null;
    this.#judge.reset();
    this.#hasGivenUp = false;
  }

  /** The prefix's order, then the first session that has not ended. */
  readonly nextSession = (waiting: readonly number[]): number => {
    const next = this.#prefix[this.#logs.length];
    const session = next === undefined ? (waiting[0] as number) : sessionOf(next.name);
    if (waiting.includes(session)) return session;
    this.divergence ??= `session "${this.#program.sessionNames[session]}" has no transaction ${this.#logs.length - 1} any more`;
    return waiting[0] as number;
  };

  begin(session: number, level: IsolationLevel = this.#level): StoreTransaction {
    const previous = this.#lastOf[session] ?? -1;
    const index = previous < 0 ? 0 : (this.#logs[previous] as ExploredLog).index + 1;
    const position = this.#logs.length;
    const log: ExploredLog = {
      name: nameOf(session, index),
      session,
      index,
      previous,
      level: parseLevel(level, constrainingLevels),
      readKeys: [],
      sources: [],
      writeKeys: [],
      operations: [],
      written: new Map(),
      status: 'pending',
    };
    this.#logs.push(log);
    this.#lastOf[session] = position;
    const node = this.#orders.begin(session, explorationLevel(log.level));
    assert(node === nodeAt(position), 'nodes are given out in the order of the run');
    return {
      read: (key) => this.#read(log, position, key),
      write: (key, value) => this.#write(log, key, value),
      commit: () => this.#commit(log, position),
      abort: () => {
        log.status = 'aborted';
      },
    };
  }

  #read(log: ExploredLog, position: number, key: Key): Value {
    const id = this.#keyId(key);
    const own = log.written.get(id);
    if (own !== undefined) {
      log.operations.push({ kind: 'read', key, value: own });
      return copyValue(own);
    }
    const source = this.#given(log, position, key, id) ?? this.#choose(log, position, id);
    this.#orders.read(nodeAt(position), id, nodeAt(source));
    log.readKeys.push(id);
    log.sources.push(source);
    const value = this.#valueOf(source, id);
    log.operations.push({ kind: 'read', key, value, from: source });
    return copyValue(value);
  }

  /** The position of the transaction that this read saw, if the prefix says so. */
  #given(log: ExploredLog, position: number, key: Key, id: number): number | undefined {
    const given = this.#prefix[position]?.sources[log.sources.length];
    if (given === undefined) return undefined;
    if (given === INITIAL_STATE) return -1;
    const writer = this.#logs.findIndex(({ name }) => name === given);
    if (writer >= 0 && writesKey(this.#logs[writer] as ExploredLog, id)) return writer;
    this.divergence ??= `a read of ${key} in session "${this.#program.sessionNames[log.session]}" cannot see the write that it saw`;
    return undefined;
  }

  /** The first write that the read may see; a branch for each of the others. */
  #choose(log: ExploredLog, position: number, key: number): number {
    let first: number | null = null;
    for (let writer = -1; writer < position; writer += 1) {
      if (writer >= 0 && !writesKey(this.#logs[writer] as ExploredLog, key)) continue;
      if (!this.#orders.allowsRead(nodeAt(position), key, nodeAt(writer))) continue;
      if (first === null) first = writer;
      else this.branches.push(this.#prefixWith(log, position, writer));
    }
    assert(first !== null, 'the levels that are explored are causally extensible');
    return first;
  }

  #prefixWith(log: ExploredLog, position: number, writer: number): Prefix {
    const prefix = prefixOf(this.#logs.slice(0, position));
    const sources = [...log.sources, writer].map((source) => nameAt(this.#logs, source));
    return [...prefix, { name: log.name, sources }];
  }

  #write(log: ExploredLog, key: Key, value: unknown): void {
    const id = this.#keyId(key);
    const copy = copyValue(value);
    if (!log.written.has(id)) log.writeKeys.push(id);
    log.written.set(id, copy);
    log.operations.push({ kind: 'write', key, value: copy });
  }

  #commit(log: ExploredLog, position: number): 'committed' {
    log.status = 'committed';
    this.#orders.commit(nodeAt(position), log.writeKeys);
    if (position >= this.#prefix.length - 1) this.branches.push(...this.#swaps.after(this.#logs));
    return 'committed';
  }

  /** Did a search for a commit order give up since the run began to be judged? Then a `false` or a missing final state says nothing. */
  get gaveUp(): boolean {
    return this.#hasGivenUp || this.#judge.gaveUp;
  }

  /** Is the whole run at the levels that were asked for? True without a look where all of them were explored directly. */
  isAtLevel(): boolean {
    if (this.#logs.every(({ level }) => explorationLevel(level) === level)) return true;
    this.#buildJudge();
    return this.#judge.rebuild();
  }

  #buildJudge(): void {
    this.#hasGivenUp ||= this.#judge.gaveUp;
    this.#judge.reset();
    const { constraints } = this.#judge;
    for (const log of this.#logs) {
      const node = constraints.begin(log.session, log.level);
      log.readKeys.forEach((key, i) => constraints.addRead(node, key, nodeAt(log.sources[i] as number)));
      if (log.status === 'committed') constraints.addWrites(node, log.writeKeys);
    }
  }

  /** The whole run, as a prefix that leads to it. */
  prefix(): Prefix {
    return prefixOf(this.#logs);
  }

  /** A final state of the run, each read of it chosen among what a serializable observer at the end may see. */
  finalState(choose: (options: number) => number): Record<Key, Value> {
    this.#buildJudge();
    assert(this.#judge.rebuild(), 'only runs at their level are shown');
    const observer = this.#judge.beginObserver(this.#program.sessions.length);
    const written = new Set(this.#logs.flatMap(({ status, writeKeys }) => (status === 'committed' ? writeKeys : [])));
    const keys = new Set([...this.#program.initial.keys(), ...[...written].map((id) => this.#keys[id] as Key)]);
    return Object.fromEntries(
      [...keys].toSorted().map((key) => {
        const id = this.#keyId(key);
        const writers = [...this.#judge.constraints.writersOf(id)].filter((node) =>
          this.#judge.allowsRead(observer, id, node),
        );
        const node = writers[writers.length === 1 ? 0 : choose(writers.length)] as number;
        this.#judge.read(observer, id, node);
        return [key, copyValue(this.#valueOf(node - 1, id))];
      }),
    );
  }

  /** The external reads that saw an older write than the newest before them in the order of the run, as `transaction operation`. */
  olderReads(): ReadonlySet<string> {
    const places = new Set<string>();
    this.#logs.forEach(({ operations }, t) => {
      operations.forEach((operation, i) => {
        if (operation.kind !== 'read' || operation.from === undefined) return;
        const id = this.#keyId(operation.key);
        const newest = this.#logs.findLastIndex((log, w) => w < t && log.status === 'committed' && log.written.has(id));
        if (newest !== operation.from) places.add(`${t} ${i}`);
      });
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
        operations,
        ...(level === this.#level ? {} : { level }),
      };
    });
    return { sessions: this.#program.sessionNames, transactions, initial: this.#program.initial };
  }

  #valueOf(source: number, key: number): Value {
    if (source < 0) return this.#program.initial.get(this.#keys[key] as Key) ?? null;
    return (this.#logs[source] as ExploredLog).written.get(key) as Value;
  }

  #keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) this.#keyIds.set(key, (id = this.#keys.push(key) - 1));
    return id;
  }
}
