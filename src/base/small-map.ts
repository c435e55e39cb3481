/**
 * A map of a few entries that come and go, such as the statements under way, in the order in which they came. V8's Map makes another table each time it
 * becomes empty, and each table refers to the next: one that has grown old keeps all those after it, and what they held, until the old generation is
 * collected. Here a look-up is linear, and an entry that comes and goes allocates nothing.
 */
export class SmallMap<K, V> {
  readonly #keys: K[] = [];
  readonly #values: V[] = [];

  get size(): number {
    return this.#keys.length;
  }

  has(key: K): boolean {
    return this.#keys.includes(key);
  }

  get(key: K): V | undefined {
    const at = this.#keys.indexOf(key);
    return at < 0 ? undefined : this.#values[at];
  }

  set(key: K, value: V): void {
    const at = this.#keys.indexOf(key);
    if (at >= 0) this.#values[at] = value;
    else {
      this.#keys.push(key);
      this.#values.push(value);
    }
  }

  /** @returns was it there? */
  delete(key: K): boolean {
    const at = this.#keys.indexOf(key);
    if (at < 0) return false;
    this.#keys.copyWithin(at, at + 1).pop();
    this.#values.copyWithin(at, at + 1).pop();
    return true;
  }

  /** A view: entries that come and go change it. */
  values(): readonly V[] {
    return this.#values;
  }

  clear(): void {
    this.#keys.length = 0;
    this.#values.length = 0;
  }
}
