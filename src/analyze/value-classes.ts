/** Which values of instances are equal, so that rows are one where a witness needs it. */
import type { Table } from '../sql/index.ts';
import type { Value } from './application.ts';
import type { RowValue } from './column-values.ts';
import { formatValue } from './format-application.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';

/** A row with the columns that are known: each a node of the classes. */
export interface NamedColumns {
  readonly table: Table;
  readonly columns: ReadonlyMap<string, string>;
}

/** Two rows with the same values in the columns of a unique key are one row: what else is known of them is equal, too. */
export function unifyRows(rows: readonly NamedColumns[], classes: ValueClasses): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [at, a] of rows.entries())
      for (const b of rows.slice(at + 1)) {
        if (a.table.id !== b.table.id || !isOneRow(a, b, classes)) continue;
        for (const [name, node] of a.columns) {
          const other = b.columns.get(name);
          if (other === undefined || classes.areEqual(node, other)) continue;
          changed = classes.unite(node, other) || changed;
        }
      }
  }
}

function isOneRow(a: NamedColumns, b: NamedColumns, classes: ValueClasses): boolean {
  return uniqueIndexes(a.table).some((index) =>
    indexColumns(a.table, index).every((name) => {
      const [one, other] = [a.columns.get(name), b.columns.get(name)];
      return one !== undefined && other !== undefined && classes.areEqual(one, other);
    }),
  );
}

export function nodeOf(instance: number, value: Value): string {
  return value.kind === 'constant' ? `constant ${String(value.value)}` : `${instance} ${formatValue(value)}`;
}

/** Which values are equal; each class has a number, and a constant where it has one. */
export class ValueClasses {
  readonly #parents = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  /** Of values that name rows, as the column has it that they are compared with; by class. */
  readonly #typed = new Map<string, RowValue>();
  /** Classes to which more than one instance belongs. */
  readonly #shared = new Set<string>();

  areEqual(a: string, b: string): boolean {
    return this.#root(a) === this.#root(b);
  }

  /** @returns were they different, and can be equal? */
  unite(a: string, b: string): boolean {
    const [one, other] = [this.#root(a), this.#root(b)];
    if (one === other || (one.startsWith('constant ') && other.startsWith('constant '))) return false;
    // A constant stays the root: it is the value.
    if (one.startsWith('constant ')) this.#parents.set(other, one);
    else this.#parents.set(one, other);
    return true;
  }

  /** As `unite`; an argument of which nothing else is known has one value for all of them. */
  share(a: string, b: string): void {
    this.unite(a, b);
    this.#shared.add(a).add(b);
  }

  isShared(node: string): boolean {
    return this.#shared.has(node);
  }

  decide(node: string, value: RowValue): void {
    this.#typed.set(this.#root(node), value);
  }

  typed(node: string): RowValue | undefined {
    return this.#typed.get(this.#root(node));
  }

  valueOf(node: string): { readonly constant: string } | { readonly number: number } {
    const root = this.#root(node);
    if (root.startsWith('constant ')) return { constant: root.slice('constant '.length) };
    const number = this.#numbers.get(root) ?? this.#numbers.size + 1;
    this.#numbers.set(root, number);
    return { number };
  }

  #root(node: string): string {
    const parent = this.#parents.get(node);
    return parent === undefined ? node : this.#root(parent);
  }
}
