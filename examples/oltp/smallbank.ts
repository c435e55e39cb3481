/** SmallBank with the statements of BenchBase: five customers; A13: money is moved, never made (Amalgamate, Balance, SendPayment). */
import { type Client, numberOf, transaction } from './client.ts';
import type { Random } from './random.ts';

const customers = 5;

export const schema: readonly string[] = [
  'CREATE TABLE accounts (custid bigint NOT NULL, name varchar(64) NOT NULL, PRIMARY KEY (custid))',
  'CREATE INDEX idx_accounts_name ON accounts (name)',
  'CREATE TABLE savings (custid bigint NOT NULL, bal float NOT NULL, PRIMARY KEY (custid), FOREIGN KEY (custid) REFERENCES accounts (custid))',
  'CREATE TABLE checking (custid bigint NOT NULL, bal float NOT NULL, PRIMARY KEY (custid), FOREIGN KEY (custid) REFERENCES accounts (custid))',
  ...Array.from({ length: customers }, (_, i) => [
    `INSERT INTO accounts VALUES (${i + 1}, 'customer${i + 1}')`,
    `INSERT INTO savings VALUES (${i + 1}, 2500)`,
    `INSERT INTO checking VALUES (${i + 1}, 2500)`,
  ]).flat(),
];

export const smallBankAssertions: Readonly<Record<string, string>> = {
  A13: `SELECT 1 AS broken WHERE (SELECT SUM(bal) FROM savings) + (SELECT SUM(bal) FROM checking) <> ${customers * 5000}`,
};

async function customerNamed(client: Client, name: string): Promise<number> {
  const [row] = await client.query('SELECT * FROM accounts WHERE name = ?', name);
  return row === undefined ? -1 : numberOf(row, 'custid');
}

async function balance(client: Client, table: 'savings' | 'checking', custid: number): Promise<number> {
  const [row] = await client.query(`SELECT bal FROM ${table} WHERE custid = ?`, custid);
  return numberOf(row, 'bal');
}

/** Moves all that the first customer has to the second's checking account. */
async function amalgamate(client: Client, from: string, to: string): Promise<void> {
  await transaction(client, async () => {
    const first = await customerNamed(client, from);
    const second = await customerNamed(client, to);
    if (first < 0 || second < 0) return;
    const total = (await balance(client, 'savings', first)) + (await balance(client, 'checking', first));
    await client.change('UPDATE checking SET bal = 0.0 WHERE custid = ?', first);
    await client.change('UPDATE savings SET bal = 0.0 WHERE custid = ?', first);
    await client.change('UPDATE checking SET bal = bal + ? WHERE custid = ?', total, second);
  });
}

async function readBalance(client: Client, name: string): Promise<void> {
  await transaction(client, async () => {
    const custid = await customerNamed(client, name);
    await balance(client, 'savings', custid);
    await balance(client, 'checking', custid);
  });
}

async function sendPayment(client: Client, from: string, to: string, amount: number): Promise<void> {
  await transaction(client, async () => {
    const sender = await customerNamed(client, from);
    const receiver = await customerNamed(client, to);
    if (sender < 0 || receiver < 0 || (await balance(client, 'checking', sender)) < amount) return;
    await client.change('UPDATE checking SET bal = bal - ? WHERE custid = ?', amount, sender);
    await client.change('UPDATE checking SET bal = bal + ? WHERE custid = ?', amount, receiver);
  });
}

/** Weights 30, 30, 40, as the paper's artifact has them. */
export function anyTransaction(client: Client, random: Random): Promise<void> {
  const roll = random.integer(1, 100);
  const from = random.integer(1, customers);
  const to = ((from + random.integer(0, customers - 2)) % customers) + 1;
  if (roll <= 30) return amalgamate(client, `customer${from}`, `customer${to}`);
  if (roll <= 60) return readBalance(client, `customer${from}`);
  return sendPayment(client, `customer${from}`, `customer${to}`, random.integer(1, 50));
}
