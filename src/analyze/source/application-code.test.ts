/** Code as applications have it: each of these shapes was misread in a public back end. */
import { describe, expect, test } from 'vitest';
import { pg, read } from './read-source.test-support.ts';

test('guards, one behind the other, take time once each: their conditions stay short', () => {
  const guards = Array.from({ length: 40 }, (_, at) => `if (!body.a${at}) return;`).join(' ');
  const choices = Array.from({ length: 20 }, (_, at) => `value = body.b${at} ? value && body.c${at} : !value;`).join(
    ' ',
  );
  const text = read({
    'a.ts': `${pg}export async function f(body) { ${guards} await pool.query('DELETE FROM items'); }
      export async function g(body) { let value = body.x; ${choices} if (value) await pool.query('DELETE FROM orders'); }`,
  });
  expect(text.match(/DELETE FROM (?:items|orders)/g)).toEqual(['DELETE FROM items', 'DELETE FROM orders']);
  expect(text.length).toBeLessThan(20_000);
});

test('classes whose constructors take each other are given each other', () => {
  const text = read({
    'a.ts': `${pg}export class Orders { constructor(private readonly items: Items) {}
      async close() { await pool.query('DELETE FROM orders'); await this.items.clear(); } }
      export class Items { constructor(private readonly orders: Orders) {}
      async clear() { await pool.query('DELETE FROM items'); } }`,
  });
  expect(text).toBe(`unit Orders.close
  DELETE FROM orders
  DELETE FROM items
`);
});

test('a handle that a file exports is one where it has properties, too', () => {
  const text = read({
    'db.js': `const db = require('knex')({}); db.isTest = false; module.exports = db;`,
    'app.js': `const db = require('./db'); exports.clear = async () => { await db('carts').del(); };`,
  });
  expect(text).toBe(`unit clear
  DELETE FROM carts
`);
});

test('entities and services that name each other are read', () => {
  const text = read({
    'entities.ts': `import { Column, Entity, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
      @Entity('users') export class User { @PrimaryColumn() id: number; @OneToOne(() => Profile) profile: Profile; name(): string { return ''; } }
      @Entity('profiles') export class Profile { @PrimaryColumn() id: number; @ManyToOne(() => User) user: User; text(): string { return ''; } }`,
    'services.ts': `import { Repository } from 'typeorm'; import { User } from './entities';
      export class Accounts { constructor(private readonly mails: Mails, private readonly users: Repository<User>) {}
        async close(id: number) { await this.users.delete(id); } }
      export class Mails { constructor(private readonly accounts: Accounts) {}
        async bounce(id: number) { await this.accounts.close(id); } }`,
  });
  expect(text).toBe(`unit Mails.bounce
  DELETE FROM users WHERE id = $1  [id]
`);
});

test('a unit does not see what another one wrote to a variable of a file', () => {
  const units = Array.from({ length: 40 }, (_, index) => index);
  const text = read({
    'settings.ts': `import { Pool } from 'pg'; const pool = new Pool(); let settings;
      class Settings { constructor(readonly limit = 3) {} }
      function current() { if (!settings) settings = new Settings(); return settings; }
      ${units.map((each) => `export async function f${each}() { if (current().limit) await pool.query('SELECT ${each} AS n'); }`).join('\n')}`,
  });
  expect(text.split('unit ')).toHaveLength(units.length + 1);
});

test('modules are found by the nearest tsconfig.json, what it extends, and the packages of a workspace', () => {
  const text = read({
    'tsconfig.base.json': `{ "compilerOptions": { "baseUrl": ".", "paths": { "@shop/common": ["libs/common/src/index.ts"] } } }`,
    'apps/api/tsconfig.json': `{ "extends": "../../tsconfig.base.json" }`,
    'apps/web/tsconfig.json': `{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }`,
    'libs/common/src/index.ts': `export const items = 'items';`,
    'libs/db/package.json': `{ "name": "@shop/db", "exports": { ".": { "types": "./dist/index.d.ts" }, "./text": "./src/texts.ts" } }`,
    'libs/db/src/index.ts': `import { Pool } from 'pg'; export const pool = new Pool();`,
    'libs/db/src/texts.ts': `export const all = 'SELECT * FROM carts';`,
    'apps/api/src/a.ts': `import { pool } from '@shop/db'; import { items } from '@shop/common';
      export const clear = () => pool.query('DELETE FROM ' + items);`,
    'apps/web/src/b.ts': `import { pool } from '@shop/db'; import { all } from '@shop/db/text'; import { one } from '@/one';
      export const list = () => pool.query(all + one);`,
    'apps/web/src/one.ts': `export const one = ' LIMIT 1';`,
  });
  expect(text).toBe(`unit clear
  DELETE FROM items
unit list
  SELECT * FROM carts LIMIT 1
`);
});

