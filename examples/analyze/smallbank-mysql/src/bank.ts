/** SmallBank's five transactions on MySQL or MariaDB, at the database's default level. */
import { checkingOf, custidOf, inTransaction, savingsOf } from './database.ts';

export async function balance(name: string): Promise<number> {
  return inTransaction(async (connection) => {
    const custid = await custidOf(connection, name);
    return (await savingsOf(connection, custid)) + (await checkingOf(connection, custid));
  });
}

export async function depositChecking(name: string, amount: number): Promise<void> {
  await inTransaction(async (connection) => {
    const custid = await custidOf(connection, name);
    await connection.query('UPDATE checking SET bal = bal + ? WHERE custid = ?', [amount, custid]);
  });
}

export async function transactSavings(name: string, amount: number): Promise<void> {
  await inTransaction(async (connection) => {
    const custid = await custidOf(connection, name);
    const saved = await savingsOf(connection, custid);
    if (saved < amount) return;
    await connection.query('UPDATE savings SET bal = ? WHERE custid = ?', [saved - amount, custid]);
  });
}

export async function amalgamate(from: string, to: string): Promise<void> {
  await inTransaction(async (connection) => {
    const sender = await custidOf(connection, from);
    const receiver = await custidOf(connection, to);
    const amount = (await savingsOf(connection, sender)) + (await checkingOf(connection, sender));
    await connection.query('UPDATE savings SET bal = 0 WHERE custid = ?', [sender]);
    await connection.query('UPDATE checking SET bal = 0 WHERE custid = ?', [sender]);
    await connection.query('UPDATE checking SET bal = bal + ? WHERE custid = ?', [amount, receiver]);
  });
}

export async function writeCheck(name: string, amount: number): Promise<void> {
  await inTransaction(async (connection) => {
    const custid = await custidOf(connection, name);
    const total = (await savingsOf(connection, custid)) + (await checkingOf(connection, custid));
    const penalty = total < amount ? 1 : 0;
    await connection.query('UPDATE checking SET bal = bal - ? WHERE custid = ?', [amount + penalty, custid]);
  });
}
