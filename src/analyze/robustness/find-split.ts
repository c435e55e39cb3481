import { accessesConflict, type Level } from './access.ts';
import { fresh, SlottedTemplate, type Slot, type Tag } from './slots.ts';
import { Split, type Bindings, type Instance } from './split.ts';
import type { Allocation, Template } from './templates.ts';

/** Why a set of templates is not robust: an instance that is split, and instances that run between its halves, one after another. */
export interface TemplateSplit {
  readonly first: InstanceRows;
  /** The last statement of the first half. */
  readonly after: number;
  readonly between: readonly InstanceRows[];
}

/** An instance with the rows of its variables, by number; equal numbers in one table are one row. What is not named is a row of its own. */
export interface InstanceRows {
  readonly template: number;
  readonly rows: ReadonlyMap<number, number>;
  /** Rows that a condition finds and writes or locks. */
  readonly found: readonly { readonly statement: number; readonly table: number; readonly row: number }[];
}

/**
 * Is every set of instances of the templates serializable in every schedule that their levels allow? `undefined` is yes: the templates are robust.
 *
 * Vandevoort, Ketsman, Koch, Neven, "Robustness against Read Committed for Transaction Templates" (PVLDB 2021), with levels of "Allocating
 * Isolation Levels to Transactions in a Multiversion Setting" (PODS 2023). Conditions and row locks are ours; a condition is taken to read all
 * rows and to write any. The test compares with the concrete algorithm on all instances over a few rows, and proves each counterexample.
 * Complexity: polynomial but for the ways in which variables of one template may be the same row (Bell number of the variables of a table).
 */
export function findTemplateSplit(templates: readonly Template[], levels: Allocation): TemplateSplit | undefined {
  const search = new SplitSearch(templates, levels);
  for (const first of templates.keys()) {
    const split = search.splitOf(first);
    if (split !== undefined) return split;
  }
  return undefined;
}

/** A slot of an instance, at a row, from which the chain goes on. */
interface State {
  readonly instance: Instance;
  readonly slot: Slot;
  readonly tag: Tag;
  readonly isSecondSerializable: boolean;
  readonly before: Arrival | undefined;
}

/** An instance and the state that it was reached from, at one row. */
interface Arrival {
  readonly instance: Instance;
  readonly from: State | undefined;
  readonly slot: Slot;
}

class SplitSearch {
  readonly #slotted: readonly SlottedTemplate[];
  /** Constants of each table. */
  readonly #constants: ReadonlyMap<number, ReadonlySet<number>>;

  constructor(
    templates: readonly Template[],
    private readonly levels: Allocation,
  ) {
    this.#slotted = templates.map((template) => new SlottedTemplate(template));
    const constants = new Map<number, Set<number>>();
    for (const { slots } of this.#slotted) {
      for (const { table, target } of slots) {
        if (target.kind !== 'constant') continue;
        constants.set(table, (constants.get(table) ?? new Set()).add(target.constant));
      }
    }
    this.#constants = constants;
  }
}
export type { Level, Bindings, Split, accessesConflict, fresh };
