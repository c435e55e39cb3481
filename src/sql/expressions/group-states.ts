/** What the groups of a query accumulate for one aggregate: an object for the aggregate, not for each group, and for a count not one more. */
import type { Expression, Frame } from '../expression.ts';
import type { SqlValue } from '../model/index.ts';
import type { Accumulator } from './aggregate-function.ts';
import { chargeFor } from './value-bytes.ts';

/** Groups are numbered from 0 in the order in which they begin. */
export interface GroupStates {
  begin(): void;
  /** The frame's rows are those of a row of the group. @returns false where FILTER leaves it out */
  add(group: number, frame: Frame): boolean;
  result(group: number): SqlValue;
}

type ReadValues = (frame: Frame) => readonly SqlValue[];
type Filter = (frame: Frame) => boolean;

export class AccumulatingGroups implements GroupStates {
  readonly #start: () => Accumulator;
  readonly #values: ReadValues;
  readonly #isIn: Filter | null;
  readonly #accumulators: Accumulator[] = [];

  constructor(start: () => Accumulator, values: ReadValues, isIn: Filter | null) {
    this.#start = start;
    this.#values = values;
    this.#isIn = isIn;
  }

  begin(): void {
    this.#accumulators.push(this.#start());
  }

  add(group: number, frame: Frame): boolean {
    if (this.#isIn !== null && !this.#isIn(frame)) return false;
    const accumulator = this.#accumulators[group] as Accumulator;
    accumulator.add(this.#values(frame));
    if (accumulator.heldBytes !== undefined) chargeFor(frame.execution.budget, accumulator.heldBytes());
    return true;
  }

  result(group: number): SqlValue {
    return (this.#accumulators[group] as Accumulator).finish();
  }
}

/** `count`, with as many numbers as there are groups. */
export class CountingGroups implements GroupStates {
  readonly #operands: readonly Expression[];
  readonly #isIn: Filter | null;
  readonly #counts: number[] = [];

  constructor(operands: readonly Expression[], isIn: Filter | null) {
    this.#operands = operands;
    this.#isIn = isIn;
  }

  begin(): void {
    this.#counts.push(0);
  }

  add(group: number, frame: Frame): boolean {
    if (this.#isIn !== null && !this.#isIn(frame)) return false;
    // Every argument is evaluated: an error in one is the statement's.
    let isCounted = true;
    for (let i = 0; i < this.#operands.length; i++) {
      if ((this.#operands[i] as Expression).evaluate(frame) === null) isCounted = false;
    }
    if (isCounted) this.#counts[group] = (this.#counts[group] as number) + 1;
    return true;
  }

  result(group: number): SqlValue {
    return BigInt(this.#counts[group] as number);
  }
}

/** Groups of which each keeps its rows until its end, for DISTINCT and ORDER BY. */
export class SeparateGroups<State extends { add(frame: Frame): boolean; result(): SqlValue }> implements GroupStates {
  readonly #start: () => State;
  readonly #states: State[] = [];

  constructor(start: () => State) {
    this.#start = start;
  }

  begin(): void {
    this.#states.push(this.#start());
  }

  add(group: number, frame: Frame): boolean {
    return (this.#states[group] as State).add(frame);
  }

  result(group: number): SqlValue {
    return (this.#states[group] as State).result();
  }
}
