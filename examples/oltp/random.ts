/** Inputs of the workloads, from a seed: the same seed gives the same inputs, whatever the interleaving. */
export interface Random {
  /** An integer from `low` to `high`, both included. */
  readonly integer: (low: number, high: number) => number;
  readonly pick: <T>(of: readonly T[]) => T;
}

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return { integer, pick: (of) => of[integer(0, of.length - 1)] as (typeof of)[number] };
}
