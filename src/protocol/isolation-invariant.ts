/**
 * Isolation as an invariant on what clients observe: in every state, the transactions committed so far are at the level.
 * States by the million show few different bags of observed operations, so the verdict is kept for each bag.
 */
import { InputError } from '../base/input-error.ts';
import type { History, Transaction } from '../history/index.ts';
import { commitTest, type TimelessLevel } from '../states/index.ts';
import type { Model } from './model.ts';

export interface LevelViolation {
  readonly level: TimelessLevel;
  /** `unknown`: the search for an execution gave up. */
  readonly verdict: 'violated' | 'unknown';
}

export interface IsolationInvariant {
  /** Looks at the state in the model's words; `null` or the first level that it is not at. */
  readonly check: () => LevelViolation | null;
  /** How many different bags were judged. */
  readonly judged: () => number;
}

export function isolationInvariant(model: Model, levels: readonly TimelessLevel[]): IsolationInvariant {
  const observation = observationOf(model);
  const verdicts = new BagTable(observation.members, observation.width);
  const violations: (LevelViolation | null)[] = [null];
  const judge = (): LevelViolation | null => {
    const history = observation.history();
    for (const level of levels) {
      const { kind } = commitTest(history, level);
      if (kind !== 'satisfied') return { level, verdict: kind };
    }
    return null;
  };
  return {
    judged: () => verdicts.size,
    check: () => {
      observation.read(verdicts.key);
      const known = verdicts.find();
      if (known >= 0) return violations[known] as LevelViolation | null;
      const violation = judge();
      verdicts.add(violation === null ? 0 : violations.push(violation) - 1);
      return violation;
    },
  };
}

/** The observed transactions of the state at hand as a history: a session for each, no session order, no writers named. */
export function observedHistory(model: Model): History {
  return observationOf(model).history();
}

function observationOf(model: Model) {
  const { observe } = model.parts;
  if (observe === undefined) {
    throw new InputError('protocol/observe', `${model.protocol.name} does not say what clients observe`);
  }
  const { of: group, from, operations, initial } = observe;
  const selves = group.all;
  const { stride, base } = model.placesOf(group, 'at');
  const masks = new Int32Array(stride);
  for (const name of from) {
    for (const { word, shift, bits } of model.placesOf(group, name).places) {
      masks[word]! |= bits === 32 ? -1 : (2 ** bits - 1) << shift;
    }
  }
  const used = [...masks.keys()].filter((word) => masks[word] !== 0);
  const members = group.set.size;
  const { words } = model;
  /** With every variable but those of `from` hidden, so that the verdict cannot depend on more than its key. */
  const transactions = (): Transaction[] => {
    const state = words.slice();
    for (let i = 0; i < words.length; i += 1) {
      const inBlock = i >= base && i < base + members * stride;
      words[i] = inBlock ? (state[i] as number) & (masks[(i - base) % stride] as number) : 0;
    }
    const seen = selves.map((self) => operations(self));
    words.set(state);
    return seen.flatMap((each, member) =>
      each === null
        ? []
        : [{ id: group.set.names[member] as string, session: 0, status: 'committed' as const, operations: each }],
    );
  };
  return {
    members,
    width: used.length,
    read: (key: Int32Array): void => {
      let next = 0;
      for (let member = 0; member < members; member += 1) {
        for (let u = 0; u < used.length; u += 1) {
          const word = used[u] as number;
          key[next] = (words[base + member * stride + word] as number) & (masks[word] as number);
          next += 1;
        }
      }
    },
    history: (): History => {
      const list = transactions().map((transaction, session) => ({ ...transaction, session }));
      return { sessions: list.map(({ id }) => id), transactions: list, initial: new Map(Object.entries(initial)) };
    },
  };
}

/** Bags of members' words to small numbers; exact, in one typed array. */
class BagTable {
  size = 0;
  readonly key: Int32Array;
  readonly #members: number;
  readonly #width: number;
  #slots: Int32Array;

  constructor(members: number, width: number) {
    this.#members = members;
    this.#width = width;
    this.key = new Int32Array(members * width);
    this.#slots = new Int32Array(1024 * (members * width + 1));
  }

  /** What was stored for `key`, which this sorts; -1 when it is new. */
  find(): number {
    this.#sort();
    return (this.#slots[this.#slotOf(this.#slots, this.key)] as number) - 1;
  }

  /** Stores `value` for the key that `find` just missed. */
  add(value: number): void {
    const stride = this.key.length + 1;
    this.size += 1;
    if (this.size * 2 * stride > this.#slots.length) this.#grow();
    const slot = this.#slotOf(this.#slots, this.key);
    this.#slots[slot] = value + 1;
    this.#slots.set(this.key, slot + 1);
  }

  #grow(): void {
    const stride = this.key.length + 1;
    const slots = new Int32Array(this.#slots.length * 2);
    for (let from = 0; from < this.#slots.length; from += stride) {
      if (this.#slots[from] === 0) continue;
      const entry = this.#slots.subarray(from, from + stride);
      slots.set(entry, this.#slotOf(slots, entry.subarray(1)));
    }
    this.#slots = slots;
  }

  #slotOf(slots: Int32Array, key: Int32Array): number {
    const width = key.length;
    const count = slots.length / (width + 1);
    let hash = 0;
    for (let i = 0; i < width; i += 1) {
      hash = Math.imul(hash ^ (key[i] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    let index = (hash >>> 0) % count;
    for (;;) {
      const slot = index * (width + 1);
      if (slots[slot] === 0) return slot;
      let i = 0;
      while (i < width && slots[slot + 1 + i] === key[i]) i += 1;
      if (i === width) return slot;
      index = index + 1 === count ? 0 : index + 1;
    }
  }

  /** Insertion sort of the members' words: the order of transactions in a bag says nothing. */
  #sort(): void {
    const { key } = this;
    const width = this.#width;
    for (let member = 1; member < this.#members; member += 1) {
      for (let at = member * width; at > 0 && this.#isLess(at, at - width); at -= width) {
        for (let i = 0; i < width; i += 1) {
          const word = key[at + i] as number;
          key[at + i] = key[at - width + i] as number;
          key[at - width + i] = word;
        }
      }
    }
  }

  #isLess(a: number, b: number): boolean {
    for (let i = 0; i < this.#width; i += 1) {
      const difference = (this.key[a + i] as number) - (this.key[b + i] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }
}
