/** Two sessions that withdraw from one account: each looks first, then takes. What tests of replays change about them is an option. */
import pg from 'pg';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';

export interface WithdrawalOptions {
  /** Sent before everything else. */
  readonly first?: string;
  readonly lock?: string;
  readonly amount?: number;
  readonly balance?: number;
}

export function withdrawals({ first, lock = '', amount = 60, balance = 100 }: WithdrawalOptions = {}): SqlProgram {
  const withdraw = async ({ connect }: SqlConnection): Promise<void> => {
    const client = new pg.Client({ user: 'app', stream: connect });
    await client.connect();
    if (first !== undefined) await client.query(first);
    await client.query('begin');
    const { rows } = await client.query<{ balance: number }>(`select balance from accounts where id = 1${lock}`);
    if ((rows[0]?.balance ?? 0) >= amount)
      await client.query('update accounts set balance = balance - $1 where id = 1', [amount]);
    await client.query('commit');
    await client.end();
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `create table accounts (id int primary key, balance int); insert into accounts values (1, ${balance})`,
    sessions: { alice: withdraw, bob: withdraw },
    invariant: async ({ connect }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const { rows } = await client.query<{ balance: number }>('select balance from accounts');
      await client.end();
      return (rows[0]?.balance ?? 0) >= 0 || 'overdrawn';
    },
  });
}
