/**
 * What one step of a session came into contact with, told by the engine as the step runs: rows, keys and ranges of indexes, locks, gaps,
 * snapshots, who waits. Two steps of which neither contact meets the other come to the same in both orders: each sees what it saw, leaves
 * what it left, and neither lets the other wait or go on. That is what exploration builds on (`sql-campaign/schedule-tree.ts`).
 *
 * A contact is a way to touch something that has a name, or a key or a range of keys of an index. Which ways are felt by which others is the
 * table below. Whatever an engine reads must be told, also what it found absent; where one contact stands for several things, it is the one
 * that meets more.
 */
import type { SqlValue } from '../sql/value.ts';

const felt = {
  /** Reads what is committed; a commit makes rows seen. */
  see: ['publish'],
  publish: ['see'],
  /** Reads what is written, committed or not, or remembers to have read it; writes, or takes back what was written. */
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
  /** Which index records there are: goes from one to the next or locks a gap; looks for who would leave; makes one; removes one. */
  walk: ['add', 'remove'],
  near: ['remove'],
  add: ['walk', 'add', 'remove'],
  remove: ['walk', 'near', 'add', 'remove'],
  /** Of anything else. */
  read: ['change'],
  change: ['read', 'change'],
  /** Two kinds of contact that each commute with their own kind. */
  left: ['right'],
  right: ['left'],
} as const;

export type Contact = keyof typeof felt;
type Key = readonly SqlValue[];
type CompareKeys = (a: Key, b: Key) => number;

const contacts = Object.keys(felt) as Contact[];
const bits = Object.fromEntries(contacts.map((contact, i) => [contact, 1 << i])) as Record<Contact, number>;
const feltBy = Object.fromEntries(
  contacts.map((contact) => [contact, felt[contact].reduce((mask, other) => mask | bits[other], 0)]),
) as Record<Contact, number>;

/** Keys that a contact is with: one, or all of a range. */
interface KeyContact {
  readonly contact: Contact;
  /** `null`: a range. */
  readonly key: Key | null;
  /** Tells records with equal keys apart; `null`: any of them. */
  readonly row: Key | null;
  readonly compare: CompareKeys;
  readonly compareRows: CompareKeys | null;
  readonly contains: ((key: Key) => boolean) | null;
}

interface Touched {
  /** The ways in which it is touched, and those that would feel that, as bits. */
  bits: number;
  felt: number;
}

export class Footprint {
  readonly #names = new Map<string, Touched>();
  readonly #keys = new Map<string, KeyContact[]>();
  #touchesAll = false;

  /** Meets every other step: what nobody has thought about. */
  touchAll(): void {
    this.#touchesAll = true;
  }

  get touchesAll(): boolean {
    return this.#touchesAll;
  }

  touch(name: string, contact: Contact): void {
    const touched = this.#names.get(name);
    if (touched === undefined) this.#names.set(name, { bits: bits[contact], felt: feltBy[contact] });
    else {
      touched.bits |= bits[contact];
      touched.felt |= feltBy[contact];
    }
  }

  /** @param index names the index; @param row which of the records with this key, by the key that `compareRows` compares */
  touchKey(
    index: string,
    contact: Contact,
    key: Key,
    compare: CompareKeys,
    row?: Key,
    compareRows?: CompareKeys,
  ): void {
    this.#add(index, {
      contact,
      key,
      row: row ?? null,
      compare,
      compareRows: compareRows ?? null,
      contains: null,
    });
  }

  touchRange(index: string, contact: Contact, contains: (key: Key) => boolean): void {
    this.#add(index, { contact, key: null, row: null, compare: noKeys, compareRows: null, contains });
  }

  /** Do the two meet? Linear in the names, quadratic in the keys of one index. */
  meets(other: Footprint): boolean {
    if (this.#touchesAll || other.#touchesAll) return true;
    const [few, many] = this.#names.size < other.#names.size ? [this, other] : [other, this];
    for (const [name, touched] of few.#names) {
      const there = many.#names.get(name);
      if (there !== undefined && (touched.felt & there.bits) !== 0) return true;
    }
    for (const [index, mine] of this.#keys) {
      const theirs = other.#keys.get(index);
      if (theirs !== undefined && mine.some((a) => theirs.some((b) => keysMeet(a, b)))) return true;
    }
    return false;
  }

  /** For those who look. */
  toString(): string {
    const texts = this.#touchesAll ? ['everything'] : [];
    for (const [name, { bits: mask }] of this.#names)
      texts.push(`${contacts.filter((contact) => (mask & bits[contact]) !== 0).join('+')} ${name}`);
    for (const [index, list] of this.#keys)
      for (const { contact, key, row } of list)
        texts.push(
          `${contact} ${index} ${key === null ? 'range' : `[${key.map(String).join()}]`}${row === null ? '' : ` (${row.map(String).join()})`}`,
        );
    return texts.join('; ');
  }

  #add(index: string, contact: KeyContact): void {
    const list = this.#keys.get(index);
    if (list === undefined) this.#keys.set(index, [contact]);
    else if (!list.some((known) => isSame(known, contact))) list.push(contact);
  }
}

const noKeys: CompareKeys = () => 0;

function isSame(a: KeyContact, b: KeyContact): boolean {
  return a.contact === b.contact && a.key !== null && a.key === b.key && a.row === b.row;
}

function keysMeet(a: KeyContact, b: KeyContact): boolean {
  if ((feltBy[a.contact] & bits[b.contact]) === 0) return false;
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

  /** The footprint since it was taken last. */
  take(): Footprint {
    const taken = this.current;
    this.current = new Footprint();
    return taken;
  }
}
