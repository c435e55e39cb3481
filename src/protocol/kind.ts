/**
 * Kinds of values that a variable of a protocol may hold. A declared kind is what lets a state be a few machine words: a
 * value is a fixed number of cells, each a few bits wide. It also tells symmetry which cells name members of a set.
 */
import { InputError } from '../base/index.ts';
import { type Member, type Members, membersOf, type NamedSet } from './named-set.ts';

/** A few bits of a state. */
export interface Cell {
  /** How many values it has: the codes 0 .. size - 1. */
  readonly size: number;
  /** What a permutation of `set` does to the code: nothing, rename a member (codes from `none` on), or rename all members of a set. */
  readonly renames?: { readonly set: NamedSet; readonly as: 'member' | 'members'; readonly none: 0 | 1 };
  /** The cell belongs to this member: a permutation moves it `stride` cells for each member. Outermost first. */
  readonly indexedBy?: readonly { readonly set: NamedSet; readonly member: Member; readonly stride: number }[];
}

/** What a variable may hold, and how a state keeps it. */
export interface Kind<T> {
  readonly cells: readonly Cell[];
  readonly initial: T;
  /** Appends the codes of a value. @throws InputError `protocol/value` when the value is not of this kind */
  encode(value: T, codes: number[]): void;
  /** The value whose codes begin at `at`. */
  decode(codes: readonly number[], at: number): T;
  /** For people and for ITF: members by name, sets as `{ '#set': [...] }`. */
  show(value: T): unknown;
  /** Where a value is its one code plus an offset, reading it is two machine operations. */
  readonly integer?: { readonly offset: number };
}

/** The values of a kind. */
export type ValueOf<K> = K extends Kind<infer T> ? T : never;

/** Integers from `min` to `max`; starts at `initial`, or 0 where that is in the range. */
export function range(min: number, max: number, initial: number = min <= 0 && max >= 0 ? 0 : min): Kind<number> {
  return single({ size: max - min + 1 }, initial, {
    encode: (value) =>
      Number.isInteger(value) && value >= min && value <= max
        ? value - min
        : refuse(value, `an integer from ${min} to ${max}`),
    decode: (code) => code + min,
    offset: min,
  });
}

/** `true` or `false`. */
export function flag(initial = false): Kind<boolean> {
  return single({ size: 2 }, initial, {
    encode: (value) => (typeof value === 'boolean' ? Number(value) : refuse(value, 'true or false')),
    decode: (code) => code === 1,
  });
}

/** One of some words; starts with the first. */
export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return single({ size: words.length }, words[0], {
    encode: (value) => {
      const code = words.indexOf(value);
      return code >= 0 ? code : refuse(value, `one of ${words.join(', ')}`);
    },
    decode: (code) => words[code],
  });
}

/** A set of members; starts empty. */
export function setOf(set: NamedSet, initial: Members = 0): Kind<Members> {
  return single({ size: set.all + 1, renames: { set, as: 'members', none: 0 } }, initial, {
    encode: (value) =>
      Number.isInteger(value) && value >= 0 && value <= set.all
        ? value
        : refuse(value, `a set of members of ${set.name}`),
    decode: (code) => code,
    offset: 0,
    show: (value) => ({ '#set': membersOf(value).map((member) => set.names[member]) }),
  });
}

/** One member. */
export function memberOf(set: NamedSet, initial: Member = 0): Kind<Member> {
  return single({ size: set.size, renames: { set, as: 'member', none: 0 } }, initial, {
    encode: (value) =>
      Number.isInteger(value) && value >= 0 && value < set.size ? value : refuse(value, `a member of ${set.name}`),
    decode: (code) => code,
    offset: 0,
    show: (value) => set.names[value],
  });
}

/** One member or `null`; starts with `null`. */
export function memberOrNone(set: NamedSet): Kind<Member | null> {
  return single<Member | null>({ size: set.size + 1, renames: { set, as: 'member', none: 1 } }, null, {
    encode: (value) => {
      if (value === null) return 0;
      return Number.isInteger(value) && value >= 0 && value < set.size
        ? value + 1
        : refuse(value, `a member of ${set.name} or null`);
    },
    decode: (code) => (code === 0 ? null : code - 1),
    show: (value) => (value === null ? null : set.names[value]),
  });
}

/** @param what has this kind @throws InputError `protocol/kind` */
export function requireKind(found: unknown, what: string): void {
  const { cells, encode } = (found ?? {}) as Partial<Kind<unknown>>;
  if (Array.isArray(cells) && typeof encode === 'function') return;
  const call = typeof found === 'function' && found.name !== '' ? `: write ${found.name}(...) to make one` : '';
  throw new InputError('protocol/kind', `${what} is ${describe(found)}, which is no kind of value${call}`);
}

