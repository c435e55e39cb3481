/**
 * Valid histories of any size, straight into columns: what a store that is at a level answers to a workload. The same seed gives the same
 * history. Keys start as null, lists as empty.
 */
import { type CompactHistory, CompactHistoryBuilder } from '#moirai/history';

export interface Workload {
  readonly store: 'serializable' | 'snapshot-isolation' | 'causal';
  readonly mix: 'blind-write' | 'read-modify-write' | 'list-append' | 'tpcc';
  readonly transactions: number;
  /** Per transaction; the mix tpcc has its own. */
  readonly operations: number;
  readonly sessions: number;
  readonly keys: number;
  /** Every second operation is on one of so many keys. Default: all keys are alike. */
  readonly hotKeys?: number;
  readonly seed: number;
}

export function generateHistory(workload: Workload): CompactHistory {
  const { transactions, sessions, seed } = workload;
  const random = randomOf(seed);
  const builder = new CompactHistoryBuilder();
  for (let s = 0; s < sessions; s += 1) builder.session(`s${s}`);
  for (let k = 0; k < workload.keys; k += 1) builder.key(`k${k}`);
  const store = new Store(workload, builder, random);
  const run = { 'blind-write': blindWrites, 'read-modify-write': readModifyWrites, 'list-append': listAppends, tpcc }[
    workload.mix
  ];
  for (let t = 0; t < transactions; t += 1) {
    const session = random(sessions);
    store.begin(session, t);
    run(store, workload, random);
    store.commit();
    builder.endTransaction(session);
  }
  return builder.finish();
}

type Random = (below: number) => number;

