/** Whether a whole run is at the levels that were asked for, and its final states: what a serializable observer at the end may read. */
import { inspect } from 'node:util';
import { assert } from '../base/index.ts';
import type { Key, Value } from '../history/index.ts';
import { CommitOrders } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import type { Causality } from './causality.ts';
import { type ExploredLog, valueOf } from './explored-log.ts';
import type { Numbers } from './numbers.ts';

/** Nodes of commit orders are given out in the order of the run; 0 is the initial state. */
function nodeAt(position: number): number {
  return position + 1;
}

export class LevelJudge {
  readonly #program: Program;
  readonly #causality: Causality;
  readonly #numbers: Numbers;
  readonly #orders: CommitOrders;
  /** Of the run. */
  #logs: readonly ExploredLog[] = [];
  #hasGivenUp = false;

  /** @param stepsMax decisions that one search for a commit order may take; default as `CommitOrders` has it */
  constructor(program: Program, causality: Causality, numbers: Numbers, stepsMax: number | undefined) {
    this.#program = program;
    this.#causality = causality;
    this.#numbers = numbers;
    this.#orders = new CommitOrders(stepsMax === undefined ? {} : { stepsMax });
  }

  /** Before a run. @param logs which the run fills */
  reset(logs: readonly ExploredLog[]): void {
    this.#logs = logs;
    this.#orders.reset();
    this.#hasGivenUp = false;
  }

  /** Did a search for a commit order give up since the run began to be judged? Then a `false` or a missing final state says nothing. */
  get gaveUp(): boolean {
    return this.#hasGivenUp || this.#orders.gaveUp;
  }

  /** True without a search where all levels were explored directly. */
  isAtLevel(): boolean {
    if (this.#logs.every(({ level, explored }) => explored === level)) return true;
    this.#build();
    return this.#orders.rebuild();
  }

  #build(): void {
    this.#hasGivenUp ||= this.#orders.gaveUp;
    this.#orders.reset();
    const { observed } = this.#orders;
    for (const log of this.#logs) {
      const node = observed.begin(log.session, log.level);
      log.readKeys.forEach((key, i) => {
        // What no transaction writes, all may read.
        if (this.#causality.writersOf(key) > 0) observed.addRead(node, key, nodeAt(log.sources[i] as number));
      });
      if (log.status === 'committed') observed.addWrites(node, log.writeKeys);
    }
  }

  /**
   * One final state. Which of its writers a key has last is chosen when it is looked at, among those that are left; keys with one writer need
   * no choice.
   */
  finalState(choose: (options: number) => number): Record<Key, Value> {
    const written = this.#logs.flatMap(({ status, writeKeys }) => (status === 'committed' ? writeKeys : []));
    const keys = new Set([...this.#program.initial.keys(), ...written.map((id) => this.#numbers.keyOf(id))]);
    const final: Record<Key, Value> = {};
    // Printed, it has values where `inspect` would show accessors.
    Object.defineProperty(final, inspect.custom, { value: () => ({ ...final }) });
    let observer: number | null = null;
    for (const key of [...keys].toSorted()) {
      const id = this.#numbers.keyId(key);
      const writers = this.#causality.writersOf(id);
      const define = (shape: PropertyDescriptor): unknown =>
        Object.defineProperty(final, key, { enumerable: true, configurable: true, ...shape });
      if (writers < 2) {
        define({ value: this.#valueBy(writers === 0 ? -1 : this.#causality.writerOf(id, 0), id) });
        continue;
      }
      define({
        get: () => {
          const value = this.#valueBy(this.#lastWriter((observer ??= this.#observer()), id, choose), id);
          define({ value });
          return value;
        },
      });
    }
    return final;
  }

  #valueBy(writer: number, key: number): Value {
    return this.#numbers.copyOf(valueOf(this.#logs, writer, key, this.#numbers));
  }

  #observer(): number {
    this.#build();
    assert(this.#orders.rebuild(), 'only runs at their level are shown');
    return this.#orders.beginObserver(this.#program.sessions.length);
  }

  /** The position of the writer of a key that the observer reads from. */
  #lastWriter(observer: number, key: number, choose: (options: number) => number): number {
    const writers = this.#orders.observed.writersOf(key).filter((node) => this.#orders.allowsRead(observer, key, node));
    const node = writers[writers.length === 1 ? 0 : choose(writers.length)] as number;
    this.#orders.read(observer, key, node);
    return node - 1;
  }
}
