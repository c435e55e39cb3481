/** Numbers from 0, the one of lowest priority first, then the lowest number. A binary heap. */
export class PriorityQueue {
  readonly #size: number;
  readonly #heap: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  add(item: number, priority: number): void {
    const heap = this.#heap;
    const value = priority * this.#size + item;
    let at = heap.length;
    heap.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as number;
      if (above <= value) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = value;
  }

  /** -1: it is empty. */
  take(): number {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined) return -1;
    if (heap.length > 0) this.#sink(last);
    return top % this.#size;
  }

  #sink(value: number): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if ((heap[child] as number) >= value) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = value;
  }
}
