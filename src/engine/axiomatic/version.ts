/** Versions of cells: what a transaction has committed, or the initial state holds. */
import type { Value } from '../../history/index.ts';
import { jsonValue, type Held } from './held.ts';

/** Who wrote a version, as long as it is kept apart from the initial state: `node` is its node in the commit orders, then 0. */
export interface Writer {
  node: number;
  readonly session: number;
  /** Its place among the transactions that are about to become part of the initial state; -1 for others. */
  fixedAt: number;
}

/** A committed write, as strategies see it too (mockdb/strategy.ts). */
export class Version {
  readonly writer: Writer;
  readonly held: Held;
  #value: Value | undefined;

  constructor(writer: Writer, held: Held) {
    this.writer = writer;
    this.held = held;
  }

  get node(): number {
    return this.writer.node;
  }

  get session(): number {
    return this.writer.session;
  }

  get value(): Value {
    this.#value ??= jsonValue(this.held);
    return this.#value;
  }
}

export const initialWriter: Writer = Object.freeze({ node: 0, session: -1, fixedAt: -1 });
