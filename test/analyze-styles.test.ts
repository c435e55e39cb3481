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
import * as kyselyHelpers from 'kysely/helpers/postgres';
import * as operators from 'drizzle-orm';
import * as core from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import makeKnex from 'knex';
import { DataTypes, literal, Op, Sequelize } from 'sequelize';
import { DataSource, EntitySchema, In, IsNull, MoreThan, Not } from 'typeorm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  meaningOf,
  programOf,
  runSnippet,
  type SentStatement,
  statementsByUnit,
  treeOf,
} from './support/sent-statements.ts';
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
      INSERT INTO order_lines (item, price) VALUES (?, ?)  [line.item, line.price]
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
  ['knex', 'postgres'],
  ['drizzle', 'postgres'],
  ['prisma', 'postgres'],
  ['sequelize', 'postgres'],
  ['typeorm', 'postgres'],
] as const)('the service written with %s', (style, dialect) => {
  expect(serviceIn(style, dialect)).toBe(service);
});

function read(text: string, file = 'a.ts', others: Readonly<Record<string, string>> = {}) {
  const files = new Map([[file, text], ...Object.entries(others)]);
  return applicationFromSource({ ts, files, schema: '', dialect: 'postgres' });
}

/** The reader finds in each snippet the statements that the library sends when it runs. */
async function expectSentStatements(
  head: string,
  snippets: readonly string[],
  sent: SentStatement[],
  names: Readonly<Record<string, unknown>>,
  formOf: (statement: SentStatement) => string = treeOf,
): Promise<void> {
  const found = statementsByUnit(read(programOf(head, snippets)));
  const expected: Record<string, unknown> = {};
  for (const [index, snippet] of snippets.entries()) {
    sent.length = 0;
    await runSnippet(snippet, names);
    expect(sent).not.toEqual([]);
    expected[`unit${index}`] = [snippet, ...sent.map(formOf)];
  }
  const actual = Object.entries(found).map(([unit, statements]) => {
    const snippet = snippets[Number(unit.replace('unit', ''))] ?? unit;
    return [unit, [snippet, ...statements.map(formOf)]];
  });
  expect(Object.fromEntries(actual)).toEqual(expected);
}

