/**
 * What the sources of nondeterminism give to a program. Each part of it, a session or the invariant, has values of its own, which depend on
 * the number of the call alone: so they are the same whenever a part runs, whatever the others do.
 *
 * Drawn values are what every run gets: clocks that advance by some milliseconds a call, random numbers from a generator, identifiers that stay
 * distinct. Forced ones are at the low end of their range or at the high one: a comparison such as `Math.random() < p` then goes one way and
 * the other for every p. Only the first calls are extreme, so that a loop which draws until it likes what it has ends.
 */
import { type Chooser, seeded } from '../base/index.ts';

export type Side = 'low' | 'high';

/** What one source gives to one part of the program. */
export interface SourceValues {
  /** An integer from `min` to below `end`. */
  integer(min: number, end: number): number;
  bytes(into: Uint8Array): void;
  /** Milliseconds since 1970. */
  wallClockMs(): number;
  /** Milliseconds since the process began. */
  uptimeMs(): number;
}

/** What all sources give to one part of the program, from its beginning on. */
export interface PartValues {
  of(source: string): SourceValues;
  uuid(source: string): string;
  /** A timer of the part has fired. */
  elapsed(ms: number): void;
}

/** As Math.random gives it: from 0 to below 1. */
export function fraction(values: SourceValues): number {
  return values.integer(0, FRACTIONS) / FRACTIONS;
}

const FRACTIONS = 2 ** 53;

/** A part of a program: the `index`th of so many. */
export interface Part {
  readonly index: number;
  readonly count: number;
}

/** The values of every run, or others of their kind. */
export type Draw = 'usual' | 'other';

export class DrawnValues implements PartValues, SourceValues {
  readonly #part: Part;
  readonly #startMs: number;
  readonly #chooser: Chooser;
  #ticks = 0;
  #elapsedMs = 0;
  #uuids = 0;

  constructor(draw: Draw, part: Part) {
    this.#part = part;
    this.#startMs = starts[draw];
    this.#chooser = seeded(draw === 'usual' ? 3 : 4, part.index);
  }

  of(): SourceValues {
    return this;
  }

  integer(min: number, end: number): number {
    return min + this.#chooser.choose(end - min);
  }

  bytes(into: Uint8Array): void {
    for (let i = 0; i < into.length; i += 1) into[i] = this.#chooser.choose(256);
  }

  wallClockMs(): number {
    return this.#startMs + this.#tick();
  }

  uptimeMs(): number {
    return 60_000 + this.#tick();
  }

  elapsed(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Random digits, then the part and the number of the call: no two are equal. */
  uuid(): string {
    this.#uuids += 1;
    const digits = (count: number): string =>
      this.#chooser
        .choose(16 ** count)
        .toString(16)
        .padStart(count, '0');
    const last = this.#part.index.toString(16).padStart(4, '0') + this.#uuids.toString(16).padStart(8, '0');
    return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${last}`;
  }

  /** No two parts have the same moment. */
  #tick(): number {
    this.#ticks += 1;
    return this.#ticks * this.#part.count + this.#part.index + this.#elapsedMs;
  }
}

/** 1 January 2026, as the clock of the database; another day, month, year, hour, minute and second. */
const starts: Record<Draw, number> = {
  usual: Date.UTC(2026, 0, 1, 0, 0, 0, 100),
  other: Date.UTC(2013, 5, 15, 12, 34, 56, 789),
};

/** Calls of one source in one part that get an extreme value: fewer than the 16 random digits of a ULID, which some libraries draw one by one. */
const EXTREMES = 12;

/**
 * The distance of two extreme numbers, as a share of the range: six digits of base 36, or an integer below a thousand million, tell them apart, since
 * programs make identifiers of them. Of less than a millionth, what a comparison asks of a small chance stays true.
 */
const EXTREME_STEP = 2 ** -29;

/** @param sideOf which end a source answers from */
export class ForcedPart implements PartValues {
  readonly #sideOf: (source: string) => Side;
  readonly #part: Part;
  readonly #values = new Map<string, ForcedValues>();
  #uuids = 0;

  constructor(sideOf: (source: string) => Side, part: Part) {
    this.#sideOf = sideOf;
    this.#part = part;
  }

  of(source: string): SourceValues {
    let values = this.#values.get(source);
    if (values === undefined) this.#values.set(source, (values = new ForcedValues(this.#sideOf(source), this.#part)));
    return values;
  }

  uuid(source: string): string {
    this.#uuids += 1;
    const count = this.#part.index * 2 ** 32 + this.#uuids;
    const [start, last] =
      this.#sideOf(source) === 'low'
        ? ['00000000-0000-4000-8000-', count]
        : ['ffffffff-ffff-4fff-bfff-', 2 ** 48 - 1 - count];
    return start + last.toString(16).padStart(12, '0');
  }

  elapsed(): void {
    // Forced clocks stay near their end.
  }
}

class ForcedValues implements SourceValues {
  readonly #side: Side;
  readonly #part: Part;
  readonly #chooser: Chooser;
  #calls = 0;

  constructor(side: Side, part: Part) {
    this.#side = side;
    this.#part = part;
    this.#chooser = seeded(side === 'low' ? 1 : 2, part.index);
  }

  integer(min: number, end: number): number {
    this.#calls += 1;
    if (this.#calls > EXTREMES) return min + this.#chooser.choose(end - min);
    const { index, count } = this.#part;
    const distance = Math.floor((end - min) * EXTREME_STEP * ((this.#calls - 1) * count + index));
    return this.#side === 'low' ? min + distance : end - 1 - distance;
  }

  /**
   * So many bytes are an identifier, and those stay distinct: the last ones are the part and the number of the call, and three behind the first
   * four, since a generator of words asks for more bytes than it uses. The first four, which a number is made of, stay extreme.
   */
  bytes(into: Uint8Array): void {
    this.#calls += 1;
    const extreme = this.#side === 'low' ? 0 : 255;
    for (let i = 0; i < into.length; i += 1) into[i] = this.#calls > EXTREMES ? this.#chooser.choose(256) : extreme;
    if (into.length < IDENTIFIER_BYTES) return;
    const call = [this.#part.index, this.#calls >> 8, this.#calls];
    if (this.#calls <= EXTREMES) into.set(call, 4);
    into.set(call, into.length - call.length);
  }

  /** A Monday in 2001, or the last day of 2037. */
  wallClockMs(): number {
    this.#calls += 1;
    const start = this.#side === 'low' ? Date.UTC(2001, 0, 1) : Date.UTC(2037, 11, 31, 23, 0, 0, 1);
    return start + this.#calls;
  }

  uptimeMs(): number {
    this.#calls += 1;
    return (this.#side === 'low' ? 1_000 : 1e9 + 0.5) + this.#calls;
  }
}

const IDENTIFIER_BYTES = 8;
