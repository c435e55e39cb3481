/** Lists side by side, as far as the longest goes; `null` where a shorter one has ended. Each is read as far as it is needed. */
export function* inStep<T>(lists: readonly Iterable<T>[]): Iterable<readonly (T | null)[]> {
  const open: (Iterator<T> | null)[] = lists.map((list) => list[Symbol.iterator]());
  try {
    for (;;) {
      const step: (T | null)[] = [];
      for (const [i, iterator] of open.entries()) {
        const next = iterator?.next();
        if (next === undefined || next.done === true) {
          open[i] = null;
          step.push(null);
        } else step.push(next.value);
      }
      if (open.every((iterator) => iterator === null)) return;
      yield step;
    }
  } finally {
    for (const iterator of open) iterator?.return?.();
  }
}
