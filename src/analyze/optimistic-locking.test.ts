/**
 * Optimistic locks: an UPDATE asks for the version that was read, and the code looks at its row count. A run that finds another version is refused: it writes
 * nothing and says so. Runs are fine where a serial order of those that were not refused explains them.
 */
import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analyze, type Analysis } from './analyze.ts';
import type { Dialect, Statement, Step, UnitStep } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import { applicationFromSource, tableColumns } from './source/index.ts';
import { pg, ts } from './source/read-source.test-support.ts';

const tables =
  'CREATE TABLE docs (id int PRIMARY KEY, body text NOT NULL, version int NOT NULL); CREATE TABLE log (id serial PRIMARY KEY, body text NOT NULL);';

const found = (analysis: Analysis): readonly string[] =>
  [...analysis.anomalies, ...analysis.unitAnomalies].map(({ name, status }) => `${status.kind} ${name}`);

/** What the verdict is, and what was found. */
const verdictOf = (analysis: Analysis): readonly string[] => [conclude(analysis.evidence).kind, ...found(analysis)];

async function ofSource(files: Readonly<Record<string, string>>, dialect: Dialect = 'postgres'): Promise<Analysis> {
  const schema = tables;
  const known = await tableColumns({ schema, dialect });
  const app = applicationFromSource({ ts, files: new Map(Object.entries(files)), schema, dialect, tables: known });
  expect(app.notUnderstood).toEqual([]);
  return analyze(app, { isolation: 'read committed' });
}

const lost = ['violated', 'confirmed not atomic'];

