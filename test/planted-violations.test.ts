/**
 * A violation planted at a random place of a large valid history is found at the weakest level that forbids it, named, and shown by at most
 * six transactions. MOIRAI_HEAVY=1: histories of 100,000 transactions, twenty seeds each.
 */
import { describe, expect, test } from 'vitest';
import { seeded } from '../src/base/index.ts';
import { checkCompact } from '../src/check/index.ts';
import { CompactHistoryBuilder } from '../src/history/compact-builder.ts';
import type { CompactHistory } from '../src/history/compact-history.ts';
import { type History, parseHistory } from '../src/history/index.ts';
import { type AnomalyName, certify, type IsolationLevel } from '../src/isolation/index.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const transactions = isHeavy ? 100_000 : 3_000;
const seeds = isHeavy ? 20 : 2;
const sessions = 24;
const keys = 5_000;

/** In notation, sessions as lines; keys p, q and s are nobody else's. */
const planted: readonly (readonly [AnomalyName, string, IsolationLevel])[] = [
  ['G1a', 'w p 1 !\nr p 1', 'read-committed'],
  ['G1b', 'w p 1, w p 2\nr p 1', 'read-committed'],
  ['internal', 'w p 1, r p _', 'read-committed'],
  ['G1c', 'r q 1, w p 1\nr p 1, w q 1', 'read-committed'],
  ['non-repeatable-read', 'w p 1\nr p _, r p 1', 'read-atomic'],
  ['fractured-read', 'w p 1, w q 1\nr p 1, r q _', 'read-atomic'],
  ['causality-violation', 'w p 1\nr p 1, w q 1\nr q 1, r p _', 'causal'],
  ['long-fork', 'w p 1\nw q 1\nr p 1, r q _\nr q 1, r p _', 'prefix'],
  ['lost-update', 'r p _, w p 1\nr p _, w p 2', 'snapshot-isolation'],
  ['write-skew', 'r p _, r q _, w p 1\nr p _, r q _, w q 1', 'serializable'],
  ['G2-item', 'r p _, w q 1\nr q _, w s 1\nr s _, w p 1', 'serializable'],
];

describe(`in a history of ${transactions} transactions`, () => {
  test.each(planted)('%s', { timeout: 1_200_000 }, (anomaly, text, level) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const verdict = checkCompact(withPlanted(parseHistory(text), seed), level);
      expect(verdict.kind, `seed ${seed}`).toBe('violated');
      if (verdict.kind !== 'violated') continue;
      const { evidence } = verdict;
      expect(evidence?.transactions.length ?? Infinity, `seed ${seed}`).toBeLessThanOrEqual(6);
      if (evidence === null) continue;
      expect(certify(evidence.history, level, evidence.verdict), `seed ${seed}`).toBe(true);
      expect(verdict.anomaly, `seed ${seed}`).toBe(anomaly);
    }
  });
});

/** A serial run of reads and writes over random keys, with the planted transactions at one moment of it, each line in another session. */
function withPlanted(small: History, seed: number): CompactHistory {
  const chooser = seeded(seed);
  const builder = new CompactHistoryBuilder();
  const sessionIds = Array.from({ length: sessions }, (_, i) => builder.session(`s${i}`));
  const keyIds = Array.from({ length: keys }, (_, i) => builder.key(`k${i}`));
  const last: (number | null)[] = keyIds.map(() => null);
  const moment = chooser.choose(transactions);
  const shift = chooser.choose(sessions);
  let written = 0;
  for (let t = 0; t < transactions; t += 1) {
    if (t === moment) plant(builder, small, (line) => sessionIds[(shift + line * 5) % sessions] as number);
    for (let i = 0; i < 8; i += 1) {
      const k = chooser.choose(keys);
      const key = keyIds[k] as number;
      if (chooser.choose(2) === 0) {
        const value = last[k] as number | null;
        builder.read(key, value === null ? builder.nullValue(key) : builder.integer(key, value));
      } else builder.write(key, builder.integer(key, (last[k] = written += 1)));
    }
    builder.endTransaction(sessionIds[chooser.choose(sessions)] as number);
  }
  return builder.finish();
}

function plant(builder: CompactHistoryBuilder, small: History, sessionOf: (line: number) => number): void {
  for (const { session, operations, status } of small.transactions) {
    for (const { kind, key, value } of operations) {
      const id = builder.key(key);
      const valueId = value === null ? builder.nullValue(id) : builder.value(id, value);
      if (kind === 'read') builder.read(id, valueId);
      else builder.write(id, valueId);
    }
    builder.endTransaction(sessionOf(session), { status });
  }
}
