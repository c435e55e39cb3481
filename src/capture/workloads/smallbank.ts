/** SmallBank (Alomari et al., ICDE 2008) with the statements of BenchBase: its six transactions in equal shares, 1,000 customers. */
import { insertRows, integer, numberOf, scaled, type Workload, type WorkloadClient } from './workload.ts';

const customersAtOne = 1_000;
/** A tenth of the customers gets nine tenths of the transactions, as in BenchBase's hot spot. */
const hotCustomersAtOne = 100;

export function smallBank(scale: number): Workload {
  const customers = scaled(customersAtOne, scale, 2);
  const hotCustomers = scaled(hotCustomersAtOne, scale, 1);
  return {
    tables: [
      {
        name: 'accounts',
        definition: 'CREATE TABLE accounts (custid bigint NOT NULL, name varchar(64) NOT NULL, PRIMARY KEY (custid))',
      },
      {
        name: 'savings',
        definition: 'CREATE TABLE savings (custid bigint NOT NULL, bal bigint NOT NULL, PRIMARY KEY (custid))',
      },
      {
        name: 'checking',
        definition: 'CREATE TABLE checking (custid bigint NOT NULL, bal bigint NOT NULL, PRIMARY KEY (custid))',
      },
    ],
    load: async (client) => {
      const ids = Array.from({ length: customers }, (_, i) => i);
      await insertRows(
        client,
        'accounts',
        ids.map((id) => [id, `customer${id}`]),
      );
      await insertRows(
        client,
        'savings',
        ids.map((id) => [id, 10_000]),
      );
      await insertRows(
        client,
        'checking',
        ids.map((id) => [id, 10_000]),
      );
    },
    transaction: async ({ client, random }) => {
      const one = random.choose(10) < 9 ? random.choose(hotCustomers) : random.choose(customers);
      const other = (one + integer(random, 1, customers - 1)) % customers;
      const amount = integer(random, 1, 50);
      await (
        [balance, depositChecking, transactSavings, writeCheck, sendPayment, amalgamate][random.choose(6)] as Procedure
      )(client, one, amount, other);
    },
  };
}

type Procedure = (client: WorkloadClient, one: number, amount: number, other: number) => Promise<void>;

async function look(client: WorkloadClient, table: 'savings' | 'checking', id: number): Promise<number> {
  const [row] = await client.query(`SELECT bal FROM ${table} WHERE custid = ?`, id);
  return numberOf(row, 'bal');
}

async function change(client: WorkloadClient, table: 'savings' | 'checking', id: number, bal: number): Promise<void> {
  await client.query(`UPDATE ${table} SET bal = ? WHERE custid = ?`, bal, id);
}

async function balance(client: WorkloadClient, one: number): Promise<void> {
  await client.query('SELECT name FROM accounts WHERE custid = ?', one);
  await look(client, 'savings', one);
  await look(client, 'checking', one);
}

async function depositChecking(client: WorkloadClient, one: number, amount: number): Promise<void> {
  await change(client, 'checking', one, (await look(client, 'checking', one)) + amount);
}

async function transactSavings(client: WorkloadClient, one: number, amount: number): Promise<void> {
  await change(client, 'savings', one, (await look(client, 'savings', one)) - amount);
}

/** With a penalty of 1 for an overdraft: the transaction that makes SmallBank's write skew. */
async function writeCheck(client: WorkloadClient, one: number, amount: number): Promise<void> {
  const savings = await look(client, 'savings', one);
  const checking = await look(client, 'checking', one);
  await change(client, 'checking', one, checking - (savings + checking < amount ? amount + 1 : amount));
}

async function sendPayment(client: WorkloadClient, one: number, amount: number, other: number): Promise<void> {
  const checking = await look(client, 'checking', one);
  if (checking < amount) return;
  await change(client, 'checking', one, checking - amount);
  await change(client, 'checking', other, (await look(client, 'checking', other)) + amount);
}

async function amalgamate(client: WorkloadClient, one: number, _amount: number, other: number): Promise<void> {
  const total = (await look(client, 'savings', one)) + (await look(client, 'checking', one));
  await change(client, 'savings', one, 0);
  await change(client, 'checking', one, 0);
  await change(client, 'checking', other, (await look(client, 'checking', other)) + total);
}
