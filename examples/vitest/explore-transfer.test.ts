/** Every timing of a SQL program as an ordinary test: a proof for this program, or the failures with what was sent. */
import { type SqlConnection, sqlProgram } from 'moirai';
import { exploreSql, formatSqlExploration, parseProfile } from 'moirai/sql';
import pg from 'pg';
import { expect, test } from 'vitest';
import transfer from '../sql-transfer.ts';

/** Looks and takes in one statement. */
async function withdraw({ connect }: SqlConnection, amount: number): Promise<void> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  await client.query('BEGIN');
  const { rowCount } = await client.query('UPDATE accounts SET balance = balance - $1 WHERE id = 1 AND balance >= $1', [
    amount,
  ]);
  if (rowCount === 1) await client.query('INSERT INTO withdrawals (amount) VALUES ($1)', [amount]);
  await client.query('COMMIT');
  await client.end();
}

const mended = sqlProgram({
  ...transfer,
  sessions: { alice: (connection) => withdraw(connection, 70), bob: (connection) => withdraw(connection, 50) },
});

const profile = parseProfile({ engine: 'postgres', isolation: 'read committed' });

test('one statement for both: no timing loses money', async () => {
  const result = await exploreSql(mended, { profile });
  // A failure shows every kind of violation with what was sent.
  expect(formatSqlExploration(result)).toMatch(/^all \d+ schedules satisfy the invariant/);
});

test('looking before: every way in which money is lost', async () => {
  const { complete, failures } = await exploreSql(transfer, { profile });
  expect(complete).toBe(true);
  expect(failures.map(({ message }) => message).toSorted()).toEqual([
    '120 was taken and 30 is left of 100',
    '120 was taken and 50 is left of 100',
  ]);
});
