/**
 * YCSB-A (Cooper et al., SoCC 2010): half reads, half updates of single rows, each a transaction of its own, keys by a Zipf distribution.
 * The generator is that of Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as YCSB has it.
 */
import type { Chooser } from '../../base/index.ts';
import { insertRows, scaled, type Workload } from './workload.ts';

const rowsAtOne = 1_000;

/** @param skew Zipf's constant: 0 is uniform, 0.99 YCSB's default; below 1 */
export function ycsbA(skew: number, scale: number): Workload {
  const rows = scaled(rowsAtOne, scale, 2);
  const key = zipf(rows, skew);
  return {
    isSingle: true,
    tables: [
      {
        name: 'usertable',
        definition: 'CREATE TABLE usertable (ycsb_key int PRIMARY KEY, field0 varchar(100) NOT NULL)',
      },
    ],
    load: (client) =>
      insertRows(
        client,
        'usertable',
        Array.from({ length: rows }, (_, k) => [k, `initial ${k}`]),
      ),
    transaction: async ({ client, random, unique }) => {
      const k = key(random);
      if (random.choose(2) === 0) await client.query('SELECT field0 FROM usertable WHERE ycsb_key = ?', k);
      else await client.query('UPDATE usertable SET field0 = ? WHERE ycsb_key = ?', `value ${unique()}`, k);
    },
  };
}

/** Numbers from 0 to `count` - 1, small ones most often. */
function zipf(count: number, skew: number): (random: Chooser) => number {
  const zeta = (n: number): number =>
    Array.from({ length: n }, (_, i) => 1 / (i + 1) ** skew).reduce((sum, each) => sum + each, 0);
  const total = zeta(count);
  const alpha = 1 / (1 - skew);
  const eta = (1 - (2 / count) ** (1 - skew)) / (1 - zeta(2) / total);
  const resolution = 1 << 30;
  return (random) => {
    const u = random.choose(resolution) / resolution;
    const uz = u * total;
    if (uz < 1) return 0;
    if (uz < 1 + 0.5 ** skew) return 1;
    return Math.min(count - 1, Math.floor(count * (eta * u - eta + 1) ** alpha));
  };
}