/** What is listed of a program, or the statements of its units. */
function printed(text: string, file = 'a.ts', others: Readonly<Record<string, string>> = {}): string {
  return formatApplication(read(text, file, others), { places: false });
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
      `await db.selectFrom('a').select((eb) => ['a.id', jsonObjectFrom(eb.selectFrom('b').select(['b.id', 'b.x']).whereRef('b.id', '=', 'a.b')).as('one'), jsonArrayFrom(eb.selectFrom('c').select('c.id').where('c.n', '>', 1).orderBy('c.id')).as('all')]).where('a.id', '=', 2).executeTakeFirst();`,
      `await db.selectFrom('a').select((eb) => jsonBuildObject({ id: eb.ref('a.id'), half: sql\`n / \${2}\` }).as('both')).execute();`,
      `await db.selectFrom('a').select((eb) => [eb.case().when('n', '>', 0).then('some').when(eb('n', 'is', null)).then(eb.ref('m')).else('none').end().as('much'), eb.case('n').when(1).then(eb.lit(true)).end().as('one')]).execute();`,
      `await sql\`SELECT \${sql.ref('b')} FROM \${sql.table('user')} WHERE id IN (\${sql.join([1, 2])})\`.execute(db);`,
    ];
    const head = `import { Kysely, sql } from 'kysely'; import { jsonArrayFrom, jsonBuildObject, jsonObjectFrom } from 'kysely/helpers/postgres';
      const db = new Kysely({});`;
    await expectSentStatements(head, snippets, sent, { db, sql: kyselySql, ...kyselyHelpers });
  });

  test('a literal of an argument has the value that is bound', () => {
    const text = printed(`import { Kysely, sql } from 'kysely'; const db = new Kysely({});
      export const mark = (on: boolean) => db.updateTable('a').set((eb) => ({ on: eb.lit(on), off: sql\`NOT \${sql.lit(on)}\` })).execute();`);
    expect(text).toBe('unit mark\n  UPDATE a SET "on" = $1, off = NOT $2  [on, on]\n');
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

describe('Knex', () => {
  test('sends the statements that the reader finds', async () => {
    const sent: SentStatement[] = [];
    const snippets = [
      `await knex('a').where({ x: 1, y: null }).first('b');`,
      `await knex('a').where('x', 1).andWhere('y', '>', 2).orWhere('z', null).select('b', 'c as d');`,
      `await knex('a').where((q) => q.where('x', 1).orWhere('y', 2)).whereIn('id', [1, 2]).whereNull('k').whereNot('l', 3).whereNotNull('m').whereBetween('n', [1, 2]).orderBy('x', 'desc').limit(3).offset(2).forUpdate().skipLocked();`,
      `await knex('a').insert({ x: 1, y: 2 }).onConflict('x').merge().returning('*');`,
      `await knex('a').insert([{ x: 1 }, { y: 2 }]);`,
      `await knex('a').insert({ x: 1, y: 2 }).onConflict(['x']).merge(['y']);`,
      `await knex('a').insert({ x: 1, y: 2 }).onConflict(['x']).ignore();`,
      `await knex('a').insert({ x: 1, y: 2 }).onConflict('x').merge({ y: 5 }).where('a.y', '<', 3);`,
      `await knex('a').insert({ x: 1 }, ['id', 'x']);`,
      `await knex('a').where({ id: 1 }).update({ x: 2, y: undefined, z: knex.raw('z + ?', [3]) });`,
      `await knex('a').where({ id: 1 }).update('x', 5);`,
      `await knex('a').where({ id: 1 }).increment('x', 5);`,
      `await knex('a').where({ id: 1 }).decrement({ x: 5, y: 1 });`,
      `await knex('a').where({ id: 1 }).delete(['id']);`,
      `await knex('a').count('* as n').where({ id: 1 }).first();`,
      `await knex('a').sum('x as s').max('y').groupBy('z').having('x', '>', 1);`,
      `await knex('a as q').join('b', 'b.id', 'q.b').leftJoin('c', (j) => j.on('c.id', '=', 'q.c').andOn('c.d', 'q.d')).select('q.*', knex.raw('count(*) as n'));`,
      `await knex.raw('select * from a where id = ? and ?? = ?', [1, 'x', 2]);`,
      `await knex.raw('select * from a where id = :id and :c: = 1', { id: 1, c: 'x' });`,
      `await knex.select('*').from('a').whereExists(knex('b').whereRaw('b.a = a.id and b.c = ?', [1]));`,
      `await knex('a').whereIn('id', knex('b').select('a')).pluck('x');`,
      `await knex('a').insert(knex('b').select('x'));`,
      `await knex('a').distinct('x').whereILike('n', 'x%').whereRaw('lower(n) = ?', ['a']);`,
      `await knex.with('w', knex('a').select('x')).select('*').from('w');`,
      `await knex.insert({ x: 1 }).into('a');`,
      `await knex('a').union([knex('b')]);`,
      `await knex('a').whereNot({ x: 1, y: 2 }).select(1).groupBy(1);`,
      `await knex('a').join(knex.ref('b').as('c'), 'c.a', 'a.id').select(knex.ref('c.x').as('d'), knex.raw('1 as e'));`,
      `await knex.select('x').from(function () { this.select('x').from('a').as('b'); });`,
      `await knex('a').select({ b: 'c' }).modify((q) => { q.where('r', 1); }).forShare().noWait();`,
      `const q = knex('a').where('x', 1); q.where(function () { this.where('y', 2).orWhereIn('z', [1]); }); await q.clone().select('b'); await q;`,
    ];
    const knex = makeKnex({ client: 'pg' });
    Object.assign(knex.client, {
      acquireConnection: () => Promise.resolve({}),
      releaseConnection: () => Promise.resolve(),
      _query: (_: unknown, query: { sql: string; bindings: unknown[] }) => {
        sent.push({ sql: query.sql, parameters: query.bindings });
        return Promise.resolve(query);
      },
      processResponse: () => [],
    });
    await expectSentStatements(
      `import * as operators from 'drizzle-orm';
import * as core from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import makeKnex from 'knex'; const knex = makeKnex({});`,
      snippets,
      sent,
      { knex },
    );
  });

  test('follows transactions, and lists what the reader does not know', () => {
    const text = printed(
      `const knex = require('knex')({});
      exports.move = async (id) => {
        const trx = await knex.transaction({ isolationLevel: 'serializable' });
        try {
          const row = await trx('a').where({ id }).forUpdate().first();
          await knex('b').insert({ id }).transacting(trx);
          await trx.commit();
          return row.n;
        } catch (error) { await trx.rollback(); throw error; }
      };
      exports.unread = async (filters, row) => {
        const query = knex('a');
        for (const { column, value } of filters) query.where(column, value);
        await query;
        await knex('a').insert(row);
        await knex.batchInsert('a', [row]);
      };
    `,
      'a.js',
    );
    expect(text).toBe(`unit move
  transaction move (serializable)
    SELECT * FROM a WHERE id = $1 LIMIT $2 FOR UPDATE  [id, 1]
    INSERT INTO b (id) VALUES ($1)  [id]
unit unread
  not understood: the statement is built in a loop
  not understood: the rows of INSERT are an argument: row
  not understood: \`batchInsert\` of Knex is not read
`);
  });
});

describe('Drizzle', () => {
  const tables = `
    const users = pgTable('users', { id: serial('id').primaryKey(), fullName: text('full_name'), age: integer().default(3), at: timestamp('at').defaultNow() });
    const posts = pgTable('posts', (t) => ({ id: t.serial('id').primaryKey(), ownerId: t.integer('owner_id'), title: t.text('title') }));`;

  test('sends the statements that the reader finds', async () => {
    const sent: SentStatement[] = [];
    const schema = (await runSnippet(`${tables} return { users, posts };`, { ...core })) as Record<
      string,
      core.PgTable
    >;
    const db = drizzle(
      (sql, parameters) => {
        sent.push({ sql, parameters });
        return Promise.resolve({ rows: [[1]] });
      },
      { schema },
    );
    const snippets = [
      `await db.select().from(users).where(and(eq(users.id, 1), undefined, or(gt(users.age, 2), isNull(users.fullName))));`,
      `await db.select({ id: users.id, n: sql\`count(*)\`, c: count() }).from(users).innerJoin(posts, eq(posts.ownerId, users.id)).groupBy(users.id).orderBy(desc(users.id)).limit(2).offset(1);`,
      `await db.select({ x: users.fullName }).from(users).where(eq(users.id, 1)).for('update', { skipLocked: true });`,
      `await db.select().from(users).leftJoin(posts, eq(posts.ownerId, users.id));`,
      `await db.insert(users).values({ fullName: 'a' });`,
      `await db.insert(users).values([{ fullName: 'a' }, { age: 2 }]).returning();`,
      `await db.insert(posts).values({ id: 1, title: 'q' }).onConflictDoUpdate({ target: posts.id, set: { title: sql\`excluded.title\`, ownerId: sql\`\${posts.ownerId} + 1\` } }).returning({ a: posts.ownerId });`,
      `await db.insert(posts).values({ id: 1 }).onConflictDoNothing();`,
      `await db.update(users).set({ age: sql\`\${users.age} + \${1}\`, fullName: undefined }).where(eq(users.id, 1));`,
      `await db.update(posts).set({ title: 'a' }).where(and(eq(posts.id, 1), ne(posts.ownerId, 2))).returning();`,
      `await db.delete(posts).where(inArray(posts.id, [1, 2])).returning({ id: posts.id });`,
      `await db.execute(sql\`select * from \${users} where \${users.id} = \${1}\`);`,
      `await db.query.users.findFirst({ where: eq(users.id, 1) });`,
      `await db.query.posts.findMany({ columns: { id: true }, where: (p, { eq }) => eq(p.ownerId, 1), orderBy: [desc(posts.id)], limit: 3 });`,
      `await db.select({ id: users.id }).from(users).where(exists(db.select().from(posts).where(eq(posts.ownerId, users.id))));`,
      `await db.select({ total: sum(posts.ownerId) }).from(posts).where(between(posts.id, 1, 2));`,
      `await db.selectDistinct({ t: posts.title }).from(posts).where(not(eq(posts.id, 4))).orderBy(asc(posts.id), posts.title);`,
      `const recent = db.$with('recent').as(db.select({ id: posts.id }).from(posts)); await db.with(recent).select({ id: recent.id }).from(recent);`,
    ];
    const head = `import { and, asc, between, count, desc, eq, exists, gt, inArray, isNull, ne, not, or, sql, sum } from 'drizzle-orm';
      import { integer, pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core'; import { drizzle } from 'drizzle-orm/node-postgres';
      ${tables} const db = drizzle({ schema: { users, posts } });`;
    await expectSentStatements(head, snippets, sent, { ...operators, ...schema, db }, meaningOf);
  });

  test('differs by path, and lists what the reader does not know', () => {
    const text = printed(`import { and, eq } from 'drizzle-orm'; import { drizzle } from 'drizzle-orm/node-postgres';
      import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
      const users = pgTable('users', { id: integer('id'), name: text('user_name'), changed: timestamp('changed').$onUpdate(() => new Date()) });
      const db = drizzle({ schema: { users } });
      export async function find(id: number, name?: string) {
        const [row] = await db.select({ id: users.id }).from(users).where(and(eq(users.id, id), name ? eq(users.name, name) : undefined));
        return row;
      }
      export const remove = (id: number) => db.delete(users).where(eq(users.id, id));
      export async function rename(id: number, name: string) {
        await db.update(users).set({ name }).where(eq(users.id, id));
      }
      export async function unread(row: object) {
        await db.insert(users).values(row);
        await db.query.users.findMany({ with: { posts: true } });
      }
      export async function lost(context: any, id: number) {
        await context.db.delete(users).where(eq(users.id, id));
      }
    `);
    expect(text).toBe(`not understood: no unit reaches this statement
unit find
  if name
    SELECT id FROM users WHERE (id = $1 AND user_name = $2)  [id, name]
  else
    SELECT id FROM users WHERE id = $1  [id]
unit remove
  DELETE FROM users WHERE id = $1  [id]
unit rename
  UPDATE users SET user_name = $1, changed = $2 WHERE id = $3  [name, ? what the column fills in, id]
unit unread
  INSERT INTO users (id, user_name, changed) VALUES ($1, $2, $3)  [row.id, row.name, row.changed]
  not understood: \`with\` of findMany is not read
`);
  });
});

describe('Prisma', () => {
  const schema = `
    model Account {
      id      Int      @id @default(autoincrement())
      balance Int
      ownerId Int?     @map("owner_id") // foreign key
      code    String   @unique
      changed DateTime @updatedAt
      owner   Owner?   @relation(fields: [ownerId], references: [id])
      @@map("accounts")
    }
    model Owner {
      id       Int       @id @default(autoincrement())
      name     String
      uid      String    @default(uuid())
      accounts Account[]
      @@unique([name, uid])
    }
    model Post {
      id   Int   @id
      tags Tag[]
    }
    model Tag {
      id    Int    @id
      name  String
      posts Post[]
    }`;
  const head = `import { Prisma, PrismaClient } from '@prisma/client'; const prisma = new PrismaClient();\n`;
  const found = (body: string): string =>
    printed(
      `${head}export async function unit(id: number, ids: number[], names: string[], where: object, first: boolean, second: boolean) { ${body} }`,
      'src/a.ts',
      {
        'prisma/schema.prisma': schema,
      },
    ).replace('unit unit\n', '');

  // The statements of Prisma 7.10 with a driver adapter, which logged them; `1=1`, `LIMIT 1` of a unique key and `OFFSET 0` are left out.
  test.each([
    [
      'findFirst',
      `await prisma.account.findFirst({ where: { balance: { gte: 3, lt: 5 }, OR: [{ code: 'a' }, { NOT: { ownerId: null } }] }, orderBy: { id: 'desc' }, select: { id: true, ownerId: true } });`,
      `  SELECT id, owner_id AS "ownerId" FROM accounts WHERE ((balance >= $1 AND balance < $2) AND (code = $3 OR NOT (owner_id IS NULL))) ORDER BY id DESC LIMIT $4  [3, 5, 'a', 1]`,
    ],
    [
      'findMany with a relation',
      `await prisma.owner.findMany({ where: { accounts: { some: { balance: 1 } } }, include: { accounts: true } });`,
      `  Owner := SELECT "Owner".id, "Owner".name, "Owner".uid FROM "Owner" WHERE EXISTS (SELECT 1 FROM accounts WHERE accounts.owner_id = "Owner".id AND accounts.balance = $1)  [1]
  SELECT id, balance, owner_id AS "ownerId", code, changed FROM accounts WHERE owner_id = ANY($1)  [Owner[].id]`,
    ],
    [
      'create',
      `await prisma.owner.create({ data: { name: 'a' }, select: { id: true } });`,
      `  INSERT INTO "Owner" (name, uid) VALUES ($1, $2) RETURNING id  ['a', ? a random value]`,
    ],
    [
      'create with relations',
      `await prisma.owner.create({ data: { name: 'a', accounts: { create: { balance: 1, code: 'q' } } }, select: { id: true } });`,
      `  transaction unit
    Owner := INSERT INTO "Owner" (name, uid) VALUES ($1, $2) RETURNING id  ['a', ? a random value]
    INSERT INTO accounts (balance, code, changed, owner_id) VALUES ($1, $2, $3, $4) RETURNING id  [1, 'q', ? the time, Owner.id]`,
    ],
    [
      'update',
      `await prisma.account.update({ where: { id, balance: { gte: 5 } }, data: { balance: { decrement: 5 } }, select: { id: true } });`,
      `  UPDATE accounts SET balance = (balance - $1), changed = $2 WHERE (id = $3 AND balance >= $4) RETURNING id  [5, ? the time, id, 5]`,
    ],
    [
      'upsert by the unique field that is created',
      `await prisma.account.upsert({ where: { code: 'a' }, create: { code: 'a', balance: 1 }, update: { balance: { increment: 2 } }, select: { id: true } });`,
      `  INSERT INTO accounts (code, balance, changed) VALUES ($1, $2, $3) ON CONFLICT (code) DO UPDATE SET balance = (accounts.balance + $4), changed = $5 WHERE accounts.code = $6 RETURNING id  ['a', 1, ? the time, 2, ? the time, 'a']`,
    ],
    [
      'upsert by another',
      `await prisma.account.upsert({ where: { id }, create: { code: 'a', balance: 1 }, update: { balance: 2 }, select: { id: true } });`,
      `  transaction unit
    accounts := SELECT id FROM accounts WHERE id = $1  [id]
    if (count(accounts) <> 0)
      accounts2 := UPDATE accounts SET balance = $1, changed = $2 WHERE id = $3 RETURNING id  [2, ? the time, id]
      if (count(accounts2) = 0)
        abort
    else
      INSERT INTO accounts (code, balance, changed) VALUES ($1, $2, $3) RETURNING id  ['a', 1, ? the time]`,
    ],
    [
      '$transaction of a list',
      `await prisma.$transaction([prisma.account.deleteMany({}), ...[prisma.account.count()]], { isolationLevel: 'Serializable' });
        await prisma.$transaction(ids.map((one) => prisma.account.deleteMany({ where: { id: one } })));`,
      `  transaction unit (serializable)
    DELETE FROM accounts
    SELECT count(*) AS count FROM accounts
  transaction unit2
    for one of ids
      DELETE FROM accounts WHERE id = $1  [one]`,
    ],
    [
      'a many-to-many relation',
      `await prisma.post.findMany({ where: { tags: { some: { name: 'x' } } }, include: { tags: { select: { name: true } } } });
        await prisma.post.create({ data: { id, tags: { connect: [{ id: 3 }] } }, select: { id: true } });`,
      `  Post := SELECT "Post".id FROM "Post" WHERE EXISTS (SELECT 1 FROM "Tag", "_PostToTag" WHERE "_PostToTag"."B" = "Tag".id AND "_PostToTag"."A" = "Post".id AND "Tag".name = $1)  ['x']
  SELECT "Tag".name FROM "Tag" JOIN "_PostToTag" ON "_PostToTag"."B" = "Tag".id WHERE "_PostToTag"."A" = ANY($1)  [Post[].id]
  transaction unit
    Post2 := INSERT INTO "Post" (id) VALUES ($1) RETURNING id  [id]
    Tag2 := SELECT id FROM "Tag" WHERE id = $1  [3]
    if (count(Tag2) = 0)
      abort
    INSERT INTO "_PostToTag" ("A", "B") VALUES ($1, $2) ON CONFLICT DO NOTHING  [Post2.id, Tag2.id]`,
    ],
    [
      'what is not read',
      `await prisma.account.findMany({ where: [id], before: { id } }); await prisma.nothing.count(); await prisma.owner.update({ where: { id }, data: { accounts: { swap: {} } } });`,
      `  not understood: \`before\` of a query of Prisma is not read
  not understood: the model nothing is not in schema.prisma
  not understood: \`swap\` of the relation accounts is not read`,
    ],
    [
      'conditions that a caller gives',
      `await prisma.tag.findMany({ where: { ...where, NOT: { name: 'x' } } });
        await prisma.tag.count({ where: { OR: [first ? { name: 'y' } : where] } });`,
      `  SELECT id, name FROM "Tag" WHERE (NOT (name = $1) AND (id = $2 OR name = $3))  ['x', where.id, where.name]
  if first
    SELECT count(*) AS count FROM "Tag" WHERE name = $1  ['y']
  else
    SELECT count(*) AS count FROM "Tag" WHERE (id = $1 OR name = $2)  [where.id, where.name]`,
    ],
    [
      'an order by related rows, and a cursor',
      `await prisma.account.findMany({ select: { id: true }, orderBy: [{ owner: { name: 'asc' } }, { id: 'desc' }], cursor: { id }, take: 2 });
        await prisma.owner.findMany({ select: { id: true }, orderBy: { accounts: { _count: 'desc' } } });`,
      `  SELECT accounts.id FROM accounts WHERE accounts.id <= (SELECT accounts_cursor.id FROM accounts AS accounts_cursor WHERE accounts_cursor.id = $1) ORDER BY (SELECT "Owner".name FROM "Owner" WHERE "Owner".id = accounts.owner_id) ASC, accounts.id DESC LIMIT $2  [id, 2]
  SELECT "Owner".id FROM "Owner" ORDER BY (SELECT count(*) FROM accounts WHERE accounts.owner_id = "Owner".id) DESC`,
    ],
    [
      'relations of a row that another row refers to',
      `await prisma.owner.update({ where: { id }, data: { accounts: { connect: { id: 3 }, disconnect: { id: 4 }, deleteMany: { balance: 0 }, update: { where: { id: 5 }, data: { balance: 6 } } } }, select: { id: true } });
        await prisma.account.update({ where: { id }, data: { owner: { connectOrCreate: { where: { id: 7 }, create: { name: 'n', uid: 'u' } } } }, select: { id: true } });`,
      `  transaction unit
    Owner := SELECT id FROM "Owner" WHERE id = $1  [id]
    if (count(Owner) = 0)
      abort
    accounts := SELECT id FROM accounts WHERE id = $1  [3]
    if (count(accounts) = 0)
      abort
    UPDATE accounts SET owner_id = $1 WHERE id = $2  [Owner.id, 3]
    UPDATE accounts SET owner_id = NULL WHERE (id = $1) AND owner_id = $2  [4, Owner.id]
    DELETE FROM accounts WHERE balance = $1 AND owner_id = $2  [0, Owner.id]
    UPDATE accounts SET balance = $1, changed = $2 WHERE id = $3 AND owner_id = $4 RETURNING id  [6, ? the time, 5, Owner.id]
  if (count(Owner) = 0)
    return
  if (count(accounts) = 0)
    return
  transaction unit2
    Owner2 := SELECT id FROM "Owner" WHERE id = $1  [7]
    if (count(Owner2) = 0)
      Owner3 := INSERT INTO "Owner" (name, uid) VALUES ($1, $2) RETURNING id  ['n', 'u']
    accounts6 := UPDATE accounts SET owner_id = $1, changed = $2 WHERE id = $3 RETURNING id  [if((count(Owner2) <> 0), Owner2.id, Owner3.id), ? the time, id]
    if (count(accounts6) = 0)
      abort`,
    ],
    [
      'set and upsert',
      `await prisma.post.update({ where: { id }, data: { tags: { set: [{ id: 3 }] } }, select: { id: true } });
        await prisma.post.update({ where: { id }, data: { tags: { upsert: { where: { id: 5 }, create: { id: 5, name: 'a' }, update: { name: 'b' } } } }, select: { id: true } });`,
      `  transaction unit
    Post := SELECT id FROM "Post" WHERE id = $1  [id]
    if (count(Post) = 0)
      abort
    DELETE FROM "_PostToTag" WHERE "A" = $1  [Post.id]
    Tag := SELECT id FROM "Tag" WHERE id = $1  [3]
    if (count(Tag) = 0)
      abort
    INSERT INTO "_PostToTag" ("A", "B") VALUES ($1, $2) ON CONFLICT DO NOTHING  [Post.id, Tag.id]
  if (count(Post) = 0)
    return
  if (count(Tag) = 0)
    return
  transaction unit2
    Post2 := SELECT id FROM "Post" WHERE id = $1  [id]
    if (count(Post2) = 0)
      abort
    Tag2 := SELECT id FROM "Tag" WHERE id = $1 AND id IN (SELECT "B" FROM "_PostToTag" WHERE "A" = $2)  [5, Post2.id]
    if (count(Tag2) <> 0)
      UPDATE "Tag" SET name = $1 WHERE id = $2 AND id IN (SELECT "B" FROM "_PostToTag" WHERE "A" = $3) RETURNING id  ['b', 5, Post2.id]
    else
      Tag4 := INSERT INTO "Tag" (id, name) VALUES ($1, $2) RETURNING id  [5, 'a']
      INSERT INTO "_PostToTag" ("A", "B") VALUES ($1, $2) ON CONFLICT DO NOTHING  [Post2.id, Tag4.id]`,
    ],
    [
      'rows of a list that is not known',
      `await prisma.tag.createMany({ data: ids.map((one) => ({ id: one, name: 'x' })) });
        await prisma.post.create({ data: { id, tags: { create: names.map((name) => ({ id: 1, name })) } }, select: { id: true } });`,
      `  transaction unit
    for element of ids
      INSERT INTO "Tag" (id, name) VALUES ($1, $2)  [element, 'x']
  transaction unit2
    Post := INSERT INTO "Post" (id) VALUES ($1) RETURNING id  [id]
    for element2 of names
      Tag2 := INSERT INTO "Tag" (id, name) VALUES ($1, $2) RETURNING id  [1, element2]
      INSERT INTO "_PostToTag" ("A", "B") VALUES ($1, $2) ON CONFLICT DO NOTHING  [Post.id, Tag2.id]`,
    ],
    [
      '$transaction of calls that differ by path',
      `const filter = { ...(first && { id }), ...(second && { name: 'x' }) }; await prisma.$transaction([prisma.tag.count({ where: filter }), prisma.tag.deleteMany({ where: filter })]);`,
      `  transaction unit
    if first
      if second
        SELECT count(*) AS count FROM "Tag" WHERE (id = $1 AND name = $2)  [id, 'x']
        DELETE FROM "Tag" WHERE (id = $1 AND name = $2)  [id, 'x']
      else
        SELECT count(*) AS count FROM "Tag" WHERE id = $1  [id]
        DELETE FROM "Tag" WHERE id = $1  [id]
    else
      if second
        SELECT count(*) AS count FROM "Tag" WHERE name = $1  ['x']
        DELETE FROM "Tag" WHERE name = $1  ['x']
      else
        SELECT count(*) AS count FROM "Tag"
        DELETE FROM "Tag"`,
    ],
  ])('%s', (_, body, expected) => {
    expect(found(body)).toBe(`${expected}\n`);
  });
});

/** Sequelize with a query that answers each statement with one row of ones. */
async function sequelizeThatRecords(sent: SentStatement[]): Promise<Sequelize> {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  const path = 'sequelize/lib/dialects/postgres/query';
  const loaded = (await import(path)) as { default: { Query?: SequelizeQuery } & SequelizeQuery };
  const Query = loaded.default.Query ?? loaded.default;
  class Recording extends Query {
    override run(sql: string, parameters: readonly unknown[] = []): Promise<unknown> {
      if (!/^(?:START|COMMIT|ROLLBACK|SET)/.test(sql)) sent.push({ sql: sql.replace(/;$/, ''), parameters });
      const row = Object.fromEntries([...sql.matchAll(/"(\w+)"(?=,| FROM|;|$)/g)].map(([, name]) => [name, 1]));
      if (this.isSelectQuery()) return Promise.resolve(this.handleSelectQuery([row]));
      return Promise.resolve(this.isRawQuery() ? [[row], {}] : [this.instance ?? [row], 1]);
    }
  }
  Object.assign(sequelize, {
    dialect: Object.assign(Object.create(sequelize['dialect' as never] as object), { Query: Recording }),
  });
  Object.assign(sequelize['connectionManager' as never], {
    getConnection: () => Promise.resolve({ uuid: 'one' }),
    releaseConnection: () => undefined,
  });
  return sequelize;
}

type SequelizeQuery = new (
  ...args: never[]
) => {
  readonly instance?: object;
  run(sql: string, parameters?: readonly unknown[]): Promise<unknown>;
  isSelectQuery(): boolean;
  isRawQuery(): boolean;
  handleSelectQuery(rows: readonly object[]): unknown;
};

describe('Sequelize', () => {
  const models = `const Account = sequelize.define('Account', { balance: DataTypes.INTEGER, ownerId: { type: DataTypes.INTEGER, field: 'owner_id' } }, { tableName: 'accounts', timestamps: false });
    const Line = sequelize.define('Line', { item: { type: DataTypes.INTEGER, primaryKey: true }, price: DataTypes.INTEGER }, { timestamps: false });`;

  test('sends the statements that the reader finds', async () => {
    const sent: SentStatement[] = [];
    const sequelize = await sequelizeThatRecords(sent);
    const made = (await runSnippet(`${models} return { Account, Line };`, { sequelize, DataTypes })) as object;
    const snippets = [
      `await Account.findByPk(1);`,
      `await sequelize.transaction({ isolationLevel: 'SERIALIZABLE' }, (t) => Account.findByPk(1, { transaction: t, lock: true }));`,
      `await Account.findOne({ where: { balance: { [Op.gte]: 3, [Op.lt]: 5 } } });`,
      `await Account.findOne({ where: { id: 3 }, attributes: ['balance'] });`,
      `await Account.findAll({ where: { [Op.or]: [{ id: [1, 2] }, { balance: null }], ownerId: { [Op.ne]: 3 } }, order: [['id', 'DESC']], limit: 2, offset: 1, attributes: ['id', ['owner_id', 'o']] });`,
      `await Account.findAll({ where: literal('balance > 3') });`,
      `await Account.create({ balance: 1 });`,
      `await Line.bulkCreate([{ item: 1, price: 2 }], { ignoreDuplicates: true });`,
      `await Line.bulkCreate([{ item: 1, price: 2 }], { updateOnDuplicate: ['price'] });`,
      `await Account.update({ balance: 3 }, { where: { id: 1 } });`,
      `await Account.update({ balance: literal('balance + 1') }, { where: { id: 1 }, returning: true });`,
      `await Account.destroy({ where: { id: 1 } });`,
      `await Line.upsert({ item: 1, price: 2 });`,
      `await Account.count({ where: { balance: 1 } });`,
      `await Account.sum('balance', { where: { id: 1 } });`,
      `await Account.findAndCountAll({ where: { balance: 1 }, limit: 2 });`,
      `const [line] = await Line.findAll({ where: { item: 1 } }); line.price = 7; await line.save(); await line.save(); await line.update({ price: 9 }); await line.reload({ lock: true }); await line.destroy();`,
      `await sequelize.query('SELECT * FROM lines WHERE item = :item', { replacements: { item: 1 }, type: 'SELECT' });`,
      `const t = await sequelize.transaction(); await Account.findOne({ where: { id: 1 }, transaction: t, lock: t.LOCK.UPDATE, skipLocked: true }); await t.commit();`,
    ];
    const head = `import { DataTypes, literal, Op, Sequelize } from 'sequelize'; const sequelize = new Sequelize('postgres://localhost/a'); ${models}`;
    await expectSentStatements(head, snippets, sent, { ...made, sequelize, Op, literal }, meaningOf);
  });

  test('joins the rows of include as the library does', async () => {
    const sent: SentStatement[] = [];
    const sequelize = await sequelizeThatRecords(sent);
    const associated = `${models}
      const Note = sequelize.define('Note', { text: DataTypes.TEXT }, { timestamps: false, paranoid: false, tableName: 'notes' });
      Account.hasMany(Line, { foreignKey: 'accountId', as: 'lines' }); Line.belongsTo(Account, { foreignKey: 'accountId', as: 'account' });
      Line.hasOne(Note); Note.belongsTo(Line, { as: 'line', foreignKey: 'LineItem' });
      Account.addScope('rich', { where: { balance: { [Op.gt]: 9 } } }); Account.addScope('owned', (id) => ({ where: { ownerId: id } }));`;
    const made = (await runSnippet(`${associated} return { Account, Line, Note };`, {
      sequelize,
      DataTypes,
      Op,
    })) as object;
    const snippets = [
      `await Account.findAll({ where: { balance: 1 }, include: [{ model: Line, as: 'lines' }] });`,
      `await Account.findAll({ include: { association: 'lines', where: { price: 3 }, attributes: ['price'] } });`,
      `await Account.findAll({ attributes: ['id'], include: [{ model: Line, as: 'lines', required: true, include: [Note] }], order: [['id', 'ASC']] });`,
      `await Note.findAll({ attributes: ['text'], include: [{ association: 'line', include: [{ association: 'account', attributes: ['balance'] }] }] });`,
      `await Account.findAll({ attributes: ['id'], where: { '$lines.price$': 2 }, include: [{ association: 'lines', attributes: [] }] });`,
      `await Account.findAll({ attributes: ['id'], include: [{ association: 'lines', attributes: [] }], order: [[{ model: Line, as: 'lines' }, 'price', 'DESC']] });`,
      `await Account.scope('rich').findAll({ where: { ownerId: 3 } });`,
      `await Account.scope(['rich', { method: ['owned', 4] }]).findAll({ attributes: ['id'] });`,
    ];
    const head = `import { DataTypes, Op, Sequelize } from 'sequelize'; const sequelize = new Sequelize('postgres://localhost/a'); ${associated}`;
    // The library calls the statement's own table by the model's name, the reader by its own.
    const alike = ({ sql, parameters }: SentStatement): string => {
      const own = sql
        .replaceAll(/"(\w+)" AS "(Account|Note)"/g, '"$1"')
        .replaceAll('"Account".', '"accounts".')
        .replaceAll('"Note"."', '"notes"."');
      return meaningOf({
        sql: /AS "Note" ON/.test(sql)
          ? sql.replaceAll('"accounts" AS "Account"', '"accounts"').replaceAll('"Account".', '"accounts".')
          : own,
        parameters,
      });
    };
    await expectSentStatements(head, snippets, sent, { ...made, sequelize, Op }, alike);
  });

  test('changes which rows are associated as the library does', async () => {
    const sent: SentStatement[] = [];
    const sequelize = await sequelizeThatRecords(sent);
    const associated = `${models}
      const Tag = sequelize.define('Tag', { name: DataTypes.TEXT }, { timestamps: false, tableName: 'tags' });
      const Tagged = sequelize.define('Tagged', {}, { timestamps: false, tableName: 'tagged' });
      Account.belongsToMany(Tag, { through: Tagged, as: 'tags', foreignKey: 'accountId', otherKey: 'tagId' });
      Account.hasMany(Line, { foreignKey: 'accountId', as: 'lines' }); Line.belongsTo(Account, { foreignKey: 'accountId', as: 'account' });`;
    const made = (await runSnippet(`${associated} return { Account, Line, Tag };`, { sequelize, DataTypes })) as object;
    const found = 'const account = await Account.findByPk(1);';
    const snippets = [
      `${found} await account.addTag(7);`,
      `${found} await account.addTags([7]);`,
      `${found} await account.removeTags([7, 8]);`,
      `${found} await account.addLine(7);`,
      `${found} await account.removeLines([7, 8]);`,
      `const line = await Line.findByPk(1); await line.setAccount(7);`,
    ];
    const head = `import { DataTypes, Sequelize } from 'sequelize'; const sequelize = new Sequelize('postgres://localhost/a'); ${associated}`;
    await expectSentStatements(head, snippets, sent, { ...made, sequelize }, meaningOf);
  });

  test('keeps instances, fills in times, and lists what the reader does not know', () => {
    const text = printed(`import { DataTypes, Model, Sequelize } from 'sequelize';
      const sequelize = new Sequelize('postgres://localhost/a', { define: { underscored: true } });
      class Owner extends Model {}
      Owner.init({ fullName: DataTypes.STRING }, { sequelize, paranoid: true });
      class Ghost extends Model {}
      export async function rename(id: number, fullName: string) {
        await sequelize.transaction(async (transaction) => {
          const owner = await Owner.findByPk(id, { transaction, lock: true });
          if (!owner) throw new Error();
          owner.fullName = fullName;
          await owner.save({ transaction });
        });
      }
      export async function renameAll(ids: number[]) {
        for (const owner of await Owner.findAll({ where: { id: ids }, attributes: ['id'] })) await owner.update({ fullName: 'x' });
      }
      export async function add(fullName: string) {
        const [owner, created] = await Owner.findOrCreate({ where: { fullName }, attributes: ['id'] });
        if (created) await owner.increment('id', { by: 2 });
      }
      export async function unread() {
        await Owner.findAll({ include: [Ghost] });
        await Ghost.findAll();
        await Owner.restore();
      }
    `);
    const columns = `id, full_name AS "fullName", created_at AS "createdAt", updated_at AS "updatedAt", deleted_at AS "deletedAt"`;
    expect(text).toBe(`unit rename
  transaction rename
    owners := SELECT ${columns} FROM owners WHERE id = $1 AND deleted_at IS NULL FOR UPDATE  [id]
    if (count(owners) = 0)
      abort
    UPDATE owners SET full_name = $1, updated_at = $2 WHERE id = $3  [fullName, ? the time, owners.id]
unit renameAll
  owners := SELECT id FROM owners WHERE deleted_at IS NULL AND id = $1  [ids]
  for owner of owners[]
    UPDATE owners SET full_name = $1, updated_at = $2 WHERE id = $3  ['x', ? the time, owner.id]
unit add
  transaction add
    owners := SELECT id FROM owners WHERE deleted_at IS NULL AND full_name = $1  [fullName]
    if (count(owners) = 0)
      owners2 := INSERT INTO owners (full_name, created_at, updated_at) VALUES ($1, $2, $3) RETURNING ${columns}  [fullName, ? the time, ? the time]
  if (count(owners) = 0)
    UPDATE owners SET id = id + $1, updated_at = $2 WHERE id = $3 RETURNING ${columns}  [2, ? the time, owners2.id]
unit unread
  not understood: an included model is no association that the sources say
  not understood: no file says the columns of the model Ghost
  not understood: \`restore\` of Sequelize is not read
`);
  });
});

/** TypeORM with a connection that answers each statement with one row of ones. */
async function typeormThatRecords(sent: SentStatement[], entities: EntitySchema[]): Promise<DataSource> {
  const source = new DataSource({ type: 'postgres', entities });
  const client = {
    query: (sql: string, parameters: unknown, callback: unknown) => {
      const values = Array.isArray(parameters) ? (parameters as unknown[]) : [];
      if (!/^(?:START|COMMIT|ROLLBACK|SET)/.test(sql)) sent.push({ sql, parameters: values });
      const row = { cnt: 1, ...Object.fromEntries([...sql.matchAll(/AS "(\w+)"/g)].map(([, name]) => [name, 1])) };
      const done = (typeof parameters === 'function' ? parameters : callback) as
        | ((error: null, result: object) => void)
        | undefined;
      const result = { rows: [row], rowCount: 1, command: 'SELECT' };
      return done === undefined ? Promise.resolve(result) : done(null, result);
    },
    on: () => undefined,
    removeListener: () => undefined,
  };
  Object.assign(source.driver, {
    connect: () => Promise.resolve(),
    afterConnect: () => Promise.resolve(),
    obtainMasterConnection: () => Promise.resolve([client, () => undefined]),
  });
  return source.initialize();
}

describe('TypeORM', () => {
  const schemas = `
    const Plain = new EntitySchema({ name: 'Plain', tableName: 'plain', columns: { id: { type: Number, primary: true }, n: { type: Number } } });
    const Account = new EntitySchema({ name: 'Account', tableName: 'accounts', columns: { id: { type: Number, primary: true, generated: 'increment' }, ownerId: { type: Number, name: 'owner_id', nullable: true }, version: { type: Number, version: true } } });`;

  test('sends the statements that the reader finds', async () => {
    const sent: SentStatement[] = [];
    const made = (await runSnippet(`${schemas} return { Plain, Account };`, { EntitySchema })) as Record<
      string,
      EntitySchema
    >;
    const source = await typeormThatRecords(sent, Object.values(made));
    const snippets = [
      `await plain.findOne({ where: { id: 1 } });`,
      `await accounts.findOneBy({ ownerId: 3 });`,
      `await plain.findOneByOrFail({ id: MoreThan(1) });`,
      `await plain.find({ where: [{ id: In([1, 2]) }, { n: IsNull() }], order: { id: 'DESC' }, take: 3, skip: 1 });`,
      `await plain.findBy({ n: Not(3) });`,
      `await plain.countBy({ n: 3 });`,
      `await plain.sum('n', { id: 1 });`,
      `await plain.insert({ id: 1, n: 2 });`,
      `await accounts.insert({ ownerId: 2 });`,
      `await plain.update({ id: 1 }, { n: 4 });`,
      `await plain.update(1, { n: () => 'n + 1' });`,
      `await accounts.update({ id: 1, ownerId: 5 }, { ownerId: 4 });`,
      `await plain.increment({ id: 1 }, 'n', 5);`,
      `await plain.delete([1, 2]);`,
      `await plain.upsert({ id: 1, n: 2 }, ['id']);`,
      `await accounts.save(accounts.create({ ownerId: 3 }));`,
      `const found = await plain.findOneBy({ id: 1 }); found.n = 7; await plain.save(found);`,
      `const found = await plain.findOneBy({ id: 1 }); await plain.remove(found);`,
      `await plain.createQueryBuilder('p').where('p.id = :id', { id: 1 }).andWhere('p.n > :n', { n: 4 }).getOne();`,
      `await source.transaction('SERIALIZABLE', (m) => m.createQueryBuilder(Plain, 'p').setLock('pessimistic_write').setOnLocked('skip_locked').where('p.id IN (:...ids)', { ids: [1, 2] }).getMany());`,
      `await plain.createQueryBuilder('p').select('SUM(p.n)', 'total').where({ id: 1 }).getRawOne();`,
      `await source.createQueryBuilder().update(Plain).set({ n: () => 'n - 1' }).where('id = :id AND n > 0', { id: 1 }).execute();`,
      `await plain.createQueryBuilder().insert().values({ id: 1, n: 2 }).orUpdate(['n'], ['id']).execute();`,
      `await plain.createQueryBuilder().delete().where('id = :id', { id: 1 }).execute();`,
      `await source.query('SELECT 1 FROM plain WHERE id = $1', [1]);`,
    ];
    const head = `import { DataSource, EntitySchema, In, IsNull, MoreThan, Not } from 'typeorm'; const source = new DataSource({}); ${schemas}
      const plain = source.getRepository(Plain); const accounts = source.getRepository(Account);`;
    const repositories = { plain: source.getRepository('Plain'), accounts: source.getRepository('Account') };
    const names = { ...made, ...repositories, source, In, IsNull, MoreThan, Not };
    await expectSentStatements(head, snippets, sent, names, meaningOf);
  });

  test('knows decorated entities, injected repositories and query runners, and lists what it does not know', () => {
    const text =
      printed(`import { BaseEntity, Column, DataSource, Entity, getCustomRepository, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Repository, UpdateDateColumn } from 'typeorm';
      import { InjectRepository } from '@nestjs/typeorm';
      @Entity('owners') class Owner extends BaseEntity { @PrimaryGeneratedColumn() id: number; @Column({ name: 'full_name' }) fullName: string; @UpdateDateColumn() changed: Date; }
      @Entity() class BankAccount { @PrimaryGeneratedColumn() id: number; @Column() balance: number; @ManyToOne(() => Owner) @JoinColumn({ name: 'owner_id' }) owner: Owner; }
      interface Accounts { close(id: number): Promise<void>; }
      class SqlAccounts implements Accounts {
        constructor(@InjectRepository(BankAccount) private readonly accounts: Repository<BankAccount>) {}
        async close(id: number) { await this.accounts.delete({ id, owner: { id: 3 } }); }
      }
      export class Bank {
        constructor(private readonly source: DataSource, private readonly all: Accounts) {}
        async close(id: number) { await this.all.close(id); }
        async rename(id: number, fullName: string) {
          const runner = this.source.createQueryRunner();
          await runner.startTransaction('SERIALIZABLE');
          try {
            const owner = await runner.manager.findOneOrFail(Owner, { where: { id }, select: { fullName: true }, lock: { mode: 'pessimistic_write' } });
            await runner.manager.update(Owner, id, { fullName });
            await runner.commitTransaction();
          } catch (error) { await runner.rollbackTransaction(); throw error; } finally { await runner.release(); }
        }
        async older(id: number, fullName: string) {
          const owner = await Owner.findOne({ id });
          if (!owner) return;
          await Owner.save(Object.assign(owner, { fullName }));
        }
        async unread(where: object) { await getCustomRepository(Owners).close(); await Owner.find({ relations: { accounts: true } }); await Owner.findBy(where); }
      }
    `);
    expect(text).toBe(`unit Bank.close
  DELETE FROM bank_account WHERE (id = $1 AND owner_id = $2)  [id, 3]
unit Bank.rename
  transaction rename (serializable)
    owners := SELECT full_name AS "fullName" FROM owners WHERE id = $1 LIMIT $2 FOR UPDATE  [id, 1]
    if (count(owners) = 0)
      abort
    UPDATE owners SET full_name = $1, changed = CURRENT_TIMESTAMP WHERE id = $2  [fullName, id]
unit Bank.older
  owners := SELECT id, full_name AS "fullName", changed FROM owners WHERE id = $1 LIMIT $2  [id, 1]
  if (count(owners) <> 0)
    SELECT id, full_name AS "fullName", changed FROM owners WHERE id = $1  [owners.id]
    transaction older
      UPDATE owners SET full_name = $1, changed = CURRENT_TIMESTAMP WHERE id = $2  [fullName, owners.id]
unit Bank.unread
  not understood: typeorm is not read
  not understood: the relation accounts is not known
  SELECT id, full_name AS "fullName", changed FROM owners WHERE (id = $1 OR full_name = $2 OR changed = $3)  [where.id, where.fullName, where.changed]
`);
  });
});
