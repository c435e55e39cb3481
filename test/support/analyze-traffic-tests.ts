/**
 * Statements that ran as the source of `moirai analyze`: SQL programs whose sessions run alone (docs/analyze.md has one that does not fail), and recorded traces. For `test/cli/analyze.test.ts`: a file of its own
 * would load everything once more.
 */
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type * as Customers from '../../examples/analyze/shop/src/customers.ts';
import type * as Database from '../../examples/analyze/shop/src/database.ts';
import type * as Orders from '../../examples/analyze/shop/src/orders.ts';
import type * as Reports from '../../examples/analyze/shop/src/reports.ts';
import { seeded } from '../../src/base/index.ts';
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import type { Dialect } from '../../src/sql/model/index.ts';
import { root, runHere } from './cli.ts';
import { recordedTraffic } from './recorded-traffic.ts';
import { recordedStyle, serviceSchema, styles } from './recorded-styles.ts';

const schema = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)';

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
      readonly name: string;
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
  const withoutPlace = (text: string | null): string =>
    transactions
      .toSorted((a, b) => b.name.length - a.name.length)
      .reduce((all, { name }) => all.replaceAll(`${name} at`, 'one at'), text ?? '-')
      .replaceAll(/ at [\w./-]+:\d+/g, '');
  return {
    code,
    levels: transactions
      .map(({ level, weakest, change }) => `${level}: ${weakest}, ${withoutPlace(change)}`)
      .toSorted(),
    anomalies: anomalies.map(({ name, status, fix }) => `${name} ${status}: ${withoutPlace(fix.text)}`).toSorted(),
  };
}

const example = (file: string): string => readFileSync(`${root}/examples/analyze/${file}`, 'utf8');

