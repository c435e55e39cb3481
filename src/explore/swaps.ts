/**
 * The swaps of explore-ce (PLDI 2023, section 5.2): when a transaction t commits, reads that came before it, and could not see it, get their
 * chance. A swap keeps what is before the read's transaction and the causal past of t, and puts that transaction last, cut right after the
 * read, which now sees t. To reach every history once, a swap is made only from the history in which every read that it deletes sees the
 * causally latest write that it may (`readLatest`). The clause on swapped reads of the paper's prose is left out: with `readLatest` as
 * equality with the maximum it follows, and taken literally it loses histories (s0: [ry rx], s1: [rx wy];[wx], s2: [wx]).
 */
import type { Causality } from './causality.ts';
import { type Log, nameAt, type Prefix, type Sources, sourcesOf, type TransactionName } from './ordered-history.ts';

/**
 * The prefixes of the swaps that the commit of the last transaction allows. `readLatest` of a read does not ask which read is swapped, and a
 * swap deletes every read from its own on: one pass backwards finds them all, and ends at the first read that does not see the latest write.
 */
export function swapsAfter(logs: readonly Log[], causality: Causality): Prefix[] {
  const t = logs.length - 1;
  const { writeKeys } = logs[t] as Log;
  const swaps: Prefix[] = [];
  if (writeKeys.length === 0) return swaps;
  for (let b = t - 1; b >= 0; b -= 1) {
    if (causality.isBefore(b, t)) continue;
    const { readKeys } = logs[b] as Log;
    for (let read = readKeys.length - 1; read >= 0; read -= 1) {
      if (!seesLatest(logs, causality, b, read, t)) return swaps.toReversed();
      const key = readKeys[read] as number;
      if (writeKeys.includes(key) && causality.allowsRead(b, read, key, t, t))
        swaps.push(swap(logs, causality, b, read));
    }
  }
  return swaps.toReversed();
}

/** Of the writes in the causal past of the reader without this read, does it see the latest that its level allows? */
function seesLatest(logs: readonly Log[], causality: Causality, b: number, read: number, t: number): boolean {
  const { readKeys, sources } = logs[b] as Log;
  const key = readKeys[read] as number;
  const seen = sources[read] as number;
  if (seen >= 0 && !causality.wasBefore(seen, b, read)) return false;
  for (let i = causality.writersOf(key) - 1; i >= 0; i -= 1) {
    const u = causality.writerOf(key, i);
    if (u >= b || !causality.wasBefore(u, b, read)) continue;
    // Without what came later, the history is a prefix of this one: what it saw, it may see.
    if (u === seen) return true;
    if (causality.allowsRead(b, read, key, u, t)) return false;
  }
  return true;
}

function swap(logs: readonly Log[], causality: Causality, b: number, read: number): Prefix {
  const t = logs.length - 1;
  const prefix: Sources[] = [];
  for (let i = 0; i < t; i += 1) if (i < b || causality.isBefore(i, t)) prefix.push(sourcesOf(logs, i));
  prefix.push(sourcesOf(logs, t));
  const { name, sources } = sourcesOf(logs, b);
  const cut: TransactionName[] = sources.slice(0, read);
  cut.push(nameAt(logs, t));
  prefix.push({ name, sources: cut });
  return prefix;
}