test('a client that is kept on globalThis is one', () => {
  const text = read({
    'schema.prisma': `model Poll { id Int @id }`,
    'db.ts': `import { PrismaClient } from '../generated/prisma/client'; const kept = globalThis as unknown as { prisma?: PrismaClient };
      export const prisma = kept.prisma ?? new PrismaClient(); if (process.env.NODE_ENV !== 'production') kept.prisma = prisma;`,
    'polls.ts': `import { prisma } from './db'; export const remove = (id: number) => prisma.poll.deleteMany({ where: { id } });`,
  });
  expect(text).toBe(`unit remove
  DELETE FROM "Poll" WHERE id = $1  [id]
`);
});

test('models of sequelize-typescript, and what the class of an argument says of its fields', () => {
  const text = read({
    'card.ts': `import { AutoIncrement, BelongsTo, Column, CreatedAt, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript'; import { User } from './user';
      @Table({ tableName: 'cards', updatedAt: false }) export class Card extends Model<Card> {
        @PrimaryKey @AutoIncrement @Column declare id: number;
        @Column({ type: DataType.STRING, field: 'card_name' }) declare name: string;
        @CreatedAt declare madeAt: Date;
        @ForeignKey(() => User) @Column declare userId: number; @BelongsTo(() => User) declare user: User; }`,
    'user.ts': `import { Column, Model, Table } from 'sequelize-typescript'; @Table export class User extends Model { @Column declare mail: string; }`,
    'dto.ts': `import { PartialType } from '@nestjs/swagger';
      export class CreateCard { readonly name: string; readonly userId: number; }
      export class UpdateCard extends PartialType(CreateCard) {}`,
    'service.ts': `import { Injectable } from '@nestjs/common'; import { InjectModel } from '@nestjs/sequelize';
      import { Card } from './card'; import { User } from './user'; import { CreateCard, UpdateCard } from './dto';
      @Injectable() export class Cards { constructor(@InjectModel(Card) private cards: typeof Card, @InjectModel(User) private users: typeof User) {}
        async create(card: CreateCard) { await this.cards.create({ ...card }, { returning: false }); }
        async update(id: number, changes: UpdateCard) { await this.cards.update(changes, { where: { id } }); }
        async clear(mail: string) { await this.users.destroy({ where: { mail } }); } }`,
  });
  expect(text).toBe(`unit Cards.create
  INSERT INTO cards (card_name, "userId", "madeAt") VALUES ($1, $2, $3)  [card.name, card.userId, ? the time]
unit Cards.update
  UPDATE cards SET card_name = $1, "userId" = $2 WHERE id = $3  [changes.name, changes.userId, id]
unit Cards.clear
  DELETE FROM "Users" WHERE mail = $1  [mail]
`);
});

test('Prisma counts related rows, follows relations of a model with itself, and writes what an argument may hold', () => {
  const text = read({
    'schema.prisma': `model User { id Int @id
        mail String
        followers User[] @relation("Follows")
        follows User[] @relation("Follows")
        posts Post[] }
      model Post { id Int @id
        text String
        userId Int
        user User @relation(fields: [userId], references: [id]) }`,
    'users.ts': `import { Prisma, PrismaClient } from '@prisma/client'; const prisma = new PrismaClient();
      export const list = () => prisma.user.findMany({ select: { mail: true, _count: { select: { posts: true } } } });
      export const followed = (id: number) => prisma.user.count({ where: { followers: { some: { id } } } });
      export const change = (id: number, data: Prisma.UserUpdateInput) => prisma.user.updateMany({ where: { id }, data });`,
  });
  expect(text).toBe(`unit list
  SELECT "User".mail, (SELECT count(*) FROM "Post" WHERE "Post"."userId" = "User".id) AS _count_posts FROM "User"
unit followed
  SELECT count(*) AS count FROM "User" WHERE EXISTS (SELECT 1 FROM "User" AS "User_related", "_Follows" WHERE "_Follows"."B" = "User_related".id AND "_Follows"."A" = "User".id AND "User_related".id = $1)  [id]
unit change
  UPDATE "User" SET mail = $1 WHERE id = $2  [data.mail, id]
`);
});

