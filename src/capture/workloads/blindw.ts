/**
 * BlindW, of Cobra (OSDI 2020), as Leopard (ICDE 2023, section VI) runs it: 2,000 rows of 140 characters, 8 operations a transaction, keys
 * uniform, every written value unique. W: only blind writes. RW: half of the transactions read rows, half write blindly. RW+: half of the
 * reads are ranges of 10 keys.
 */
import { insertRows, integer, scaled, type TransactionContext, type Workload } from './workload.ts';

const rowsAtOne = 2_000;
const operations = 8;
const rangeKeys = 10;

export function blindWrites(kind: 'w' | 'rw' | 'rw+', scale: number): Workload {
  const rows = scaled(rowsAtOne, scale, rangeKeys);
  return {
    tables: [{ name: 'blindw', definition: 'CREATE TABLE blindw (k int PRIMARY KEY, v varchar(140) NOT NULL)' }],
    load: (client) =>
      insertRows(
        client,
        'blindw',
        Array.from({ length: rows }, (_, k) => [k, text(-1 - k)]),
      ),
    transaction: async (context) => {
      const isWriting = kind === 'w' || context.random.choose(2) === 0;
      for (let i = 0; i < operations; i += 1)
        await (isWriting ? write(context, rows) : read(context, rows, kind === 'rw+'));
    },
  };
}

async function write({ client, random, unique }: TransactionContext, rows: number): Promise<void> {
  await client.query('UPDATE blindw SET v = ? WHERE k = ?', text(unique()), random.choose(rows));
}

async function read({ client, random }: TransactionContext, rows: number, hasRanges: boolean): Promise<void> {
  if (!hasRanges || random.choose(2) === 0) {
    await client.query('SELECT v FROM blindw WHERE k = ?', random.choose(rows));
    return;
  }
  const from = integer(random, 0, rows - rangeKeys);
  await client.query('SELECT k, v FROM blindw WHERE k >= ? AND k < ?', from, from + rangeKeys);
}

function text(value: number): string {
  return String(value).padStart(140, '.');
}
