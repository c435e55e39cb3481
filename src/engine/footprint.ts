/**
 * The footprint of one step of a session: what the step read, wrote and locked in the engine, recorded as it runs. It names rows, keys and ranges of
 * indexes, locks, gaps, snapshots and waits. Two steps without conflicting accesses are independent: in both orders each reads, leaves and waits for
 * the same. Partial-order reduction builds on that (`explore/sql/schedule-tree.ts`).
 *
 * An access has a kind and an object: something with a name, or a key or a range of keys of an index. The table below says which kinds conflict. An
 * engine records all that it reads, also what it found absent; where one access stands for several, it is the one that conflicts with more.
 */
import type { SqlValue } from '../sql/model/index.ts';

const conflicting = {
  /** Reads what is committed; a commit makes rows visible. */
  see: ['publish'],
  publish: ['see'],
  /** Reads what is written, committed or not, or remembers to have read it; writes, or undoes a write. */
  peek: ['write'],
  write: ['peek'],
  /** Locks and their release. A `try` that fails leaves nothing behind. */
  S: ['X', 'try X'],
  X: ['S', 'X', 'try S', 'try X'],
  'try S': ['X'],
  'try X': ['S', 'X'],
  'key share': ['update', 'try update'],
  share: ['no key update', 'update', 'try no key update', 'try update'],
  'no key update': ['share', 'no key update', 'update', 'try share', 'try no key update', 'try update'],
  update: [
    'key share',
    'share',
    'no key update',
    'update',
    'try key share',
    'try share',
    'try no key update',
    'try update',
  ],
  'try key share': ['update'],
  'try share': ['no key update', 'update'],
  'try no key update': ['share', 'no key update', 'update'],
  'try update': ['key share', 'share', 'no key update', 'update'],
  /** Which records an index has: scans them or locks a gap; depends on the neighbours; adds one; removes one. */
  walk: ['add', 'remove'],
  neighbours: ['remove'],
  add: ['walk', 'add', 'remove'],
  remove: ['walk', 'neighbours', 'add', 'remove'],
  /** Of anything else. */
  read: ['change'],
  change: ['read', 'change'],
  /** Two kinds that each commute with their own kind. */
  left: ['right'],
  right: ['left'],
} as const;

export type AccessKind = keyof typeof conflicting;
type Key = readonly SqlValue[];
type CompareKeys = (a: Key, b: Key) => number;

const kinds = Object.keys(conflicting) as AccessKind[];
const bits = Object.fromEntries(kinds.map((kind, i) => [kind, 1 << i])) as Record<AccessKind, number>;
const conflictBits = Object.fromEntries(
  kinds.map((kind) => [kind, conflicting[kind].reduce((mask, other) => mask | bits[other], 0)]),
) as Record<AccessKind, number>;

/** Of one key of an index, or of all in a range. */
interface KeyAccess {
  readonly kind: AccessKind;
  /** `null`: a range. */
  readonly key: Key | null;
  /** Tells records with equal keys apart; `null`: any of them. */
  readonly row: Key | null;
  readonly compare: CompareKeys;
  readonly compareRows: CompareKeys | null;
  readonly contains: ((key: Key) => boolean) | null;
}

/** The accesses to one name: their kinds, and those that conflict with them, as bits. */
interface NameAccesses {
  kinds: number;
  conflicts: number;
}

/** The name under which a step accesses whether a session waits, and the weight of its transaction: deadlock detection reads both. */
export function waitName(session: number): string {
  return `wait of ${session}`;
}

export class Footprint {
  readonly #names = new Map<string, NameAccesses>();
  readonly #keys = new Map<string, KeyAccess[]>();
  #touchesAll = false;
  #isTaken = false;
  /**
   * Accesses that came after the step: reads with the snapshot that it took, and what shows only when all transactions are known. They depend on the rest
   * of the run, so the same step may have others in another run.
   */
  #late: Footprint | null = null;

  get isEmpty(): boolean {
    return !this.#touchesAll && this.#names.size === 0 && this.#keys.size === 0;
  }

  get hasLateAccesses(): boolean {
    return this.#late !== null;
  }

  /** The step is over. */
  taken(): this {
    this.#isTaken = true;
    return this;
  }

  /** The accesses of `other` are late ones of this step. */
  addLate(other: Footprint): void {
    this.#late ??= new Footprint();
    this.#late.add(other);
  }

