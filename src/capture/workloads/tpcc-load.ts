import { scale, tpccTables } from './tpcc-tables.ts';
import { anyTransaction } from './tpcc.ts';
import { insertRows, type Workload } from './workload.ts';

export const tpcc: Workload = {
  tables: tpccTables,
  load: async (client) => {
    const address = ['a', 'b', 'c', 'XX', '123456789'];
    const districts = numbers(scale.districts);
    await insertRows(client, 'warehouse', [[1, 0, 0.1, 'Moirai', ...address]]);
    await insertRows(
      client,
      'district',
      districts.map((d) => [1, d, 0, 0.1, 1, `D${d}`, ...address]),
    );
    const customers = districts.flatMap((d) =>
      numbers(scale.customers).map((c) => [
        1,
        d,
        c,
        0.1,
        c === 1 ? 'BC' : 'GC',
        'BARBAR',
        `F${c}`,
        50_000,
        0,
        0,
        0,
        0,
        'data',
      ]),
    );
    await insertRows(client, 'customer', customers);
    await insertRows(
      client,
      'item',
      numbers(scale.items).map((i) => [i, `item${i}`, (i % 100) + 0.5, 'data']),
    );
    await insertRows(
      client,
      'stock',
      numbers(scale.items).map((i) => [1, i, 50, 0, 0, 0, 'data', 'one', 'two']),
    );
  },
  transaction: anyTransaction,
};

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
