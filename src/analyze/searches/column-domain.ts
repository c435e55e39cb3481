/** Which values of a column satisfy what was asked of it so far, and one of them. */
import type { Column } from '../../sql/index.ts';
import { comparisons } from '../../sql/model/index.ts';
import { type RowValue, valueFor } from '../column-values.ts';
import type { Sign } from './asked.ts';

/** What was asked, with its values. */
export type Wish =
  | { readonly sign: Sign; readonly value: RowValue | null }
  | { readonly sign: '=' | '<>'; readonly values: readonly RowValue[] };

/** How many values above and below a bound are tried. */
const triedMax = 8;

export class ColumnDomain {
  readonly #column: Column;
  readonly #wishes: Wish[] = [];

  constructor(column: Column) {
    this.#column = column;
  }

  /** Adds what some value still satisfies with all that was asked before. */
  ask(wish: Wish): void {
    this.#wishes.push(wish);
    if (this.pick(0) === undefined) this.#wishes.pop();
  }

  /** The n-th value where nothing speaks against it; `undefined`: none was found, or the column's default serves. */
  pick(n: number): RowValue | null | undefined {
    if (this.#wishes.some((wish) => 'value' in wish && wish.sign === '=' && wish.value === null))
      return this.#column.isNotNull || !this.#admits(null) ? undefined : null;
    return this.#candidates(n).find((value) => value === undefined || this.#admits(value));
  }

  get isDecided(): boolean {
    return this.#wishes.some(({ sign }) => sign === '=');
  }

  #candidates(n: number): readonly (RowValue | undefined)[] {
    const asked = this.#wishes.flatMap((wish) =>
      'values' in wish ? wish.values.map((value) => [wish.sign, value] as const) : [[wish.sign, wish.value] as const],
    );
    const named = asked.flatMap(([sign, value]) => {
      if (value === null) return [];
      if (sign === 'like') return [String(value).replaceAll(/[%_]/g, ''), String(value).replaceAll(/[%_]/g, 'a')];
      return [this.#typed(value), ...this.#beside(this.#typed(value))];
    });
    const usual = valueFor(this.#column, n);
    const more = Array.from({ length: triedMax }, (_, at) => valueFor(this.#column, at));
    const isFree = this.#wishes.length === 0;
    return isFree ? [usual] : [...(usual === undefined ? [] : [usual]), ...named, ...more.flatMap((one) => one ?? [])];
  }

  /** The next values in order. */
  #beside(value: RowValue): readonly RowValue[] {
    if (typeof value === 'number') return [value + 1, value - 1];
    const day = Date.parse(value);
    if (/^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(day))
      return [1, -1].map((days) => new Date(day + days * 86_400_000).toISOString().slice(0, 10));
    return [`${value}a`];
  }

  #typed(value: RowValue): RowValue {
    return typeof valueFor(this.#column, 1) === 'number' ? Number(value) : String(value);
  }

  #admits(value: RowValue | null): boolean {
    return this.#wishes.every((wish) => {
      if ('values' in wish)
        return value !== null && wish.values.some((one) => this.#compare(value, one) === 0) === (wish.sign === '=');
      if (wish.value === null) return (value === null) === (wish.sign === '=');
      if (value === null) return false;
      if (wish.sign === 'like') return patternOf(String(wish.value)).test(String(value));
      return comparisons[wish.sign](this.#compare(value, wish.value));
    });
  }

  #compare(a: RowValue, b: RowValue): number {
    const [one, other] = [this.#typed(a), this.#typed(b)];
    return one === other ? 0 : one < other ? -1 : 1;
  }
}

function patternOf(like: string): RegExp {
  const escaped = like.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('%', '.*').replaceAll('_', '.')}$`, 's');
}