  add(other: Footprint): void {
    for (const [name, { kinds: mask }] of other.#names)
      for (const kind of kinds) if ((mask & bits[kind]) !== 0) this.touch(name, kind);
    for (const [index, list] of other.#keys) for (const access of list) this.#add(index, access);
  }

  /** Conflicts with every other step: for what no finer access describes. */
  touchAll(): void {
    this.#touchesAll = true;
  }

  get touchesAll(): boolean {
    return this.#touchesAll;
  }

  touch(name: string, kind: AccessKind): void {
    if (this.#isTaken) {
      this.#late ??= new Footprint();
      return this.#late.touch(name, kind);
    }
    const accesses = this.#names.get(name);
    if (accesses === undefined) this.#names.set(name, { kinds: bits[kind], conflicts: conflictBits[kind] });
    else {
      accesses.kinds |= bits[kind];
      accesses.conflicts |= conflictBits[kind];
    }
  }

  /** @param index names the index; @param row which of the records with this key, by the key that `compareRows` compares */
  touchKey(
    index: string,
    kind: AccessKind,
    key: Key,
    compare: CompareKeys,
    row?: Key,
    compareRows?: CompareKeys,
  ): void {
    this.#add(index, { kind, key, row: row ?? null, compare, compareRows: compareRows ?? null, contains: null });
  }

  touchRange(index: string, kind: AccessKind, contains: (key: Key) => boolean): void {
    this.#add(index, { kind, key: null, row: null, compare: noKeys, compareRows: null, contains });
  }

  conflictsWith(other: Footprint): boolean {
    return this.conflictsAtOnceWith(other) || this.#conflictsLateWith(other) || other.#conflictsLateWith(this);
  }

  #conflictsLateWith(other: Footprint): boolean {
    return (
      this.#late !== null &&
      (this.#late.conflictsAtOnceWith(other) || other.#late?.conflictsAtOnceWith(this.#late) === true)
    );
  }

  /** Without late accesses. Linear in the names, quadratic in the keys of one index. */
  conflictsAtOnceWith(other: Footprint): boolean {
    if (this.#touchesAll || other.#touchesAll) return true;
    const [few, many] = this.#names.size < other.#names.size ? [this, other] : [other, this];
    for (const [name, accesses] of few.#names) {
      const there = many.#names.get(name);
      if (there !== undefined && (accesses.conflicts & there.kinds) !== 0) return true;
    }
    for (const [index, mine] of this.#keys) {
      const theirs = other.#keys.get(index);
      if (theirs !== undefined && mine.some((a) => theirs.some((b) => isConflict(a, b)))) return true;
    }
    return false;
  }

  /** For people who debug a reduction. */
  toString(): string {
    const texts = this.#touchesAll ? ['everything'] : [];
    for (const [name, { kinds: mask }] of this.#names)
      texts.push(`${kinds.filter((kind) => (mask & bits[kind]) !== 0).join('+')} ${name}`);
    for (const [index, list] of this.#keys)
      for (const { kind, key, row } of list)
        texts.push(
          `${kind} ${index} ${key === null ? 'range' : `[${key.map(String).join()}]`}${row === null ? '' : ` (${row.map(String).join()})`}`,
        );
    return texts.join('; ');
  }

  #add(index: string, access: KeyAccess): void {
    if (this.#isTaken) {
      this.#late ??= new Footprint();
      return this.#late.#add(index, access);
    }
    const list = this.#keys.get(index);
    if (list === undefined) this.#keys.set(index, [access]);
    else if (!list.some((known) => isSame(known, access))) list.push(access);
  }
}

const noKeys: CompareKeys = () => 0;

function isSame(a: KeyAccess, b: KeyAccess): boolean {
  return a.kind === b.kind && a.key !== null && a.key === b.key && a.row === b.row;
}

function isConflict(a: KeyAccess, b: KeyAccess): boolean {
  if ((conflictBits[a.kind] & bits[b.kind]) === 0) return false;
  if (a.key !== null && b.key !== null) {
    if (a.compare(a.key, b.key) !== 0) return false;
    return a.row === null || b.row === null || a.compareRows === null || a.compareRows(a.row, b.row) === 0;
  }
  if (a.contains !== null && b.key !== null) return a.contains(b.key);
  if (b.contains !== null && a.key !== null) return b.contains(a.key);
  return true;
}

/** Collects the footprint of the step under way. */
export class FootprintRecorder {
  current = new Footprint();
  #atEnd: (() => void)[] = [];

  /** A run begins: what an earlier one left is forgotten. */
  begin(): void {
    this.current = new Footprint();
    this.#atEnd = [];
  }

  /** The footprint since it was taken last. */
  take(): Footprint {
    const taken = this.current;
    this.current = new Footprint();
    return taken.taken();
  }

  /** `add` adds accesses to footprints that were taken, when all steps of the sessions are known. */
  atEnd(add: () => void): void {
    this.#atEnd.push(add);
  }

  /** All steps of the sessions are known. */
  end(): void {
    for (const add of this.#atEnd.splice(0)) add();
  }
}
