/** Handles that a module outside the folder makes: known by their use, and by names that the verdict says. */
import { describe, expect, test } from 'vitest';
import { formatApplication } from '../format-application.ts';
import { applicationFromSource } from './index.ts';
import { read, ts } from './read-source.test-support.ts';

describe('handles from outside the folder', () => {
  const steps = 'SELECT balance FROM accounts WHERE id = $1  [id]';
  const body = (tx: string): string => `const [row] = await ${tx}\`SELECT balance FROM accounts WHERE id = \${id}\`;`;
  const client = "const { rows: [row] } = await client.query('SELECT balance FROM accounts WHERE id = $1', [id]);";
  const builder =
    "const row = await tx.selectFrom('accounts').select('balance').where('id', '=', id).executeTakeFirst();";
  test.each<[string, string, string]>([
    ['sql.begin', "import { sql } from '../../lib/db';", `await sql.begin(async (tx) => { ${body('tx')} });`],
    ['a default import', "import sql from '@acme/db';", `await sql.begin(async (tx) => { ${body('tx')} });`],
    [
      'withTransaction',
      "import { withTransaction } from '../db';",
      `await withTransaction(async (client) => { ${client} });`,
    ],
    [
      'transaction().execute of Kysely',
      "import { db } from '../db'; import { sql } from 'kysely';",
      `await db.transaction().execute(async (tx) => { ${builder} });`,
    ],
  ])('%s runs its function in a transaction, which is assumed', (_, imports, code) => {
    const source = `${imports}\nexport async function look(id: number) { ${code} return 1; }`;
    const application = applicationFromSource({
      ts,
      files: new Map([['src/app.ts', source]]),
      schema: '',
      dialect: 'postgres',
    });
    expect(formatApplication(application, { places: false })).toBe(`unit look\n  transaction look\n    ${steps}\n`);
    expect(application.assumed).toEqual([
      expect.stringMatching(/^\S+ runs its function in a transaction, as its name says$/),
    ]);
  });

  test('a message that begins with a word of SQL is none', () => {
    expect(
      read({
        'app.ts':
          "import { cache } from '../cache';\nexport async function f() { await cache.query('update the cache'); }",
      }),
    ).toBe('\n');
  });

  test('a tag that is named sql is one of a driver, which is assumed', () => {
    const source = 'export async function f(c: any, id: number) { await c.sql`${c.sql(id)} UPDATE t SET a = 1`; }';
    const files = new Map([['app.ts', source]]);
    const { assumed } = applicationFromSource({ ts, files, schema: '', dialect: 'postgres' });
    expect(assumed).toEqual(['c.sql is the tag of a SQL driver, as its name says']);
  });
});
