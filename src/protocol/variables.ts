/** Variables as properties of plain-looking objects that read and write the words of the state at hand. */
import type { Kind } from './kind.ts';
import type { Place } from './layout.ts';

/** The object's place: what differs between the processes of one set. */
export interface Based {
  readonly base: number;
}

/** Is called with each access to a variable. */
export interface VariableWatch {
  readonly onRead: (name: string) => void;
  readonly onWrite: (name: string) => void;
}

/**
 * Defines `name` on the prototype that all processes of a set share, so that reading it stays one machine-code path.
 * @param watch `null` in a search, whose speed depends on it
 */
export function defineVariable(
  prototype: object,
  name: string,
  kind: Kind<unknown>,
  places: readonly Place[],
  words: Int32Array,
  watch: VariableWatch | null,
): void {
  const [only] = places;
  const accessors =
    kind.integer !== undefined && only !== undefined
      ? integerAccessors(kind as Kind<number>, kind.integer.offset, only, words)
      : places.length === 1 && only !== undefined
        ? cellAccessors(kind, only, words)
        : cellsAccessors(kind, places, words);
  const defined = watch === null ? accessors : watchedAccessors(name, accessors, watch);
  Object.defineProperty(prototype, name, { ...defined, enumerable: true });
}

function watchedAccessors(name: string, { get, set }: Accessors, { onRead, onWrite }: VariableWatch): Accessors {
  return {
    get(this: Based): unknown {
      onRead(name);
      return get.call(this);
    },
    set(this: Based, value: never): void {
      onWrite(name);
      set.call(this, value);
    },
  };
}

type Accessors = ThisType<Based> & { get: () => unknown; set: (value: never) => void };

function integerAccessors(
  kind: Kind<number>,
  offset: number,
  { word, shift, bits }: Place,
  words: Int32Array,
): Accessors {
  const mask = 2 ** bits - 1;
  const keep = ~(mask << shift);
  const codes: number[] = [];
  const max = offset + (kind.cells[0]?.size ?? 1) - 1;
  return {
    get(this: Based): number {
      return ((words[this.base + word] >>> shift) & mask) + offset;
    },
    set(this: Based, value: number): void {
      const at = this.base + word;
      // Only a wrong value takes the slow path, whose error says what is wrong.
      if (!(value >= offset && value <= max && Number.isInteger(value))) {
        codes.length = 0;
        kind.encode(value, codes);
      }
      words[at] = (words[at] & keep) | ((value - offset) << shift);
    },
  };
}

function cellAccessors(kind: Kind<unknown>, { word, shift, bits }: Place, words: Int32Array): Accessors {
  const mask = 2 ** bits - 1;
  const keep = ~(mask << shift);
  const codes: number[] = [];
  const values = Array.from({ length: kind.cells[0]?.size ?? 1 }, (_, code) => kind.decode([code], 0));
  return {
    get(this: Based): unknown {
      return values[(words[this.base + word] >>> shift) & mask];
    },
    set(this: Based, value: unknown): void {
      const at = this.base + word;
      let code = values.indexOf(value);
      if (code < 0) {
        codes.length = 0;
        kind.encode(value, codes);
        code = codes[0];
      }
      words[at] = (words[at] & keep) | (code << shift);
    },
  };
}

function cellsAccessors(kind: Kind<unknown>, places: readonly Place[], words: Int32Array): Accessors {
  return {
    get(this: Based): unknown {
      const codes = places.map(({ word, shift, bits }) => (words[this.base + word] >>> shift) & (2 ** bits - 1));
      return kind.decode(codes, 0);
    },
    set(this: Based, value: unknown): void {
      const codes: number[] = [];
      kind.encode(value, codes);
      writeCodes(words, this.base, places, codes);
    },
  };
}

export function writeCodes(words: Int32Array, base: number, places: readonly Place[], codes: readonly number[]): void {
  for (const [i, { word, shift, bits }] of places.entries()) {
    const mask = 2 ** bits - 1;
    words[base + word] = (words[base + word] & ~(mask << shift)) | (codes[i] << shift);
  }
}