describe('in each library', () => {
  const prisma = {
    'schema.prisma': `model Doc { id Int @id\n body String\n version Int\n @@map("docs") }`,
  };
  const entity = `import { Column, DataSource, Entity, PrimaryColumn, VersionColumn } from 'typeorm';
    @Entity('docs') class Doc { @PrimaryColumn() id: number; @Column() body: string; @VersionColumn() version: number; }
    const docs = new DataSource({}).getRepository(Doc);\n`;
  const drizzle = `import { drizzle } from 'drizzle-orm/node-postgres'; import { and, eq, sql } from 'drizzle-orm'; import { integer, pgTable, text } from 'drizzle-orm/pg-core';
    const docs = pgTable('docs', { id: integer('id').primaryKey(), body: text('body').notNull(), version: integer('version').notNull() });
    const db = drizzle(process.env.DATABASE_URL);\n`;
  const sequelize = `import { DataTypes, Sequelize } from 'sequelize'; const sequelize = new Sequelize('');
    const Doc = sequelize.define('Doc', { id: { type: DataTypes.INTEGER, primaryKey: true }, body: DataTypes.TEXT, version: DataTypes.INTEGER }, { tableName: 'docs', timestamps: false });\n`;
  const kysely = `import { Kysely } from 'kysely'; const db = new Kysely({});\n`;
  const knex = `import makeKnex from 'knex'; const knex = makeKnex({ client: 'pg' });\n`;
  const save = 'export async function save(id: number, body: string)';
  const route = `import express from 'express'; const app = express();`;

  /** The end of each looks at the count; `[]` in its place looks at nothing. */
  const styles: readonly (readonly [style: string, files: Readonly<Record<string, string>>, looks: string])[] = [
    [
      'pg: the count is returned',
      {
        'docs.ts': `${pg}${save} {
          const { rows } = await pool.query('SELECT body, version FROM docs WHERE id = $1', [id]);
          if (rows.length === 0) return false;
          const result = await pool.query('UPDATE docs SET body = $2, version = version + 1 WHERE id = $1 AND version = $3', [id, body, rows[0].version]);
          return result.rowCount === 1;
        }`,
      },
      'return result.rowCount === 1;',
    ],
    [
      'pg: a throw, and a version that the program adds to',
      {
        'docs.ts': `${pg}${save} {
          const { rows } = await pool.query('SELECT version FROM docs WHERE id = $1', [id]);
          if (rows.length === 0) throw new Error('not found');
          const { rowCount } = await pool.query('UPDATE docs SET body = $2, version = $4 WHERE id = $1 AND version = $3', [id, body, rows[0].version, rows[0].version + 1]);
          if (rowCount === 0) throw new Error('conflict');
        }`,
      },
      "if (rowCount === 0) throw new Error('conflict');",
    ],
    [
      'pg: RETURNING, of which the response has the row',
      {
        'docs.ts': `${pg}${route} app.put('/docs/:id', async (req, res) => {
          const { rows } = await pool.query('SELECT version FROM docs WHERE id = $1', [req.params.id]);
          const saved = await pool.query('UPDATE docs SET body = $2, version = version + 1 WHERE id = $1 AND version = $3 RETURNING version', [req.params.id, req.body.body, rows[0].version]);
          res.json({ saved: saved.rows[0] });
        });`,
      },
      'res.json({ saved: saved.rows[0] });',
    ],
    [
      'Prisma: updateMany',
      {
        ...prisma,
        'docs.ts': `import { PrismaClient } from '@prisma/client'; const prisma = new PrismaClient();
          ${route} app.put('/docs/:id', async (req, res) => {
            const id = Number(req.params.id);
            const doc = await prisma.doc.findUnique({ where: { id } });
            if (!doc) return res.sendStatus(404);
            const { count } = await prisma.doc.updateMany({ where: { id, version: doc.version }, data: { body: req.body.body, version: { increment: 1 } } });
            if (count === 0) return res.sendStatus(409);
            res.sendStatus(204);
          });`,
      },
      'if (count === 0) return res.sendStatus(409);',
    ],
    [
      'Drizzle',
      {
        'docs.ts': `${drizzle}${save} {
          const [doc] = await db.select().from(docs).where(eq(docs.id, id));
          if (!doc) return null;
          const saved = await db.update(docs).set({ body, version: sql\`\${docs.version} + 1\` }).where(and(eq(docs.id, id), eq(docs.version, doc.version))).returning();
          if (saved.length === 0) throw new Error('conflict');
        }`,
      },
      "if (saved.length === 0) throw new Error('conflict');",
    ],
    [
      'Kysely',
      {
        'docs.ts': `${kysely}${save} {
          const doc = await db.selectFrom('docs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
          const result = await db.updateTable('docs').set((eb) => ({ body, version: eb('version', '+', 1) })).where('id', '=', doc.id).where('version', '=', doc.version).executeTakeFirst();
          if (result.numUpdatedRows === 0n) throw new Error('conflict');
        }`,
      },
      "if (result.numUpdatedRows === 0n) throw new Error('conflict');",
    ],
    [
      'TypeORM: update',
      {
        'docs.ts': `${entity}${save} {
          const doc = await docs.findOneByOrFail({ id });
          const result = await docs.update({ id, version: doc.version }, { body });
          if (result.affected === 0) throw new Error('conflict');
        }`,
      },
      "if (result.affected === 0) throw new Error('conflict');",
    ],
    [
      'Sequelize',
      {
        'docs.ts': `${sequelize}${save} {
          const doc = await Doc.findByPk(id);
          if (!doc) return null;
          const [count] = await Doc.update({ body, version: sequelize.literal('version + 1') }, { where: { id, version: doc.version } });
          if (count === 0) throw new Error('conflict');
        }`,
      },
      "if (count === 0) throw new Error('conflict');",
    ],
    [
      'Knex',
      {
        'docs.ts': `${knex}${save} {
          const doc = await knex('docs').where({ id }).first();
          if (!doc) return null;
          const count = await knex('docs').where({ id, version: doc.version }).update({ body, version: knex.raw('version + 1') });
          if (!count) throw new Error('conflict');
        }`,
      },
      "if (!count) throw new Error('conflict');",
    ],
  ];
  test.each(styles)('%s: robust', async (_, files) => {
    expect(verdictOf(await ofSource(files))).toEqual(['satisfied']);
  });

  test.each(styles)('%s, left out: the write is lost without a word', async (_, files, looks) => {
    const text = files['docs.ts'] ?? '';
    expect(text).toContain(looks);
    expect(verdictOf(await ofSource({ ...files, 'docs.ts': text.replace(looks, '') }))).toEqual(lost);
  });

  const update = `await pool.query('UPDATE docs SET body = $2, version = version + 1 WHERE id = $1 AND version = $3', [id, body, rows[0].version]);`;
  const reading = `const { rows } = await pool.query('SELECT version FROM docs WHERE id = $1', [id]); const { rowCount } = ${update}`;
  test.each<[string, Readonly<Record<string, string>>]>([
    [
      'Prisma: update, which throws where it finds no row',
      {
        ...prisma,
        'docs.ts': `import { PrismaClient } from '@prisma/client'; const prisma = new PrismaClient();
          ${save} {
            const doc = await prisma.doc.findUniqueOrThrow({ where: { id } });
            await prisma.doc.update({ where: { id, version: doc.version }, data: { body, version: { increment: 1 } } });
          }`,
      },
    ],
    [
      'Koa: the body of the response',
      {
        'docs.ts': `${pg}import Router from '@koa/router'; const router = new Router();
          router.put('/docs/:id', async (ctx) => { const { id } = ctx.params; const { body } = ctx.request; ${reading} ctx.body = { isSaved: rowCount === 1 }; });`,
      },
    ],
    [
      'Hono: what the handler returns',
      {
        'docs.ts': `${pg}import { Hono } from 'hono'; const app = new Hono();
          app.put('/docs/:id', async (c) => { const id = c.req.param('id'); const body = await c.req.text(); ${reading} return c.json({ isSaved: rowCount === 1 }); });`,
      },
    ],
  ])('%s: robust', async (_, files) => {
    expect(verdictOf(await ofSource(files))).toEqual(['satisfied']);
  });

  test('a row count that is only logged: the write is lost without a word', async () => {
    const files = { 'docs.ts': `${pg}${save} { ${reading} console.log(rowCount); }` };
    expect(verdictOf(await ofSource(files))).toEqual(lost);
  });

  test('TypeORM: save of a row with a version does not ask for it', async () => {
    const files = {
      'docs.ts': `${entity}${save} { const doc = await docs.findOneByOrFail({ id }); doc.body = doc.body + body; await docs.save(doc); }`,
    };
    expect(found(await ofSource(files))).not.toEqual([]);
  });

  test('an error that the database reports says nothing of the row count', async () => {
    const files = {
      'docs.ts': `${pg}${save} {
        const { rows } = await pool.query('SELECT version FROM docs WHERE id = $1', [id]);
        let hasFailed = false;
        try {
          await pool.query('UPDATE docs SET body = $2, version = version + 1 WHERE id = $1 AND version = $3', [id, body, rows[0].version]);
        } catch (error) { hasFailed = true; }
        return hasFailed;
      }`,
    };
    expect(found(await ofSource(files))).not.toEqual([]);
  });
});

