/** A binary heap, smallest key first. Push and pop take O(log n). */
export class MinHeap<Item> {
  readonly #items: Item[] = [];
  readonly #keys: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Infinity where it is empty. */
  get minKey(): number {
    return this.#keys[0] ?? Infinity;
  }

  push(key: number, item: Item): void {
    let at = this.#items.length;
    this.#items.push(item);
    this.#keys.push(key);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#keys[parent] as number) <= key) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, key, item);
  }

  pop(): Item | undefined {
    const first = this.#items[0];
    const key = this.#keys.pop();
    const item = this.#items.pop();
    if (key === undefined || this.#items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#items.length) break;
      if ((this.#keys[child + 1] ?? Infinity) < (this.#keys[child] as number)) child += 1;
      if ((this.#keys[child] as number) >= key) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, key, item as Item);
    return first;
  }

  #move(from: number, to: number): void {
    this.#items[to] = this.#items[from] as Item;
    this.#keys[to] = this.#keys[from] as number;
  }

  #put(at: number, key: number, item: Item): void {
    this.#items[at] = item;
    this.#keys[at] = key;
  }
}
