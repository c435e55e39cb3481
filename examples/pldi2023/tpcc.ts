/**
 * TPC-C (2010) of the evaluation of PLDI 2023, with two warehouses of two districts: the stock below a threshold, a new order, an order's
 * status, a payment, a delivery. Times and money are left out where no transaction looks at them.
 */
import type { Program, TransactionHandle } from 'moirai';
import {
  type Calls,
  changeRow,
  client,
  clientsOf,
  deleteRow,
  growing,
  ids,
  insertId,
  insertRow,
  type OutcomeInvariant,
  readRow,
  readWhere,
  requireRow,
  rowsOf,
  sum,
  writeRow,
} from './tables.ts';

interface District {
  readonly nextOrder: number;
  readonly paid: number;
}

interface Customer {
  readonly id: string;
  readonly name: string;
  readonly balance: number;
}

interface Order {
  readonly id: number;
  readonly customer: string;
  readonly carrier: string | null;
}

interface OrderLine {
  readonly item: string;
  readonly amount: number;
}

interface Stock {
  readonly quantity: number;
}

async function newOrder(
  t: TransactionHandle,
  place: string,
  customer: string,
  lines: readonly { readonly item: string; readonly supplier: string; readonly quantity: number }[],
): Promise<void> {
  await requireRow(t, 'CUSTOMER', `${place}:${customer}`);
  await requireRow(t, 'WAREHOUSE', place.split(':')[0] ?? '');
  const { nextOrder } = await requireRow<District>(t, 'DISTRICT', place);
  await changeRow<District>(t, 'DISTRICT', place, (row) => ({ ...row, nextOrder: row.nextOrder + 1 }));
  const order = `${place}:${nextOrder}`;
  await insertRow(t, 'OPENORDER', order, { id: nextOrder, customer, carrier: null });
  await insertId(t, 'NEWORDER', order);
  for (const [i, { item, supplier, quantity }] of lines.entries()) {
    const { price } = await requireRow<{ readonly price: number }>(t, 'ITEM', item);
    const stock = await requireRow<Stock>(t, 'STOCK', `${supplier}:${item}`);
    await insertRow(t, 'ORDERLINE', `${order}:${i}`, { item, amount: price * quantity });
    const left = stock.quantity - quantity;
    await writeRow(t, 'STOCK', `${supplier}:${item}`, { quantity: left >= 10 ? left : left + 91 });
  }
}

/** A customer by number, or the middle one of a name's. */
async function customerOf(t: TransactionHandle, place: string, who: string): Promise<Customer> {
  if (/^\d+$/.test(who)) return requireRow<Customer>(t, 'CUSTOMER', `${place}:${who}`);
  const all = await readWhere<Customer>(t, 'CUSTOMER', (id) => id.startsWith(`${place}:`));
  const named = all.filter(({ name }) => name === who);
  return named[Math.ceil(named.length / 2) - 1] ?? t.abort();
}

async function payment(t: TransactionHandle, place: string, who: string, amount: number): Promise<void> {
  const warehouse = place.split(':')[0] ?? '';
  const pay = <Row extends { readonly paid: number }>(row: Row): Row => ({ ...row, paid: row.paid + amount });
  await changeRow<{ readonly paid: number }>(t, 'WAREHOUSE', warehouse, pay);
  await requireRow(t, 'WAREHOUSE', warehouse);
  await changeRow<District>(t, 'DISTRICT', place, pay);
  await requireRow(t, 'DISTRICT', place);
  const customer = await customerOf(t, place, who);
  await writeRow(t, 'CUSTOMER', `${place}:${customer.id}`, { ...customer, balance: customer.balance - amount });
  await insertRow(t, 'HISTORY', `${place}:${customer.id}:${amount}`, { amount });
}

async function orderStatus(t: TransactionHandle, place: string, who: string): Promise<void> {
  const { id } = await customerOf(t, place, who);
  const orders = await readWhere<Order>(t, 'OPENORDER', (key) => key.startsWith(`${place}:`));
  const newest = Math.max(...orders.filter(({ customer }) => customer === id).map((order) => order.id));
  if (newest >= 0) await readWhere(t, 'ORDERLINE', (key) => key.startsWith(`${place}:${newest}:`));
}

