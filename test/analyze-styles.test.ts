import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  DummyDriver,
  Kysely,
  type LogEvent,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql as kyselySql,
} from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { programOf, runSnippet, type SentStatement, statementsByUnit, treeOf } from './support/sent-statements.ts';
import { loadParser } from '../src/sql/parse.ts';
import { formatApplication } from '../src/analyze/format-application.ts';
import { applicationFromSource, loadTypeScript } from '../src/analyze/source/index.ts';

const ts = await loadTypeScript();
beforeAll(loadParser);

/** The service of a style as the reader understands it, `$1` written as `?`. */
function serviceIn(style: string, dialect: 'postgres' | 'mysql'): string {
  const folder = fileURLToPath(new URL(`fixtures/analyze-styles/${style}/`, import.meta.url));
  const files = new Map(readdirSync(folder).map((file) => [file, readFileSync(folder + file, 'utf8')]));
  const application = applicationFromSource({ ts, files, schema: '', dialect });
  return formatApplication(application, { places: false }).replaceAll(/\$\d+/g, '?');
}

const service = `unit pay
  transaction pay (repeatable read)
    accounts := SELECT balance FROM accounts WHERE id = ?  [from]
    if (count(accounts) = 0)
      abort
    if (accounts.balance < amount)
      abort
    UPDATE accounts SET balance = ? WHERE id = ?  [(accounts.balance - amount), from]
    accounts3 := UPDATE accounts SET balance = ? WHERE id = ?  [amount, to]
    if (count(accounts3) <> 1)
      abort
    for line of lines
      INSERT INTO lines (item, price) VALUES (?, ?)  [line.item, line.price]
  if (count(accounts) = 0)
    return
  if (accounts.balance < amount)
    return
  if (count(accounts3) <> 1)
    return
  INSERT INTO log (what, at) VALUES (?, ?)  ['paid', ? the time]
unit closeAccount
  accounts := SELECT balance FROM accounts WHERE id = ? FOR UPDATE  [id]
  if (count(accounts) <> 0)
    if ((accounts.balance <= 0) or force)
      DELETE FROM accounts WHERE id = ?  [id]
`;

test.each([
  ['pg', 'postgres'],
  ['postgres', 'postgres'],
  ['mysql2', 'mysql'],
  ['kysely', 'postgres'],
] as const)('the service written with %s', (style, dialect) => {
  expect(serviceIn(style, dialect)).toBe(service);
});

function read(text: string) {
  return applicationFromSource({ ts, files: new Map([['a.ts', text]]), schema: '', dialect: 'postgres' });
}

/** The reader finds in each snippet the statements that the library sends when it runs. */
async function expectSentStatements(
  head: string,
  snippets: readonly string[],
  sent: SentStatement[],
  names: Readonly<Record<string, unknown>>,
): Promise<void> {
  const found = statementsByUnit(read(programOf(head, snippets)));
  const expected: Record<string, unknown> = {};
  for (const [index, snippet] of snippets.entries()) {
    sent.length = 0;
    await runSnippet(snippet, names);
    expect(sent).not.toEqual([]);
    expected[`unit${index}`] = [snippet, ...sent.map(treeOf)];
  }
  const actual = Object.entries(found).map(([unit, statements]) => {
    const snippet = snippets[Number(unit.replace('unit', ''))] ?? unit;
    return [unit, [snippet, ...statements.map(treeOf)]];
  });
  expect(Object.fromEntries(actual)).toEqual(expected);
}

/** What is listed of a program, or the statements of its units. */
function printed(text: string): string {
  return formatApplication(read(text), { places: false });
}

