/** A sequence: numbers that are handed out once, whatever becomes of the transaction that asked. */
import { SqlError, typeTitle, types } from '../model/index.ts';

export interface SequenceOptions {
  readonly type: 'int2' | 'int4' | 'int8';
  readonly increment: bigint;
  readonly min: bigint;
  readonly max: bigint;
  readonly start: bigint;
  readonly isCycle: boolean;
}

const largest = { int2: 32_767n, int4: 2_147_483_647n, int8: 9_223_372_036_854_775_807n };

export function sequenceRange(type: SequenceOptions['type']): { readonly min: bigint; readonly max: bigint } {
  return { min: -largest[type] - 1n, max: largest[type] };
}

/** PostgreSQL's defaults: up from 1, or down from -1, to the end of the type. */
export function sequenceOptions(type: SequenceOptions['type'], given: Partial<SequenceOptions> = {}): SequenceOptions {
  const increment = given.increment ?? 1n;
  if (increment === 0n) throw new SqlError('22023', 'INCREMENT must not be zero');
  const min = given.min ?? (increment > 0n ? 1n : -largest[type] - 1n);
  const max = given.max ?? (increment > 0n ? largest[type] : -1n);
  const range = sequenceRange(type);
  const title = typeTitle(types[type]);
  if (max < range.min || max > range.max)
    throw new SqlError('22023', `MAXVALUE (${max}) is out of range for sequence data type ${title}`);
  if (min < range.min || min > range.max)
    throw new SqlError('22023', `MINVALUE (${min}) is out of range for sequence data type ${title}`);
  if (min >= max) throw new SqlError('22023', `MINVALUE (${min}) must be less than MAXVALUE (${max})`);
  const start = given.start ?? (increment > 0n ? min : max);
  if (start < min) throw new SqlError('22023', `START value (${start}) cannot be less than MINVALUE (${min})`);
  if (start > max) throw new SqlError('22023', `START value (${start}) cannot be greater than MAXVALUE (${max})`);
  return { type, increment, min, max, start, isCycle: given.isCycle ?? false };
}

export class Sequence {
  readonly kind = 'sequence';
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly options: SequenceOptions;
  #last: bigint;
  #isCalled = false;

  constructor(id: number, schema: string, name: string, options: SequenceOptions) {
    this.id = id;
    this.schema = schema;
    this.name = name;
    this.options = options;
    this.#last = options.start;
  }

  get last(): bigint {
    return this.#last;
  }

  get isCalled(): boolean {
    return this.#isCalled;
  }

  /** @throws SqlError 2200H at its end */
  next(): bigint {
    if (!this.#isCalled) {
      this.#isCalled = true;
      return this.#last;
    }
    const { increment, min, max, isCycle } = this.options;
    const next = this.#last + increment;
    if (next > max || next < min) {
      if (!isCycle) throw this.#exhausted(increment > 0n ? 'maximum' : 'minimum', increment > 0n ? max : min);
      this.#last = increment > 0n ? min : max;
    } else {
      this.#last = next;
    }
    return this.#last;
  }

  /** @throws SqlError 22003 out of its bounds */
  set(value: bigint, isCalled: boolean): void {
    const { min, max } = this.options;
    if (value < min || value > max) {
      throw new SqlError(
        '22003',
        `setval: value ${value} is out of bounds for sequence "${this.name}" (${min}..${max})`,
      );
    }
    this.#last = value;
    this.#isCalled = isCalled;
  }

  restart(): void {
    this.#last = this.options.start;
    this.#isCalled = false;
  }

  copy(): Sequence {
    return this.renamed(this.schema, this.name);
  }

  renamed(schema: string, name: string): Sequence {
    const sequence = new Sequence(this.id, schema, name, this.options);
    sequence.set(this.#last, this.#isCalled);
    return sequence;
  }

  #exhausted(end: string, value: bigint): SqlError {
    return new SqlError('2200H', `nextval: reached ${end} value of sequence "${this.name}" (${value})`);
  }
}
