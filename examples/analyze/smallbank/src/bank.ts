/** SmallBank's transactions, with pg: what they change, they read before. */
import { checkingOf, custidOf, inTransaction, savingsOf } from './database.ts';

const setSavings = 'UPDATE savings SET bal = $2 WHERE custid = $1';
const setChecking = 'UPDATE checking SET bal = $2 WHERE custid = $1';

export async function balance(name: string): Promise<number> {
  return inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    return (await savingsOf(client, custid)) + (await checkingOf(client, custid));
  });
}

export async function depositChecking(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    await client.query(setChecking, [custid, (await checkingOf(client, custid)) + amount]);
  });
}

export async function transactSavings(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    const left = (await savingsOf(client, custid)) + amount;
    if (left < 0) throw new Error('there is not enough');
    await client.query(setSavings, [custid, left]);
  });
}

export async function amalgamate(from: string, to: string): Promise<void> {
  await inTransaction(async (client) => {
    const sender = await custidOf(client, from);
    const receiver = await custidOf(client, to);
    const total = (await savingsOf(client, sender)) + (await checkingOf(client, sender));
    await client.query('UPDATE savings SET bal = 0 WHERE custid = $1', [sender]);
    await client.query('UPDATE checking SET bal = 0 WHERE custid = $1', [sender]);
    await client.query(setChecking, [receiver, (await checkingOf(client, receiver)) + total]);
  });
}

export async function writeCheck(name: string, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    const custid = await custidOf(client, name);
    const saved = await savingsOf(client, custid);
    const checked = await checkingOf(client, custid);
    const penalty = saved + checked < amount ? 1 : 0;
    await client.query(setChecking, [custid, checked - amount - penalty]);
  });
}