describe('Kysely', () => {
  test('sends the statements that the reader finds', async () => {
    const sent: SentStatement[] = [];
    const db = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (of: Kysely<unknown>) => new PostgresIntrospector(of),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: ({ query }: LogEvent): void => void sent.push(query),
    });
    const snippets = [
      `await db.selectFrom('a').select(['b', 'c as d']).where('id', '=', 1).where('b', 'is', null).limit(5).forUpdate().skipLocked().execute();`,
      `await db.selectFrom('a').selectAll().where((eb) => eb.and([eb('x', '=', 1), eb.or([eb('y', '<', 2), eb('z', 'is', null)])])).execute();`,
      `await db.selectFrom('a').select('b').where((eb) => eb('x', '=', 1).or('y', '!=', 2)).where('id', 'in', [1, 2]).executeTakeFirst();`,
      `await db.selectFrom('a').select('b').where(({ eb, and }) => and({ x: 1, y: 'b' })).orderBy('x', 'desc').orderBy('y').offset(3).execute();`,
      `await db.insertInto('a').values([{ x: 1, y: undefined }, { y: 2 }]).onConflict((oc) => oc.column('x').doUpdateSet((eb) => ({ y: eb.ref('excluded.y'), z: eb('a.z', '+', 1) }))).returningAll().execute();`,
      `await db.insertInto('a').values({ x: 1 }).onConflict((oc) => oc.doNothing()).executeTakeFirst();`,
      `await db.insertInto('a').columns(['x']).expression((eb) => eb.selectFrom('b').select('b.x')).execute();`,
      `await db.updateTable('a').set((eb) => ({ n: eb('n', '+', 1) })).set('z', sql\`now()\`).where('id', '=', 1).executeTakeFirst();`,
      `await db.updateTable('a').set({ n: sql\`n - \${4}\`, q: undefined }).where('id', '=', 3).returning('n').execute();`,
      `await db.deleteFrom('a').where('id', '=', 1).returning(['id', 'x as y']).executeTakeFirst();`,
      `await db.selectFrom('a as q').innerJoin('b', 'b.id', 'q.b_id').leftJoin('c', (j) => j.onRef('c.id', '=', 'q.c').on('c.n', '>', 1)).select(['q.id', (eb) => eb.fn.countAll().as('n')]).groupBy('q.id').having((eb) => eb.fn.count('q.id'), '>', 1).execute();`,
      `await db.selectFrom('a').select((eb) => [eb.fn.sum('x').as('s'), eb.fn.coalesce('y', eb.lit(0)).as('c')]).where((eb) => eb.exists(eb.selectFrom('b').select('b.id').whereRef('b.a', '=', 'a.id'))).where((eb) => eb.not(eb('x', '=', 1))).where((eb) => eb.between('x', 1, 2)).execute();`,
      `await db.with('w', (d) => d.selectFrom('a').selectAll()).selectFrom('w').selectAll().execute();`,
      `await db.selectFrom('a').select('x').union(db.selectFrom('b').select('y')).execute();`,
      `await sql\`SELECT \${sql.ref('b')} FROM \${sql.table('user')} WHERE id IN (\${sql.join([1, 2])})\`.execute(db);`,
    ];
    const head = `import { Kysely, sql } from 'kysely'; const db = new Kysely({});`;
    await expectSentStatements(head, snippets, sent, { db, sql: kyselySql });
  });

  test('differs by path, and lists what the reader does not know', () => {
    const text = printed(`import { Kysely } from 'kysely'; const db = new Kysely({});
      export async function find(name?: string, ids: number[]) {
        let query = db.selectFrom('a').select('b');
        if (name) query = query.where('name', '=', name);
        return query.where('id', 'in', ids).executeTakeFirstOrThrow();
      }
      export async function filter(filters: { column: string; value: string }[]) {
        let query = db.selectFrom('a').select('b');
        for (const { value } of filters) query = query.where('x', '=', value);
        return query.execute();
      }
      export async function unread(row: object) {
        await db.selectFrom('a').fetch(3).execute();
        await db.insertInto('a').values(row).execute();
      }
      function dead() { return db.deleteFrom('a').execute(); }
    `);
    expect(text).toBe(`not understood: no unit reaches this statement: none calls dead
unit find
  if name
    SELECT b FROM a WHERE name = $1 AND id = ANY($2)  [name, ids]
  else
    SELECT b FROM a WHERE id = ANY($1)  [ids]
unit filter
  not understood: the statement is built in a loop
unit unread
  not understood: \`fetch\` of a query of Kysely is not read
  not understood: the rows of INSERT are an argument: row
`);
  });
});
