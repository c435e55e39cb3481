/** What the files' own names stand for, kept while the source is read. */
import type ts from 'typescript';
import { type Cell, type Abstract, type ObjectValue, Scope, unknown } from './abstract-value.ts';

/** Values of the files' own names, each evaluated once when it is first used. */
export class Globals {
  readonly #cells = new Map<ts.Symbol, Cell>();
  readonly #assigned = new Map<ts.Symbol, Abstract>();
  readonly scope = new Scope(null);
  /** What a container injects, by class. */
  readonly instances = new Map<ts.ClassLikeDeclaration, ObjectValue>();

  assign(symbol: ts.Symbol, value: Abstract): void {
    if (value.kind !== 'undefined') this.#assigned.set(symbol, value);
  }

  cellOf(symbol: ts.Symbol): Cell | undefined {
    return this.#cells.get(symbol);
  }

  value(symbol: ts.Symbol, evaluate: () => Abstract): Abstract {
    let cell = this.#cells.get(symbol);
    if (cell === undefined) {
      cell = { value: unknown('a value that is made of itself') };
      this.#cells.set(symbol, cell);
      cell.value = evaluate();
    }
    const isUnset =
      cell.value.kind === 'undefined' ||
      (cell.value.kind === 'value' && cell.value.value.kind === 'constant' && cell.value.value.value === null);
    return isUnset ? (this.#assigned.get(symbol) ?? cell.value) : cell.value;
  }
}
