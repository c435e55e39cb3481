/** From recorded statements to the abstract program, by its printed form. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { StatementValue } from '../../trace/statement.ts';
import { loadParser } from '../../sql/index.ts';
import { formatApplication } from '../format-application.ts';
import { applicationFromTraffic, type TrafficApplication } from './application-from-traffic.ts';
import { RanTransactions } from './ran-transactions.ts';

beforeAll(loadParser);

const schema = `
  CREATE TABLE accounts (id int PRIMARY KEY, owner text, balance int NOT NULL);
  CREATE TABLE transfers (id serial PRIMARY KEY, account int REFERENCES accounts, amount int, at timestamptz);`;

interface Sent {
  readonly sql: string;
  readonly parameters?: readonly StatementValue[];
  /** Of the first row; rows of it. */
  readonly row?: Readonly<Record<string, StatementValue>> | null;
  readonly code?: string;
}

/** Transactions by their statements; one without BEGIN is an autocommit statement each. */
function traffic(transactions: readonly (readonly Sent[])[], sameMax?: number): RanTransactions {
  const ran = new RanTransactions(sameMax === undefined ? {} : { sameMax });
  let line = 1;
  for (const [at, statements] of transactions.entries()) {
    for (const { sql, parameters = [], row, code = null } of statements) {
      line += 1;
      const columns = Object.keys(row ?? {});
      const rows = row === null || row === undefined ? [] : [Object.values(row)];
      const result = code === null ? { columns, rows, count: row === undefined ? 1 : rows.length } : null;
      const place = { file: 'run.trace.jsonl', line };
      const of = { session: 's', transaction: `s/${at}`, dialect: 'postgres', isShortened: false } as const;
      ran.take({ ...of, sql, parameters, result, code, place });
    }
  }
  return ran;
}

function inferred(transactions: readonly (readonly Sent[])[]): Promise<TrafficApplication> {
  return applicationFromTraffic(traffic(transactions).finish(), { schema, ownsConstants: false, nameOf: () => null });
}

async function printed(transactions: readonly (readonly Sent[])[]): Promise<string> {
  return formatApplication((await inferred(transactions)).application, { places: false });
}

const begin: Sent = { sql: 'BEGIN' };
const commit: Sent = { sql: 'COMMIT' };
const rollback: Sent = { sql: 'ROLLBACK' };
const read = (id: number, balance: number | null): Sent => ({
  sql: 'SELECT balance FROM accounts WHERE id = $1',
  parameters: [id],
  row: balance === null ? null : { balance },
});
const write = (id: number, balance: number): Sent => ({
  sql: 'UPDATE accounts SET balance = $2 WHERE id = $1',
  parameters: [id, balance],
});
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('values', () => {
  test('an argument that comes again, and a column that is changed by one', async () => {
    const withdrawals = times(6, (i) => [begin, read(i, 100 * i), write(i, 100 * i - 7 * i), commit]);
    expect(await printed(withdrawals)).toBe(`unit SELECT accounts, UPDATE accounts
  transaction SELECT accounts, UPDATE accounts
    accounts := SELECT balance FROM accounts WHERE id = $1  [id]
    UPDATE accounts SET balance = $2 WHERE id = $1  [id, (accounts.balance - balance)]
`);
  });

  test('what a column is changed by is an argument that comes again, and says how many say so', async () => {
    const insert = (id: number, amount: number): Sent => ({
      sql: 'INSERT INTO transfers (account, amount) VALUES ($1, $2)',
      parameters: [id, amount],
    });
    const { application, programs } = await inferred(
      times(6, (i) => [begin, read(i, 50), write(i, 53 + i * i), insert(i, 3 + i * i), commit]),
    );
    expect(formatApplication(application, { places: false })).toContain(
      `UPDATE accounts SET balance = $2 WHERE id = $1  [id, (accounts.balance + balance)]
    INSERT INTO transfers (account, amount) VALUES ($1, $2)  [id, balance]`,
    );
    expect(programs[0]?.inferences.map(({ parameter, basis }) => `${parameter} ${basis}`)).toEqual([
      '$1 6 values, 6 different',
      '$1 equal in 6 of 6',
      '$2 by 6 values, 6 different',
      '$1 equal in 6 of 6',
      '$2 equal in 6 of 6',
    ]);
  });

  test('the key of the next statement is a column of the last; one more is a constant', async () => {
    const next = (i: number): Sent[] => [
      begin,
      {
        sql: 'SELECT id, balance FROM accounts WHERE owner = $1',
        parameters: [`o${i}`],
        row: { id: 40 + i, balance: i },
      },
      write(40 + i, i + 1),
      commit,
    ];
    expect(await printed(times(5, next))).toContain(`
    accounts := SELECT id, balance FROM accounts WHERE owner = $1  [owner]
    UPDATE accounts SET balance = $2 WHERE id = $1  [accounts.id, (accounts.balance + 1)]`);
  });

  test('two values that were equal by accident stay two', async () => {
    const both = (id: number, amount: number): Sent[] => [
      { sql: 'UPDATE accounts SET balance = balance - $1 WHERE id = $2', parameters: [amount, id] },
    ];
    expect(await printed([both(1, 1), both(2, 2)])).toContain('[value, id]');
  });

  test('constants of texts: those that differ are values, those that never do stay', async () => {
    const texts = (id: number, at: string): Sent[] => [
      { sql: `UPDATE accounts SET balance = balance - ${id * 2}, owner = 'x' WHERE id = ${id} /* ${at} */` },
    ];
    expect(await printed(times(6, (i) => texts(i + 1, `a${i}`)))).toBe(`unit UPDATE accounts
  UPDATE accounts SET balance = balance - $1, owner = 'x' WHERE id = $2  [value, id]
`);
  });

  test('a column that takes neither any number nor any text: an example', async () => {
    const at = (i: number): Sent[] => [
      {
        sql: 'INSERT INTO transfers (account, at) VALUES ($1, $2)',
        parameters: [i, `2026-01-0${i + 1}T00:00:00.000Z`],
      },
    ];
    expect(await printed(times(3, at))).toContain(`[account, '2026-01-01T00:00:00.000Z']`);
  });
});