test('sql of a class outside the sources is known by its name, and its transactions by the handle that they give', () => {
  const text = read({
    'store.ts': `import { BaseStore } from 'some-toolkit';
      export class Store extends BaseStore {
        async spend(id: number, amount: number, limit?: number) {
          return await this.sqlWriteTransaction(async (sql) => {
            const [row] = await sql\`SELECT balance FROM accounts WHERE id = \${id} \${limit ? sql\`AND balance < \${limit}\` : sql\`\`}\`;
            await sql\`UPDATE accounts SET balance = \${row.balance - amount} WHERE id = \${id}\`;
          });
        }
        async find(id: number) { return this.sql\`SELECT \${this.sql(['id', 'balance'])} FROM accounts WHERE \${this.sql\`id = \${id}\`}\`; }
      }`,
  });
  expect(text).toBe(`unit Store.spend
  transaction spend
    if limit
      accounts := SELECT balance FROM accounts WHERE id = $1 AND balance < $2  [id, limit]
    else
      accounts2 := SELECT balance FROM accounts WHERE id = $1  [id]
    UPDATE accounts SET balance = $1 WHERE id = $2  [(if(limit, accounts.balance, accounts2.balance) - amount), id]
unit Store.find
  SELECT "id", "balance" FROM accounts WHERE id = $1  [id]
`);
});

test('a builder on a handle whose origin is not in the sources is that of the library that they import', () => {
  const knex = read({
    'server.js': `const knex = require('knex'); module.exports = () => knex({});`,
    'users.js': `const table = 'users';
      exports.rename = async (id, name, { db }) => {
        const query = db(table).where('id', id); console.log('runs ' + query.toString());
        await db.transaction(async (trx) => { await trx('users').where({ id }).update({ name }); await db('names').insert({ name }); });
        return query.first(); };`,
  });
  expect(knex).toBe(`unit rename
  transaction rename
    UPDATE users SET name = $1 WHERE id = $2  [name, id]
    INSERT INTO names (name) VALUES ($1)  [name]
  SELECT * FROM users WHERE id = $1 LIMIT $2  [id, 1]
`);
  const kysely = read({
    'db.ts': `import { CamelCasePlugin, Kysely } from 'kysely'; export type Db = Kysely<unknown>;
      export const options = { plugins: [new CamelCasePlugin()] };`,
    'users.ts': `import type { Db } from './db';
      export const remove = async (context, id) => { await context.db.deleteFrom('userNames').where('userId', '=', id).execute(); };
      export class Users { constructor(private readonly db: Db) {}
        async clear(id: number) { await this.db.deleteFrom('userNames').where('userId', '=', id).execute(); } }`,
  });
  const deletion = 'DELETE FROM user_names WHERE user_id = $1  [id]';
  expect(kysely).toBe(`unit remove\n  ${deletion}\nunit Users.clear\n  ${deletion}\n`);
});

test('Drizzle: handlers of OpenAPI routes, functions that a wrapper makes, schemas of several files, lists of rows', () => {
  const text = read({
    'schema.ts': `import { pgTable, serial, text } from 'drizzle-orm/pg-core';
      export const towns = pgTable('towns', { id: serial('id').primaryKey(), name: text('name') });`,
    'guard.ts': `export function guarded(action) { return async (form) => action(parse(form)); }`,
    'a.ts': `import { and, drizzle, eq, ilike, isNull } from 'drizzle-orm/node-postgres'; import { OpenAPIHono } from '@hono/zod-openapi';
      import { towns } from './schema'; import * as schema from './schema'; import * as other from './guard'; import { guarded } from './guard';
      const db = drizzle({ schema: { ...schema, ...other } }); const router = new OpenAPIHono();
      const create = async (c) => { await db.insert(towns).values(c.req.valid('json')); };
      router.openapi({}, create);
      export const remove = guarded(async (data) => { await db.delete(towns).where(eq(towns.name, 'x')); });
      export const first = guarded(async () => db.query.towns.findFirst({ columns: { id: true } }));
      export const addAll = (names: string[]) => db.transaction(async (tx) => { await tx.insert(towns).values(names.map((name) => ({ name }))); });
      export const total = (name?: string) => db.$count(towns, and(isNull(towns.id), name ? ilike(towns.name, name) : undefined));`,
  });
  expect(text).toBe(`unit create
  INSERT INTO towns (id, name) VALUES ($1, $2)  [id, name]
unit remove
  DELETE FROM towns WHERE name = $1  ['x']
unit first
  SELECT id FROM towns LIMIT $1  [1]
unit addAll
  transaction addAll
    for row of names
      INSERT INTO towns (name) VALUES ($1)  [row]
unit total
  SELECT count(*) AS count FROM towns WHERE (($1 AND ((id IS NULL AND name ILIKE $2))) OR (NOT $3 AND (id IS NULL)))  [(name and true), name, (name and true)]
`);
});

