/** Statements that ran as the source of `moirai analyze`: SQL programs whose sessions run alone, and recorded traces. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type SqlConnection, sqlProgram } from '../src/program/index.ts';
import { readFileSync } from 'node:fs';
import { root, runHere } from './support/cli.ts';
import { recordedTraffic } from './support/recorded-traffic.ts';

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

interface Analyzed {
  readonly code: number | null;
  /** Of each transaction that is about rows: its level, the weakest safe one, and what to change; sorted. */
  readonly levels: readonly string[];
  readonly anomalies: readonly string[];
}

/** What the table says without names and places: of source and of its recorded traffic it is the same. */
async function analyzed(args: readonly string[], files: Readonly<Record<string, string>>): Promise<Analyzed> {
  const { code, out, err } = await runHere(['analyze', ...args, '--schema', 'schema.sql', '--json'], files);
  if (err !== '') throw new Error(err);
  const { transactions, anomalies } = JSON.parse(out) as {
    readonly transactions: readonly {
      readonly level: string;
      readonly weakest: string;
      readonly change: string | null;
    }[];
    readonly anomalies: readonly {
      readonly name: string;
      readonly status: string;
      readonly fix: { readonly text: string };
    }[];
  };
  const withoutPlace = (text: string | null): string => (text ?? '-').replaceAll(/ at [\w./-]+:\d+/g, '');
  return {
    code,
    levels: transactions
      .map(({ level, weakest, change }) => `${level}: ${weakest}, ${withoutPlace(change)}`)
      .toSorted(),
    anomalies: anomalies.map(({ name, status, fix }) => `${name} ${status}: ${withoutPlace(fix.text)}`).toSorted(),
  };
}

const example = (file: string): string => readFileSync(`${root}/examples/analyze/${file}`, 'utf8');

describe('recorded traffic', () => {
  const header = '{"moirai":"trace","version":1,"marks":true}\n';
  test('of an application says what its source says', async () => {
    const files = {
      'schema.sql': example('deposit/schema.sql'),
      'src/accounts.ts': example('deposit/src/accounts.ts'),
      'src/database.ts': example('deposit/src/database.ts'),
    };
    const setUp = [files['schema.sql'], 'INSERT INTO accounts VALUES (1, 100), (2, 7)'];
    const trace = await recordedTraffic(setUp, async () => {
      const { deposit, balance } = await import('../examples/analyze/deposit/src/accounts.ts');
      const { pool } = await import('../examples/analyze/deposit/src/database.ts');
      for (const id of [1, 2, 1]) await deposit(id, 10 * id + ((await balance(id)) ?? 0));
      await deposit(3, 5).catch(() => undefined);
      await pool.end();
    });
    const ofTrace = await analyzed(['run.trace.jsonl'], { ...files, 'run.trace.jsonl': trace });
    expect(ofTrace).toEqual(await analyzed(['src'], files));
    expect(ofTrace.anomalies).toEqual(['lost-update confirmed: FOR UPDATE']);
    const idle = `${header}{"moirai":"mark","time":null}\n`;
    for (const traces of [['run.trace.jsonl'], ['run.trace.jsonl', 'idle.trace.jsonl']]) {
      const args = ['verify', ...traces, '--engine', 'postgres', '--isolation', 'read committed'];
      const { out } = await runHere(args, { 'run.trace.jsonl': trace, 'idle.trace.jsonl': idle });
      expect(out).toMatch(/^satisfied/);
    }
  });

  test.each([
    ['no trace at all', 'hello\n', 'run.trace.jsonl:1:1: '],
    ['no statements', header, 'the trace has no statements: record it with moirai record --statements'],
    [
      'a statement that is none',
      `${header}{"moirai":"statement","session":"1","dialect":"oracle","sql":"x"}\n`,
      'run.trace.jsonl:2: a statement has no such dialect: "oracle"',
    ],
  ])('%s: bad input, one message', async (_what, trace, message) => {
    const { code, out, err } = await runHere(['analyze', 'run.trace.jsonl', '--schema', 'schema.sql'], {
      'run.trace.jsonl': trace,
      'schema.sql': schema,
    });
    expect([code, out, err.trim().split('\n').length]).toEqual([3, '', 1]);
    expect(err).toContain(message);
  });

  test('without a schema: bad input', async () => {
    const { code, err } = await runHere(['analyze', 'run.trace.jsonl'], { 'run.trace.jsonl': header });
    expect([code, err]).toEqual([3, expect.stringContaining('a trace needs the schema of its database')]);
  });
});
