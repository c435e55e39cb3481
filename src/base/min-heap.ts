/** A binary heap of numbers, smallest key first. Push and pop take O(log n). */
export class MinHeap {
  #items = new Int32Array(16);
  #keys = new Float64Array(16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Infinity where it is empty. */
  get minKey(): number {
    return this.#size === 0 ? Infinity : (this.#keys[0] as number);
  }

  push(key: number, item: number): void {
    if (this.#size === this.#items.length) this.#grow();
    const keys = this.#keys;
    const items = this.#items;
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[at] = above;
      items[at] = items[parent] as number;
      at = parent;
    }
    keys[at] = key;
    items[at] = item;
  }

  /** The item with the smallest key; -1 where it is empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const keys = this.#keys;
    const items = this.#items;
    const first = items[0] as number;
    this.#size -= 1;
    const size = this.#size;
    const key = keys[size] as number;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      const below = keys[child] as number;
      if (below >= key) break;
      keys[at] = below;
      items[at] = items[child] as number;
      at = child;
    }
    keys[at] = key;
    items[at] = items[size] as number;
    return first;
  }

  #grow(): void {
    const [items, keys] = [new Int32Array(2 * this.#size), new Float64Array(2 * this.#size)];
    items.set(this.#items);
    keys.set(this.#keys);
    [this.#items, this.#keys] = [items, keys];
  }
}