export function trafficTests(): void {
  describe('a SQL program', () => {
    const session =
      (run: (client: pg.Client) => Promise<unknown>) =>
      async ({ connect }: SqlConnection): Promise<void> => {
        const client = new pg.Client({ user: 'app', stream: connect });
        await client.connect();
        await run(client);
        await client.end();
      };
    const program = (sessions: Parameters<typeof sqlProgram>[0]['sessions']) =>
      sqlProgram({ dialect: 'postgres', schema: `${schema}; INSERT INTO accounts VALUES (1, 100), (2, 50)`, sessions });

    test('a session that fails when it runs alone: bad input', async () => {
      const sessions = { alice: session((client) => client.query('SELECT * FROM nowhere')) };
      expect(await runHere(['analyze', 'bank.ts'], { 'bank.ts': program(sessions) })).toMatchObject({
        code: 3,
        err: expect.stringContaining('session "alice" fails when it runs alone: relation "nowhere" does not exist'),
      });
    });
  });

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
        const { deposit, balance } = await import('../../examples/analyze/deposit/src/accounts.ts');
        const { pool } = await import('../../examples/analyze/deposit/src/database.ts');
        for (const id of [1, 2, 1]) await deposit(id, 10 * id + ((await balance(id)) ?? 0));
        await deposit(3, 5).catch(() => undefined);
        await pool.end();
      });
      // Where it is robust nothing is explored.
      const level = ['--isolation', 'repeatable read'];
      const ofTrace = await analyzed(['run.trace.jsonl', ...level], { ...files, 'run.trace.jsonl': trace });
      expect(ofTrace).toEqual(await analyzed(['src', ...level], files));
      expect(ofTrace.levels).toEqual(['autocommit: read committed, -', 'repeatable read: repeatable read, -']);
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

  describe('one service with loops and ways to leave, in each style: its trace says what its source says', () => {
    async function expectSameTable(
      { style, dialect, trace }: { readonly style: string; readonly dialect: Dialect; readonly trace: string },
      change: (text: string) => string = (text) => text,
    ): Promise<void> {
      const folder = `${root}/test/fixtures/analyze-styles/${style}`;
      const source = readdirSync(folder).map((file) => [
        `src/${file}`,
        change(readFileSync(`${folder}/${file}`, 'utf8')),
      ]);
      const files = {
        ...(Object.fromEntries(source) as Readonly<Record<string, string>>),
        'schema.sql': serviceSchema(dialect),
        'run.trace.jsonl': change(trace),
      };
      const ofTrace = await analyzed(['run.trace.jsonl'], files);
      // Only the source says which transactions are of one unit: a payment between the look at a balance and the removal of its account is lost.
      const { levels, anomalies, ...ofSource } = await analyzed(['src', '--engine', dialect], files);
      // And by which call of a library a statement with a lock is sent.
      const withoutCall = (text: string): string => text.replace(/ by \$\w+/, '');
      expect({ ...ofTrace, code: 1 }).toEqual({
        ...ofSource,
        levels: levels.map(withoutCall),
        anomalies: anomalies.map(withoutCall),
      });
      expect(ofTrace.levels.length).toBe(4);
    }

    /** The service names repeatable read, at which it is robust on PostgreSQL: at this level anomalies and changes are compared, too. */
    const atReadCommitted = (text: string): string =>
      text
        .replaceAll('RepeatableRead', 'ReadCommitted')
        .replaceAll(/REPEATABLE([ _])READ/g, 'READ$1COMMITTED')
        .replaceAll('repeatable read', 'read committed');

    test.runIf(process.env['MOIRAI_HEAVY'] === '1').each(Object.entries(styles))(
      '%s, through the proxy in front of a real server',
      async (style, driver) => {
        const recorded = { style, dialect: driver.dialect, trace: await recordedStyle(style, driver) };
        await expectSameTable(recorded);
        await expectSameTable(recorded, atReadCommitted);
      },
    );

    test('Prisma 7.10, recorded in front of PostgreSQL 15 and kept: its client is generated', async () => {
      const trace = readFileSync(`${root}/test/fixtures/analyze-styles/prisma.trace.jsonl`, 'utf8');
      await expectSameTable({ style: 'prisma', dialect: 'postgres', trace }, atReadCommitted);
    });
  });

  describe.runIf(process.env['MOIRAI_HEAVY'] === '1')('examples/analyze/shop', () => {
    const sourceOf = (folder: string): Readonly<Record<string, string>> => ({
      'schema.sql': example('shop/schema.sql'),
      ...Object.fromEntries(
        ['customers.ts', 'database.ts', 'orders.ts', 'reports.ts'].map((file) => [
          `src/${file}`,
          example(`shop/${folder}/${file}`),
        ]),
      ),
    });

    async function traced(folder: 'src' | 'fixed'): Promise<string> {
      const rows = Array.from(
        { length: 20 },
        (_, i) => `INSERT INTO products VALUES (${i}, 'p', ${i}, 1000); INSERT INTO customers VALUES (${i}, 'c', 200);
        INSERT INTO points VALUES (${i}, 100); INSERT INTO totals VALUES (${i}, 0); INSERT INTO revenues VALUES (${i}, 0)`,
      );
      const chooser = seeded(1);
      const draw = (below: number): number => chooser.choose(below);
      return recordedTraffic([example('shop/schema.sql'), ...rows], async () => {
        const from = `../../examples/analyze/shop/${folder}`;
        const { pool } = (await import(`${from}/database.ts`)) as typeof Database;
        const customers = (await import(`${from}/customers.ts`)) as typeof Customers;
        const orders = (await import(`${from}/orders.ts`)) as typeof Orders;
        const reports = (await import(`${from}/reports.ts`)) as typeof Reports;
        const endpoints = [
          () => orders.showProduct(draw(20)),
          () => orders.restock(draw(20), 1 + draw(60)),
          () => orders.placeOrder(draw(20), draw(20), 1 + draw(60)),
          () => orders.listOrders(draw(22)),
          () => customers.pay(draw(22), 1 + draw(60)),
          () => customers.redeem(draw(22), 1 + draw(60)),
          () => reports.recordSale(draw(20), 1 + draw(60)),
          () => reports.report(draw(20)),
        ];
        for (let request = 0; request < 500; request += 1) await endpoints[draw(8)]?.().catch(() => undefined);
        await pool.end();
      });
    }

    test('three anomalies, from source and from 500 requests', { timeout: 120_000 }, async () => {
      const files = { ...sourceOf('src'), 'run.trace.jsonl': await traced('src') };
      const ofTrace = await analyzed(['run.trace.jsonl'], files);
      expect(ofTrace).toEqual(await analyzed(['src'], files));
      expect(ofTrace.anomalies.map((text) => text.split(':')[0])).toEqual([
        'lost-update confirmed',
        'read-skew confirmed',
        'write-skew confirmed',
      ]);
    });

    test('the fixed one is robust, from source and from 500 requests', { timeout: 120_000 }, async () => {
      const files = { ...sourceOf('fixed'), 'run.trace.jsonl': await traced('fixed') };
      const ofTrace = await analyzed(['run.trace.jsonl'], files);
      expect(ofTrace).toEqual(await analyzed(['src'], files));
      expect(ofTrace).toMatchObject({ code: 0, anomalies: [] });
    });
  });
}
