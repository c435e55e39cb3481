/** Statements that ran as the source of `moirai analyze`: SQL programs whose sessions run alone, and recorded traces. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type SqlConnection, sqlProgram } from '../src/program/index.ts';
import { runHere } from './support/cli.ts';

const schema = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)';

describe('a SQL program', () => {
  const session =
    (run: (client: pg.Client) => Promise<unknown>) =>
    async ({ connect }: SqlConnection): Promise<void> => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      await run(client);
      await client.end();
    };
  const withdraw = (id: number, amount: number) =>
    session(async (client) => {
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT balance FROM accounts WHERE id = $1', [id]);
      const { balance } = rows[0] as { balance: number };
      await client.query('UPDATE accounts SET balance = $2 WHERE id = $1', [id, balance - amount]);
      await client.query('COMMIT');
    });
  const program = (sessions: Parameters<typeof sqlProgram>[0]['sessions']) =>
    sqlProgram({ dialect: 'postgres', schema: `${schema}; INSERT INTO accounts VALUES (1, 100), (2, 50)`, sessions });

  test('each session alone: what they have in common is one program, at the lines that sent it', async () => {
    const sessions = {
      alice: withdraw(1, 70),
      bob: withdraw(2, 5),
      clock: session((client) => client.query('SELECT 1')),
    };
    const { code, out } = await runHere(['analyze', 'bank.ts'], { 'bank.ts': program(sessions) });
    expect(code).toBe(1);
    expect(out).toMatch(/^1 transaction in 1 unit\n/);
    expect(out).toMatch(
      /\nalice, bob {3}test\/analyze-traffic\.test\.ts:(\d+) {2}read committed {2}repeatable read {5}FOR UPDATE at test\/analyze-traffic\.test\.ts:\d+; then read committed\n\n1\. lost-update: alice, bob with itself\n/,
    );
    expect(out).toContain('\ninferred from 2 transactions, 9 statements\n  alice, bob: 2 transactions\n');
    expect(out).toMatch(/\n {6}\$1 is id: equal in 2 of 2\n {6}\$2 is \(accounts\.balance - balance\): by 2 values/);
  });

  test('a session that fails when it runs alone: bad input', async () => {
    const sessions = { alice: session((client) => client.query('SELECT * FROM nowhere')) };
    expect(await runHere(['analyze', 'bank.ts'], { 'bank.ts': program(sessions) })).toMatchObject({
      code: 3,
      err: expect.stringContaining('session "alice" fails when it runs alone: relation "nowhere" does not exist'),
    });
  });
});
