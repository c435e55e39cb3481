/** SmallBank's transactions, with pg: each changes a balance in the statement that reads it, or locks it first. */
import { balanceIn, checkingOf, custidOf, inTransaction, savingsOf } from './database.ts';

export async function balance(name: string): Promise<number> {
  return inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    return (await savingsOf(client, custid)) + (await checkingOf(client, custid));
  });
}

export async function depositChecking(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    await client.query('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [custid, amount]);
  });
}

export async function transactSavings(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    await client.query('UPDATE savings SET bal = bal + $2 WHERE custid = $1', [custid, amount]);
  });
}

export async function amalgamate(from: string, to: string): Promise<void> {
  await inTransaction(async (client) => {
    const sender = await custidOf(client, from);
    const receiver = await custidOf(client, to);
    const saved = balanceIn(await client.query('SELECT bal FROM savings WHERE custid = $1 FOR UPDATE', [sender]));
    await client.query('UPDATE savings SET bal = 0 WHERE custid = $1', [sender]);
    const checked = balanceIn(await client.query('SELECT bal FROM checking WHERE custid = $1 FOR UPDATE', [sender]));
    await client.query('UPDATE checking SET bal = 0 WHERE custid = $1', [sender]);
    await client.query('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [receiver, saved + checked]);
  });
}

export async function writeCheck(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    const penalty = (await savingsOf(client, custid)) + (await checkingOf(client, custid)) < amount ? 1 : 0;
    await client.query('UPDATE checking SET bal = bal - $2 WHERE custid = $1', [custid, amount + penalty]);
  });
}
