/**
 * A `Map` whose keys that are small whole numbers, as most primary keys are, stand in an array: a look-up is one access there, and keys that are looked
 * up in order lie side by side in memory.
 */
export class ValueMap<V> {
  /** Of the keys from 0 on, with holes. No key of them is in `#others`. */
  #dense: (V | undefined)[] = [];
  readonly #others = new Map<unknown, V>();
  #size = 0;

  get(key: unknown): V | undefined {
    return isPlace(key) && key < this.#dense.length ? this.#dense[key] : this.#others.get(key);
  }

  set(key: unknown, value: V): void {
    if (this.get(key) === undefined) this.#size++;
    if (isPlace(key) && key >= this.#dense.length && key < placesMax(this.#size)) this.#grow(key + 1);
    if (isPlace(key) && key < this.#dense.length) this.#dense[key] = value;
    else this.#others.set(key, value);
  }

  delete(key: unknown): void {
    if (this.get(key) === undefined) return;
    this.#size--;
    if (isPlace(key) && key < this.#dense.length) this.#dense[key] = undefined;
    else this.#others.delete(key);
  }

  /** Takes in the keys up to `length`, and some more, so that growing costs no more than what is added. */
  #grow(length: number): void {
    const dense = this.#dense;
    const larger = Math.max(length, Math.min(2 * dense.length, placesMax(this.#size)));
    while (dense.length < larger) {
      const key = dense.length;
      const value = this.#others.get(key);
      if (value !== undefined) this.#others.delete(key);
      dense.push(value);
    }
  }
}

function isPlace(key: unknown): key is number {
  return typeof key === 'number' && key >>> 0 === key;
}

/** At least a quarter of the places is taken, but for a few in a small table. */
function placesMax(size: number): number {
  return 4 * size + 64;
}
