import { sizes, tpccTables } from './tpcc-tables.ts';
import { anyTransaction } from './tpcc.ts';
import { insertRows, scaled, type Workload, type WorkloadClient } from './workload.ts';

/** Each client is at home in one warehouse; with as many warehouses as clients they conflict only where one goes elsewhere. */
export function tpcc(scale: number): Workload {
  const warehouses = scaled(1, scale, 1);
  return {
    tables: tpccTables,
    load: async (client) => {
      await insertRows(
        client,
        'item',
        numbers(sizes.items).map((i) => [i, `item${i}`, (i % 100) + 0.5, 'data']),
      );
      for (const w of numbers(warehouses)) await loadWarehouse(client, w);
    },
    transaction: (context) =>
      anyTransaction({ ...context, warehouses, warehouse: 1 + (context.clientNumber % warehouses) }),
  };
}

async function loadWarehouse(client: WorkloadClient, w: number): Promise<void> {
  const address = ['a', 'b', 'c', 'XX', '123456789'];
  const districts = numbers(sizes.districts);
  await insertRows(client, 'warehouse', [[w, 0, 0.1, 'Moirai', ...address]]);
  await insertRows(
    client,
    'district',
    districts.map((d) => [w, d, 0, 0.1, 1, `D${d}`, ...address]),
  );
  const customers = districts.flatMap((d) =>
    numbers(sizes.customers).map((c) => [
      w,
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
    'stock',
    numbers(sizes.items).map((i) => [w, i, 50, 0, 0, 0, 'data', 'one', 'two']),
  );
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