/** Delivers the oldest new order of each district. */
async function delivery(t: TransactionHandle, districts: number, warehouse: string, carrier: string): Promise<void> {
  for (let district = 0; district < districts; district += 1) {
    const place = `${warehouse}:${district}`;
    const waiting = (await ids(t, 'NEWORDER')).filter((id) => id.startsWith(`${place}:`));
    const oldest = waiting.toSorted((a, b) => Number(a.split(':')[2]) - Number(b.split(':')[2]))[0];
    if (oldest === undefined) continue;
    await deleteRow(t, 'NEWORDER', oldest);
    const order = await requireRow<Order>(t, 'OPENORDER', oldest);
    await writeRow(t, 'OPENORDER', oldest, { ...order, carrier });
    const lines = await readWhere<OrderLine>(t, 'ORDERLINE', (id) => id.startsWith(`${oldest}:`));
    const total = sum(lines.map(({ amount }) => amount));
    await changeRow<Customer>(t, 'CUSTOMER', `${place}:${order.customer}`, (row) => ({
      ...row,
      balance: row.balance + total,
    }));
  }
}

async function stockLevel(t: TransactionHandle, place: string, threshold: number): Promise<void> {
  const { nextOrder } = await requireRow<District>(t, 'DISTRICT', place);
  const isRecent = (id: string): boolean => id.startsWith(`${place}:`) && Number(id.split(':')[2]) >= nextOrder - 20;
  const items = new Set((await readWhere<OrderLine>(t, 'ORDERLINE', isRecent)).map(({ item }) => item));
  let low = 0;
  for (const item of items) {
    const stock = await readRow<Stock>(t, 'STOCK', `${place.split(':')[0]}:${item}`);
    if (stock !== null && stock.quantity < threshold) low += 1;
  }
}

const calls: Calls = {
  /** `order PLACE CUSTOMER ITEM@WAREHOUSExQUANTITY...` */
  order:
    (place = '', customer = '', ...lines) =>
    (t) =>
      newOrder(
        t,
        place,
        customer,
        lines.map((line) => {
          const [item = '', supplier = '', quantity = '1'] = line.split(/[@x]/);
          return { item, supplier, quantity: Number(quantity) };
        }),
      ),
  pay:
    (place = '', who = '', amount = '1') =>
    (t) =>
      payment(t, place, who, Number(amount)),
  status:
    (place = '', who = '') =>
    (t) =>
      orderStatus(t, place, who),
  deliver:
    (districts = '', warehouse = '', carrier = '') =>
    (t) =>
      delivery(t, Number(districts), warehouse, carrier),
  stock:
    (place = '', threshold = '') =>
    (t) =>
      stockLevel(t, place, Number(threshold)),
};

const customers: readonly (readonly [string, string, string])[] = [
  ['0:0', '100007', 'Lovelace'],
  ['1:1', '20027', 'Chikilicuatre'],
  ['1:0', '33496', 'Patin'],
  ['1:1', '3322466', 'Noether'],
  ['1:0', '87765', 'Gjata'],
  ['0:0', '635992', 'Alboran'],
];

const orders: readonly (readonly [string, number, string])[] = [
  ['0:0', 0, '100007'],
  ['1:0', 0, '33496'],
  ['1:0', 1, '87765'],
  ['1:1', 0, '20027'],
];

/** Consistency conditions of the specification, clause 3.3.2, as far as this data has them: 1 to 4, 7 and 10. */
const invariant: OutcomeInvariant = ({ ids: idsOf, row }) => {
  const placeOf = (id: string): string => id.split(':').slice(0, 2).join(':');
  for (const warehouse of idsOf('WAREHOUSE')) {
    const own = idsOf('DISTRICT').filter((place) => place.startsWith(`${warehouse}:`));
    const paid = sum(own.map((place) => (row('DISTRICT', place) as District | null)?.paid ?? 0));
    const total = (row('WAREHOUSE', warehouse) as { readonly paid: number } | null)?.paid;
    if (total !== paid) return `warehouse ${warehouse} was paid ${total}, its districts ${paid}`;
  }
  for (const place of idsOf('DISTRICT')) {
    const { nextOrder = 0 } = (row('DISTRICT', place) as District | null) ?? {};
    const own = idsOf('OPENORDER').filter((id) => placeOf(id) === place);
    const old = orders.filter(([at]) => at === place).length;
    if (own.length !== old + nextOrder - FIRST_ORDER || new Set(own).size !== own.length)
      return `district ${place} is at order ${nextOrder} and has the orders ${own.join()}`;
  }
  for (const order of idsOf('OPENORDER')) {
    const isNew = idsOf('NEWORDER').includes(order);
    if (isNew !== ((row('OPENORDER', order) as Order | null)?.carrier === null))
      return `order ${order} is new and delivered`;
    if (!idsOf('ORDERLINE').some((id) => id.startsWith(`${order}:`))) return `order ${order} has no lines`;
  }
  for (const id of idsOf('CUSTOMER')) {
    const { balance } = row('CUSTOMER', id) as Customer;
    const payments = idsOf('HISTORY').filter((each) => each.startsWith(`${id}:`));
    const paid = sum(payments.map((each) => (row('HISTORY', each) as { readonly amount: number } | null)?.amount ?? 0));
    const delivered = idsOf('OPENORDER').filter((order) => {
      const { customer, carrier } = row('OPENORDER', order) as Order;
      return carrier !== null && `${placeOf(order)}:${customer}` === id;
    });
    const lines = idsOf('ORDERLINE').filter((line) => delivered.some((order) => line.startsWith(`${order}:`)));
    const bought = sum(lines.map((line) => (row('ORDERLINE', line) as OrderLine | null)?.amount ?? 0));
    if (balance !== bought - paid) return `customer ${id} has a balance of ${balance}: got ${bought}, paid ${paid}`;
  }
  return null;
};

