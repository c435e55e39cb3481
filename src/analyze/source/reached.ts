/** Which calls of the sources lead to which place of a step: a step stands where its SQL is, wrappers stand between. */
import type ts from 'typescript';
import type { Place } from '../application.ts';

export class Reached {
  readonly #byPlace = new Map<string, Set<ts.Node>>();
  readonly #controls = new Set<ts.Node>();

  /** These calls gave the step at `place`. It counts only if the step is in a unit at the end. */
  step({ file, line }: Place, calls: readonly ts.Node[]): void {
    const key = `${file}:${line}`;
    const known = this.#byPlace.get(key) ?? new Set();
    for (const call of calls) known.add(call);
    this.#byPlace.set(key, known);
  }

  /** These calls began or ended a transaction, or are part of another statement's text: no step has their place. */
  withoutStep(calls: readonly ts.Node[]): void {
    for (const call of calls) this.#controls.add(call);
  }

  /** All calls that lead to steps at these places. */
  calls(places: readonly Place[]): ReadonlySet<ts.Node> {
    const all = new Set(this.#controls);
    for (const { file, line } of places) for (const call of this.#byPlace.get(`${file}:${line}`) ?? []) all.add(call);
    return all;
  }
}