/** A value for each member. */
export function mapOf<T>(set: NamedSet, kind: Kind<T>): Kind<readonly T[]> {
  requireKind(kind, 'what mapOf maps to');
  const stride = kind.cells.length;
  return {
    cells: set.members.flatMap((member) =>
      kind.cells.map((cell) => ({ ...cell, indexedBy: [{ set, member, stride }, ...(cell.indexedBy ?? [])] })),
    ),
    initial: Object.freeze(set.members.map(() => kind.initial)),
    encode: (value, codes) => {
      if (!Array.isArray(value) || value.length !== set.size) refuse(value, `an array of ${set.size} values`);
      for (const part of value) kind.encode(part as T, codes);
    },
    decode: (codes, at) => Object.freeze(set.members.map((member) => kind.decode(codes, at + member * stride))),
    show: (value) => Object.fromEntries(value.map((part, member) => [set.names[member], kind.show(part)])),
  };
}

/** Named parts. */
export function record<const K extends Readonly<Record<string, Kind<unknown>>>>(
  kinds: K,
): Kind<{ readonly [N in keyof K]: ValueOf<K[N]> }> {
  type Value = { readonly [N in keyof K]: ValueOf<K[N]> };
  const parts = Object.entries(kinds);
  for (const [name, kind] of parts) requireKind(kind, `part ${name} of a record`);
  const initial = Object.freeze(Object.fromEntries(parts.map(([name, kind]) => [name, kind.initial])));
  return {
    cells: parts.flatMap(([, kind]) => kind.cells),
    initial: initial as Value,
    encode: (value, codes) => {
      if (typeof value !== 'object' || value === null) refuse(value, 'a record');
      for (const [name, kind] of parts) kind.encode((value as Readonly<Record<string, unknown>>)[name], codes);
    },
    decode: (codes, at) => {
      const value: Record<string, unknown> = {};
      let next = at;
      for (const [name, kind] of parts) {
        value[name] = kind.decode(codes, next);
        next += kind.cells.length;
      }
      return Object.freeze(value) as Value;
    },
    show: (value) =>
      Object.fromEntries(parts.map(([name, kind]) => [name, kind.show((value as Record<string, unknown>)[name])])),
  };
}

/** At most `lengthMax` values in order; starts empty. Unused cells are 0, so that equal lists are equal words. */
export function listOf<T>(kind: Kind<T>, lengthMax: number): Kind<readonly T[]> {
  requireKind(kind, 'what listOf holds');
  const width = kind.cells.length;
  return {
    // An element's cell that names a member needs a code for "unused", or a permutation would rename it.
    cells: [{ size: lengthMax + 1 }, ...Array.from({ length: lengthMax }, () => kind.cells.map(withUnused)).flat()],
    initial: Object.freeze([]),
    encode: (value, codes) => {
      if (!Array.isArray(value)) refuse(value, 'a list');
      if (value.length > lengthMax) refuse(value, `at most ${lengthMax} values`);
      codes.push(value.length);
      const from = codes.length;
      for (const part of value) kind.encode(part as T, codes);
      for (let i = from; i < codes.length; i += 1) {
        if (kind.cells[(i - from) % width]?.renames?.as === 'member') codes[i] += 1;
      }
      while (codes.length < from + lengthMax * width) codes.push(0);
    },
    decode: (codes, at) => {
      const values: T[] = [];
      const element: number[] = [];
      for (let i = 0; i < codes[at]; i += 1) {
        for (let c = 0; c < width; c += 1) {
          const code = codes[at + 1 + i * width + c];
          element[c] = kind.cells[c]?.renames?.as === 'member' ? code - 1 : code;
        }
        values.push(kind.decode(element, 0));
      }
      return Object.freeze(values);
    },
    show: (value) => value.map((part) => kind.show(part)),
  };
}

function withUnused(cell: Cell): Cell {
  if (cell.renames?.as !== 'member') return cell;
  // A cell that has "none" already gets a second such code: both are left alone.
  if (cell.renames.none === 1) throw new InputError('protocol/kind', 'a list cannot hold memberOrNone');
  return { ...cell, size: cell.size + 1, renames: { ...cell.renames, none: 1 } };
}

function single<T>(
  cell: Cell,
  initial: T,
  code: {
    readonly encode: (value: T) => number;
    readonly decode: (code: number) => T;
    readonly offset?: number;
    readonly show?: (value: T) => unknown;
  },
): Kind<T> {
  if (!(cell.size >= 1 && cell.size <= 2 ** 30))
    throw new InputError('protocol/kind', `${cell.size} values do not fit`);
  return {
    cells: [cell],
    initial,
    encode: (value, codes) => {
      codes.push(code.encode(value));
    },
    decode: (codes, at) => code.decode(codes[at]),
    show: code.show ?? ((value) => value),
    ...(code.offset === undefined ? {} : { integer: { offset: code.offset } }),
  };
}

function refuse(value: unknown, expected: string): never {
  throw new InputError('protocol/value', `${describe(value)} is not ${expected}`);
}

function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { constructor } = value;
    return constructor === Object || constructor === undefined ? JSON.stringify(value) : `a ${constructor.name}`;
  }
  return value === undefined || typeof value === 'bigint' || typeof value === 'symbol'
    ? String(value)
    : JSON.stringify(value);
}