/** The next order of each district at first. */
const FIRST_ORDER = 3;

export function tpcc(text: string): Program {
  const entries = <Row>(rows: readonly (readonly [string, Row])[]): Record<string, Row> => Object.fromEntries(rows);
  const items = ['27', '42', '123', '666', '77', '234'];
  const openOrders = orders.map(
    ([place, id, customer]) => [`${place}:${id}`, { id, customer, carrier: null }] as const,
  );
  return client(
    text,
    calls,
    {
      ...rowsOf('WAREHOUSE', { 0: { paid: 0 }, 1: { paid: 0 } }),
      ...rowsOf(
        'DISTRICT',
        entries(['0:0', '0:1', '1:0', '1:1'].map((id) => [id, { nextOrder: FIRST_ORDER, paid: 0 }])),
      ),
      ...rowsOf(
        'CUSTOMER',
        entries(customers.map(([place, id, name]) => [`${place}:${id}`, { id, name, balance: 0 }])),
      ),
      ...rowsOf('ITEM', entries(items.map((id) => [id, { price: Number(id) }]))),
      ...rowsOf(
        'STOCK',
        entries(['0', '1'].flatMap((w) => items.map((id) => [`${w}:${id}`, { quantity: 30 }] as const))),
      ),
      ...rowsOf('OPENORDER', entries(openOrders)),
      ...rowsOf('ORDERLINE', entries(openOrders.map(([id]) => [`${id}:0`, { item: '666', amount: 5 }]))),
      NEWORDER: openOrders.map(([id]) => id),
      HISTORY: [],
    },
    invariant,
  );
}

const texts: Readonly<Record<string, string>> = {
  'tpc-c 1':
    'stock 1:0 100; status 1:0 Patin; order 1:1 3322466 666@1x1 | stock 1:1 10; order 1:1 20027 77@1x1; status 1:1 20027 | pay 1:0 Gjata 7; status 1:0 Gjata; stock 1:1 100',
  'tpc-c 2':
    'pay 1:1 20027 5; status 1:1 Noether; pay 1:1 3322466 3 | deliver 2 1 3; stock 1:1 100; status 1:1 20027 | pay 0:0 100007 9; status 0:0 Lovelace; stock 0:0 50',
  'tpc-c 3':
    'order 1:1 20027 77@1x1; status 1:1 20027; stock 1:1 100 | pay 1:1 20027 5; status 1:1 Chikilicuatre; pay 1:0 33496 2 | deliver 1 1 4; stock 1:0 10; status 1:0 33496',
  'tpc-c 4':
    'pay 1:1 20027 5; pay 1:0 33496 2; status 1:0 33496 | pay 1:1 3322466 4; stock 1:1 100; pay 1:0 87765 1 | order 1:0 87765 77@0x1; status 1:0 87765; stock 1:0 100',
  'tpc-c 5':
    'order 1:1 3322466 123@0x1; stock 1:1 20; deliver 1 1 69000 | deliver 1 1 69110; status 1:0 87765; order 1:0 87765 77@0x1 | order 1:1 20027 77@0x1; status 1:1 20027; pay 1:1 20027 3',
};

export const tpccClients = clientsOf(tpcc, texts);

/** Five programs of five sessions of five transactions: for measuring how the number of histories grows. */
export const tpccGrowing = growing(texts);