test('an object keeps what each of several spreads gives', () => {
  const text = read({
    'schema.prisma': `model Poll { id Int @id
        title String
        place String }`,
    'polls.ts': `import { PrismaClient } from '@prisma/client'; const prisma = new PrismaClient();
      export const change = (id: number, title?: string, place?: string) =>
        prisma.poll.updateMany({ where: { id }, data: { ...(title && { title }), ...(place && { place }) } });`,
  });
  expect(text).toContain('UPDATE "Poll" SET title = $1, place = $2 WHERE id = $3  [title, place, id]');
});

describe('SET TRANSACTION', () => {
  const read1 = "await c.query('SELECT 1');";
  const set = "await c.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');";
  const refused =
    'SET TRANSACTION ISOLATION LEVEL on a condition, or after the first statement, where PostgreSQL refuses it (25001)';
  const begin = "await c.query('BEGIN');";
  test.each([
    ['before the first statement', `${begin} try { ${set} ${read1} } finally { c.release(); }`, ['(serializable)']],
    ['behind a statement', `${begin} ${read1} ${set}`, ['transaction f', refused]],
    ['on a condition', `${begin} if (x) { ${set} } ${read1}`, ['transaction f', refused]],
    ['outside a transaction, which has no effect', `${set} ${begin} ${read1}`, ['transaction f']],
    [
      'of the level that it has',
      `await c.query('BEGIN ISOLATION LEVEL SERIALIZABLE'); ${read1} ${set}`,
      ['(serializable)'],
    ],
    [
      'without a level',
      `await c.query('BEGIN ISOLATION LEVEL SERIALIZABLE'); await c.query('SET TRANSACTION READ ONLY'); ${read1}`,
      ['(serializable)'],
    ],
  ])("PostgreSQL's, %s", (_where, body, parts) => {
    expect(levelsIn(read({ 'a.ts': `${pg}${transactionOf('pool.connect', body)}` }))).toEqual(parts);
  });

  test.each([
    ['before the transaction', `${set} ${begin} ${read1}`, ['(serializable)']],
    [
      'in it',
      `${begin} ${set} ${read1}`,
      ['transaction f', 'SET TRANSACTION in a transaction, which MySQL refuses (1568)'],
    ],
  ])("MySQL's, %s", (_where, body, parts) => {
    const mysql = "import mysql from 'mysql2/promise';\nconst pool = mysql.createPool('');\n";
    const text = read({ 'a.ts': `${mysql}${transactionOf('pool.getConnection', body)}` }, false, undefined, 'mysql');
    expect(levelsIn(text)).toEqual(parts);
  });

  function transactionOf(connect: string, body: string): string {
    return `export async function f(x: number) { const c = await ${connect}(); ${body} await c.query('COMMIT'); }`;
  }

  /** Levels of transactions, or their names where they have none, and what is not understood. */
  function levelsIn(text: string): readonly string[] {
    return [...text.matchAll(/^ *transaction f (\(.*\))$|^ *(transaction f)$|not understood: (.*)/gm)].map(
      ([, level, name, reason]) => level ?? name ?? reason ?? '',
    );
  }
});

test('a loop over rows that differ by three conditions is read once', () => {
  const clauses = Array.from({ length: 3 }, (_, at) => `if (body.a${at}) query = query.where('c${at}', body.a${at});`);
  const text = read({
    'a.ts': `import knex from 'knex'; const db = knex({});
      export async function f(body) { let query = db('items'); ${clauses.join(' ')} const rows = await query;
        for (const row of rows) await db('seen').insert({ id: row.id });
        await Promise.all(rows.map(async (row) => { await db('items').where('id', row.id).del(); })); }`,
  });
  expect(text.match(/FROM items(?! WHERE id)/g)).toHaveLength(8);
  expect(text.match(/INSERT INTO seen.*|DELETE FROM.*/g)).toEqual([
    'INSERT INTO seen (id) VALUES ($1)  [row.id]',
    'DELETE FROM items WHERE id = $1  [row2.id]',
  ]);
});

test('a router of a framework has routes without a slash', () => {
  const text = read({
    'a.ts': `import Router from '@koa/router'; import { Pool } from 'pg'; const pool = new Pool(); const router = new Router();
      router.post('items.clear', async (ctx) => { await pool.query('DELETE FROM items'); });`,
  });
  expect(text).toBe(`unit POST items.clear
  DELETE FROM items
`);
});