describe('ways', () => {
  test('no row was found: the transaction is left', async () => {
    const found = times(4, (i) => [begin, read(i, 9 * i), write(i, 9 * i + 5 * i), commit]);
    expect(await printed([...found, [begin, read(99, null), rollback]])).toContain(`
    accounts := SELECT balance FROM accounts WHERE id = $1  [id]
    if (count(accounts) = 0)
      abort
    else
      UPDATE accounts`);
  });

  test('what only ends earlier is a way of the same program; nothing says when', async () => {
    const paid = times(4, (i) => [begin, read(i, 50 + i), write(i, 40 + i * i), commit]);
    expect(await printed([...paid, [begin, read(7, 52), commit]])).toContain(`
    if leaves
      return
    else
      UPDATE accounts`);
  });

  test('other statements for no reason that was seen: programs of their own', async () => {
    const other: Sent = { sql: 'DELETE FROM transfers WHERE account = $1', parameters: [3] };
    const text = await printed([
      [begin, read(1, 5), write(1, 6), commit],
      [begin, read(3, 5), other, commit],
    ]);
    expect(text.match(/^unit .*/gm)).toEqual([
      'unit SELECT accounts, UPDATE accounts',
      'unit SELECT accounts, DELETE transfers',
    ]);
  });

  test('what is repeated another number of times is a loop; two updates each time are two', async () => {
    const line = (i: number): Sent => ({
      sql: 'INSERT INTO transfers (account, amount) VALUES ($1, $2)',
      parameters: [i, 3 * i],
    });
    const move = (i: number): Sent[] => [begin, write(i, i), write(i + 1, i), ...times(i, line), commit];
    expect(await printed([move(1), move(3), move(2)])).toBe(`unit UPDATE accounts, INSERT transfers
  transaction UPDATE accounts, INSERT transfers
    UPDATE accounts SET balance = $2 WHERE id = $1  [id, balance]
    UPDATE accounts SET balance = $2 WHERE id = $1  [id2, balance]
    for item of items
      INSERT INTO transfers (account, amount) VALUES ($1, $2)  [item.account, item.amount]
`);
  });

  test('SET TRANSACTION behind a statement, which the server refuses, is no level, and the transaction rolls back', async () => {
    const refused: Sent = { sql: 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', code: '25001' };
    const { transactions } = traffic([[begin, read(1, 5), refused, commit]]).finish();
    expect(transactions).toMatchObject([{ level: null, end: 'abort' }]);
  });

  test('levels by BEGIN, SET TRANSACTION and the session; savepoints', async () => {
    const set: Sent = { sql: "SET default_transaction_isolation TO 'serializable'" };
    const text = await printed([
      [{ sql: 'BEGIN ISOLATION LEVEL REPEATABLE READ' }, read(1, 5), commit],
      [begin, { sql: 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE' }, write(1, 5), commit],
      [set],
      [begin, { sql: 'SAVEPOINT typeorm_7' }, write(1, 5), { sql: 'ROLLBACK TO typeorm_7' }, read(1, 5), commit],
    ]);
    expect(text).toContain('transaction SELECT accounts (repeatable read)');
    expect(text).toContain('transaction UPDATE accounts (serializable)');
    expect(text).toMatch(/\(serializable\)\n {4}savepoint s1\n {4}UPDATE.*\n {4}rollback to savepoint s1\n {4}SELECT/);
  });
});

test('MySQL: SET TRANSACTION is of the next transaction of its session, and of no other', () => {
  const ran = new RanTransactions();
  const take = (transaction: string | null, sql: string, code: string | null = null): void => {
    const result = code === null ? { columns: [], rows: [], count: 1 } : null;
    const of = {
      session: 's',
      dialect: 'mysql',
      parameters: [],
      isShortened: false,
      place: { file: 'a', line: 1 },
    } as const;
    ran.take({ ...of, transaction, sql, code, result });
  };
  const run = (id: string, ...inside: readonly (() => void)[]): void => {
    take(id, 'START TRANSACTION');
    inside.forEach((each) => each());
    take(id, 'UPDATE accounts SET balance = 1 WHERE id = 1');
    take(id, 'COMMIT');
  };
  const set = 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE';
  run('s/1');
  take(null, set);
  run('s/2');
  run('s/3', () => take('s/3', set, '1568'));
  take(null, set);
  take('s/4', 'UPDATE accounts SET balance = 1 WHERE id = 1');
  take(null, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  run('s/5');
  run('s/6');
  expect(ran.finish().transactions.map(({ level }) => level)).toEqual([
    null,
    'serializable',
    null,
    'serializable',
    'read committed',
    'read committed',
  ]);
});

describe('what is left out, or listed', () => {
  test('refused by the server, definitions, SELECT 1; cut off as others began, or as none did', async () => {
    const { application, counts, cut } = await inferred([
      [{ sql: 'CREATE TABLE x (id int)' }],
      [{ sql: 'SELECT 1', row: { '?column?': 1 } }],
      [begin, read(1, 5), write(1, 6), commit],
      [begin, read(1, 5), { ...write(1, 6), code: '40001' }, rollback],
      [begin, read(2, 5)],
      [begin, write(2, 5)],
    ]);
    expect(application.units.map(({ name }) => name)).toEqual(['SELECT accounts, UPDATE accounts']);
    expect([counts.refused, counts.ddl, cut]).toEqual([1, 1, 1]);
    expect(application.notUnderstood).toMatchObject([
      { place: { file: 'run.trace.jsonl', line: 14 }, reason: 'the trace ends before this transaction does' },
    ]);
  });

  test('of many transactions that sent the same, the first ones are kept', async () => {
    const same = times(9, (i) => [begin, read(i, 5), commit]);
    const found = traffic([...same, [begin, read(1, 5), write(1, 6), commit]], 4).finish();
    expect([found.transactions.length, found.counts.repeated]).toEqual([5, 5]);
    const { application } = await applicationFromTraffic(found, { schema, ownsConstants: false, nameOf: () => null });
    expect(application.covered?.[0]).toContain('the 10 transactions that were recorded are all that run');
  });

  test('of transactions that continue in many ways, the most frequent are followed and the others listed', async () => {
    const ways = times(5, (i) => [begin, read(i, 5), ...times(i, (j) => write(j, i)), read(i, 5), commit]);
    const found = traffic([...ways, ...ways.slice(0, 2)]).finish();
    const options = { schema, ownsConstants: false, nameOf: () => null, waysMax: 2 };
    const { application, programs } = await applicationFromTraffic(found, options);
    expect(programs.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(4);
    expect(application.notUnderstood.map(({ reason }) => reason)).toEqual([
      '3 transactions that begin so continue in more ways than are followed',
    ]);
  });
});