describe('what the version guards', () => {
  const isNone = expression('=', { kind: 'row-count', statement: 'saved' }, 0);
  const read = statement('SELECT body, version FROM docs WHERE id = $1', [argument('id')], 'doc');
  const longer = expression('||', column('doc', 'body'), argument('text'));
  const write = (set: string, guard: string): Statement =>
    statement(
      `UPDATE docs SET ${set} WHERE id = $1${guard}`,
      [argument('id'), longer, ...(guard === '' ? [] : [column('doc', 'version')])],
      'saved',
    );
  const guarded = write('body = $2, version = version + 1', ' AND version = $3');
  const save = (...steps: readonly UnitStep[]): readonly UnitStep[] => [
    ...steps,
    branch<UnitStep>(isNone, [{ kind: 'return' }]),
  ];
  const analyzed = (units: Readonly<Record<string, readonly UnitStep[]>>): Promise<Analysis> =>
    analyze(application({ schema: tables, units }), { isolation: 'read committed' });

  test('a column that every writer changes with the version', async () => {
    expect(verdictOf(await analyzed({ save: save(read, guarded) }))).toEqual(['satisfied']);
  });

  test.each<[string, readonly UnitStep[]]>([
    ['writes it without the version', [statement("UPDATE docs SET body = 'x' WHERE id = $1", [argument('id')])]],
    ['sets the version back', [statement("UPDATE docs SET body = 'x', version = 1 WHERE id = $1", [argument('id')])]],
    [
      'sets the version back, and nothing else',
      [statement('UPDATE docs SET version = 1 WHERE id = $1', [argument('id')])],
    ],
    [
      'upserts the version, and nothing else',
      [statement("INSERT INTO docs VALUES ($1, 'x', 1) ON CONFLICT (id) DO UPDATE SET version = 1", [argument('id')])],
    ],
    [
      'makes the row anew',
      [
        transaction('renew', null, [
          statement('DELETE FROM docs WHERE id = $1', [argument('id')]),
          statement("INSERT INTO docs VALUES ($1, 'x', 1)", [argument('id')]),
        ]),
      ],
    ],
  ])('another unit %s: a finding', async (_, other) => {
    expect(found(await analyzed({ save: save(read, guarded), other }))).not.toEqual([]);
  });

  test('a unit that writes without the version: the lost write is confirmed', async () => {
    const other = [statement("UPDATE docs SET body = 'x' WHERE id = $1", [argument('id')])];
    const { unitAnomalies } = await analyzed({ save: save(read, guarded), other });
    expect(unitAnomalies).toMatchObject([{ transactions: ['save', 'other'], status: { kind: 'confirmed' } }]);
  });

  test('an UPDATE of the row by its key alone: confirmed, though its row count is looked at', async () => {
    expect(verdictOf(await analyzed({ save: save(read, write('body = $2', '')) }))).toEqual(lost);
  });

  test('text that was read before the version was read again: confirmed', async () => {
    const again = statement('SELECT version FROM docs WHERE id = $1', [argument('id')], 'now');
    const stale = statement(
      'UPDATE docs SET body = $2, version = version + 1 WHERE id = $1 AND version = $3',
      [argument('id'), longer, column('now', 'version')],
      'saved',
    );
    expect(verdictOf(await analyzed({ save: save(read, again, stale) }))).toEqual(lost);
  });

  test('two rows, of which one is guarded: the other is lost', async () => {
    const other = statement('SELECT body FROM docs WHERE id = $1', [argument('other')], 'second');
    const both = transaction('both', null, [
      guarded,
      branch<Step>(isNone, [abort()]),
      statement('UPDATE docs SET body = $2, version = version + 1 WHERE id = $1', [
        argument('other'),
        expression('||', column('second', 'body'), argument('text')),
      ]),
    ]);
    expect(found(await analyzed({ save: [read, other, both] }))).toContain('confirmed not atomic');
  });

  test('what the unit writes in a later transaction, by what it read before the guard', async () => {
    const copy = statement('UPDATE copies SET body = $2 WHERE id = $1', [argument('id'), longer]);
    const units = { save: [...save(read, guarded), copy] };
    const schema = `${tables} CREATE TABLE copies (id int PRIMARY KEY, body text NOT NULL)`;
    const { unitAnomalies } = await analyze(application({ schema, units }), { isolation: 'read committed' });
    expect(unitAnomalies).toMatchObject([{ status: { kind: 'confirmed' } }]);
  });

  test('where equal texts may differ, as in MySQL, a run that was refused is no lost write, but nothing is proven', async () => {
    const schema = 'CREATE TABLE orders (id int PRIMARY KEY, state varchar(20) NOT NULL, note varchar(20) NOT NULL)';
    const order = statement('SELECT state FROM orders WHERE id = ?', [argument('id')], 'order');
    const ship = (...behind: readonly UnitStep[]): readonly UnitStep[] => [
      order,
      statement(
        'UPDATE orders SET state = ?, note = ? WHERE id = ? AND state = ?',
        ['shipped', argument('note'), argument('id'), column('order', 'state')],
        'saved',
      ),
      ...behind,
    ];
    const ofOrders = (steps: readonly UnitStep[]): Promise<Analysis> =>
      analyze(application({ dialect: 'mysql', schema, units: { ship: steps } }), { isolation: 'repeatable read' });
    expect(verdictOf(await ofOrders(ship(branch<UnitStep>(isNone, [{ kind: 'return' }]))))).toEqual([
      'unknown',
      'possible not atomic',
    ]);
    expect(verdictOf(await ofOrders(ship()))).toEqual(lost);
  });

  test('a run that writes besides is compared', async () => {
    const log = statement('INSERT INTO log (body) VALUES ($1)', [column('doc', 'body')]);
    const late = write('body = $2, version = 1', ' AND version = $3');
    expect(verdictOf(await analyzed({ save: save(read, late, log) }))).toEqual(lost);
  });

  test('in one transaction that rolls back', async () => {
    const both = transaction('save', null, [read, guarded, branch<Step>(isNone, [abort()])]);
    expect(verdictOf(await analyzed({ save: [both] }))).toEqual(['satisfied']);
  });

  test('in one transaction, with another that sets the version back and nothing else: a finding', async () => {
    const both = transaction('save', null, [read, guarded, branch<Step>(isNone, [abort()])]);
    const upsert = "INSERT INTO docs VALUES ($1, 'x', 1) ON CONFLICT (id) DO UPDATE SET version = 1";
    const units = { save: [both], restore: [statement(upsert, [argument('id')])] };
    expect(found(await analyzed(units))).not.toEqual([]);
  });

  test('in one transaction that writes besides, also where the guard finds no row: a finding', async () => {
    const log = statement('INSERT INTO log (body) VALUES ($1)', [column('doc', 'body')]);
    const both = transaction('save', null, [read, guarded, log, branch<Step>(isNone, [])]);
    expect(found(await analyzed({ save: [both] }))).not.toEqual([]);
  });

  test('a state that is asked for again', async () => {
    const schema = 'CREATE TABLE orders (id int PRIMARY KEY, state text NOT NULL, is_paid boolean NOT NULL)';
    const order = statement('SELECT state, is_paid FROM orders WHERE id = $1', [argument('id')], 'order');
    const ship = statement(
      "UPDATE orders SET state = 'shipped' WHERE id = $1 AND state = 'open'",
      [argument('id')],
      'saved',
    );
    const cancel = statement(
      "UPDATE orders SET state = 'cancelled' WHERE id = $1 AND state = 'open'",
      [argument('id')],
      'saved',
    );
    const unless = (one: Statement): readonly UnitStep[] => [
      order,
      branch<UnitStep>(expression('<>', column('order', 'state'), 'open'), [{ kind: 'return' }]),
      one,
      branch<UnitStep>(isNone, [{ kind: 'return' }]),
    ];
    const app = application({
      schema,
      units: { ship: unless(ship), cancel: unless(cancel) },
    });
    expect(verdictOf(await analyze(app, { isolation: 'read committed' }))).toEqual(['satisfied']);
  });
});