/** Mulberry32. */
function randomOf(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** How many transactions a snapshot may be behind, and the most of one session that another session has not yet seen. */
const lagMax = 50;

/**
 * Versions of keys. `serializable` executes one transaction after another; `snapshot-isolation` lets each read from a snapshot that is some
 * transactions old, but not older than its session, and takes a newer one when what it writes has changed since; `causal` gives each session
 * a replica, to which the transactions of others come late and in an order of its own, causes first, the newest Lamport time winning.
 */
class Store {
  readonly #workload: Workload;
  readonly #builder: CompactHistoryBuilder;
  readonly #random: Random;
  /** By version: value ID, number of the transaction, the version before. Version 0 of every key is none. */
  readonly #versionValue: number[] = [0];
  readonly #versionTime: number[] = [-1];
  readonly #versionBefore: number[] = [0];
  /** By key, of causal by replica and key: the newest version. */
  readonly #newest: Int32Array;
  #session = 0;
  #time = 0;
  #snapshot = 0;
  #written = new Map<number, number>();
  #appended: [key: number, value: number, integer: number][] = [];
  /** By version that an append made: the element. */
  readonly #versionInteger: number[] = [0];
  readonly #sessionTime: Int32Array;
  readonly #replicas: Replicas | null;
  #next = 1;

  constructor(workload: Workload, builder: CompactHistoryBuilder, random: Random) {
    const { keys, sessions, store } = workload;
    this.#workload = workload;
    this.#builder = builder;
    this.#random = random;
    this.#newest = new Int32Array(keys * (store === 'causal' ? sessions : 1));
    this.#sessionTime = new Int32Array(sessions).fill(-1);
    this.#replicas = store === 'causal' ? new Replicas(sessions) : null;
  }

  begin(session: number, time: number): void {
    this.#session = session;
    this.#time = time;
    this.#written = new Map();
    this.#appended = [];
    this.#snapshot =
      this.#workload.store === 'serializable'
        ? time - 1
        : Math.max(this.#sessionTime[session] as number, time - 1 - this.#random(lagMax));
    this.#replicas?.deliver(session, this.#random, (key, version) => this.#merge(session, key, version));
  }

  read(key: number): void {
    const own = this.#written.get(key);
    const version = own === undefined ? this.#visible(key) : 0;
    const seen = version === 0 ? this.#builder.nullValue(key) : (this.#versionValue[version] as number);
    this.#builder.read(key, own ?? seen);
  }

  write(key: number): void {
    const value = this.#builder.integer(key, this.#next);
    this.#next += 1;
    this.#builder.write(key, value);
    this.#written.set(key, value);
  }

  append(key: number): void {
    const value = this.#builder.integer(key, this.#next);
    this.#next += 1;
    this.#builder.append(key, value);
    this.#appended.push([key, value, this.#next - 1]);
  }

  readList(key: number): void {
    const list = this.#appended.filter(([own]) => own === key).map(([, , integer]) => integer);
    for (let version = this.#visible(key); version !== 0; version = this.#versionBefore[version] as number)
      list.unshift(this.#versionInteger[version] as number);
    this.#builder.read(key, this.#builder.value(key, list));
  }

  /** May it still write the key? Snapshot isolation: nobody has since the snapshot. */
  mayWrite(key: number): boolean {
    const { store } = this.#workload;
    return (
      store !== 'snapshot-isolation' || (this.#versionTime[this.#newest[key] as number] as number) <= this.#snapshot
    );
  }

  commit(): void {
    const isCausal = this.#replicas !== null;
    const time = isCausal
      ? this.#replicas.lamport(this.#session) * this.#workload.sessions + this.#session
      : this.#time;
    const versions: [number, number][] = [];
    for (const [key, value, integer] of [...this.#written, ...this.#appended]) {
      const at = isCausal ? this.#session * this.#workload.keys + key : key;
      const version = this.#versionValue.length;
      this.#versionValue.push(value);
      this.#versionInteger.push(integer ?? 0);
      this.#versionTime.push(time);
      this.#versionBefore.push(isCausal ? 0 : (this.#newest[at] as number));
      this.#newest[at] = version;
      versions.push([key, version]);
    }
    this.#replicas?.publish(this.#session, versions);
    this.#sessionTime[this.#session] = this.#time;
  }

  #visible(key: number): number {
    if (this.#replicas !== null) return this.#newest[this.#session * this.#workload.keys + key] as number;
    let version = this.#newest[key] as number;
    while ((this.#versionTime[version] as number) > this.#snapshot) version = this.#versionBefore[version] as number;
    return version;
  }

  #merge(session: number, key: number, version: number): void {
    const at = session * this.#workload.keys + key;
    const known = this.#newest[at] as number;
    if ((this.#versionTime[version] as number) > (this.#versionTime[known] as number)) this.#newest[at] = version;
  }
}

interface Message {
  readonly clock: Int32Array;
  readonly lamport: number;
  readonly versions: readonly (readonly [key: number, version: number])[];
}

/** Causal delivery between sessions: a transaction comes after all that its own replica had seen. */
class Replicas {
  readonly #sent: Message[][];
  /** By session: of each session, how many transactions have come. */
  readonly #clocks: Int32Array[];
  readonly #lamports: Int32Array;

  constructor(sessions: number) {
    this.#sent = Array.from({ length: sessions }, () => []);
    this.#clocks = Array.from({ length: sessions }, () => new Int32Array(sessions));
    this.#lamports = new Int32Array(sessions);
  }

  lamport(session: number): number {
    return (this.#lamports[session] as number) + 1;
  }

  publish(session: number, versions: Message['versions']): void {
    const clock = this.#clocks[session] as Int32Array;
    clock[session] = (clock[session] as number) + 1;
    this.#lamports[session] = this.lamport(session);
    (this.#sent[session] as Message[]).push({
      clock: clock.slice(),
      lamport: this.#lamports[session] ?? 0,
      versions,
    });
  }

  /** Of a few sessions some transactions; of those that are too far behind, as many as it takes. */
  deliver(to: number, random: Random, apply: (key: number, version: number) => void): void {
    const clock = this.#clocks[to] as Int32Array;
    for (let i = 0; i < 3; i += 1) this.#deliverFrom(to, random(clock.length), 1 + random(4), apply);
    for (let from = 0; from < clock.length; from += 1) {
      const behind = (this.#sent[from] as Message[]).length - (clock[from] as number);
      if (from !== to && behind > lagMax) this.#deliverFrom(to, from, behind - lagMax, apply);
    }
  }

  #deliverFrom(to: number, from: number, count: number, apply: (key: number, version: number) => void): void {
    if (from === to) return;
    const clock = this.#clocks[to] as Int32Array;
    for (let i = 0; i < count; i += 1) {
      const message = (this.#sent[from] as Message[])[clock[from] as number];
      if (message === undefined) return;
      for (let other = 0; other < clock.length; other += 1) {
        const missing = (message.clock[other] as number) - (clock[other] as number);
        if (other !== from && missing > 0) this.#deliverFrom(to, other, missing, apply);
      }
      clock[from] = (clock[from] as number) + 1;
      this.#lamports[to] = Math.max(this.#lamports[to] as number, message.lamport);
      for (const [key, version] of message.versions) apply(key, version);
    }
  }
}

function someKey({ keys, hotKeys }: Workload, random: Random): number {
  return hotKeys !== undefined && random(2) === 0 ? random(hotKeys) : random(keys);
}

function blindWrites(store: Store, workload: Workload, random: Random): void {
  for (let o = 0; o < workload.operations; o += 1) {
    const key = someKey(workload, random);
    if (random(2) === 0 && store.mayWrite(key)) store.write(key);
    else store.read(key);
  }
}

function readModifyWrites(store: Store, workload: Workload, random: Random): void {
  for (let o = 0; o < workload.operations; o += 2) {
    const key = someKey(workload, random);
    store.read(key);
    if (store.mayWrite(key)) store.write(key);
    else store.read(key);
  }
}

/** Keys have to be many: reading a list costs its length. Not for `causal`, whose replicas keep the newest version and not a list. */
function listAppends(store: Store, workload: Workload, random: Random): void {
  for (let o = 0; o < workload.operations; o += 1) {
    const key = someKey(workload, random);
    if (random(2) === 0 && store.mayWrite(key)) store.append(key);
    else store.readList(key);
  }
}

const districts = 10;

/** Like TPC-C in shape: half payments (warehouse, district, customer), half new orders (district counter, some ten stock rows). */
function tpcc(store: Store, workload: Workload, random: Random): void {
  const warehouses = Math.max(1, Math.floor(workload.keys / 1_000));
  const warehouse = random(warehouses);
  const district = warehouses + warehouse * districts + random(districts);
  const rest = warehouses * (1 + districts);
  const update = (key: number): void => {
    store.read(key);
    if (store.mayWrite(key)) store.write(key);
  };
  if (random(2) === 0) {
    update(warehouse);
    update(district);
    update(rest + random(Math.max(1, workload.keys - rest)));
    return;
  }
  store.read(warehouse);
  update(district);
  for (let line = 5 + random(11); line > 0; line -= 1) update(rest + random(Math.max(1, workload.keys - rest)));
}
