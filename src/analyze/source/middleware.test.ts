/** Middleware belongs to the unit of each handler that it runs before: what it read, the handler writes by. */
import { expect, test } from 'vitest';
import { conclude } from '../../evidence/index.ts';
import { analyze } from '../analyze.ts';
import { applicationFromSource } from './index.ts';
import { pg, read, ts } from './read-source.test-support.ts';

const schema =
  'CREATE TABLE a (id int PRIMARY KEY, bal int NOT NULL); CREATE TABLE log (id serial PRIMARY KEY, n int);';

async function verdictOf(files: Readonly<Record<string, string>>): Promise<string> {
  const application = applicationFromSource({ ts, files: new Map(Object.entries(files)), schema, dialect: 'postgres' });
  const { evidence } = await analyze(application, { isolation: 'read committed' });
  return conclude(evidence).kind;
}

const row = (id: string): string => `(await pool.query('SELECT bal FROM a WHERE id = $1', [${id}])).rows[0]`;
const write = (id: string, value: string): string =>
  `await pool.query('UPDATE a SET bal = $2 WHERE id = $1', [${id}, ${value}]);`;
const express = `import express from 'express'; ${pg} const app = express();`;
const load = `async function load(req, res, next) { req.acc = ${row('req.params.id')}; next(); }`;
const put = `async (req, res) => { ${write('req.params.id', 'req.acc.bal - req.body.n')} res.json({}); }`;

/** A guard with its body, where `ROW` is the row, and a controller. */
function nest(guard: string, use: string, parameters: string, value: string): Readonly<Record<string, string>> {
  return {
    'a.ts': `import { Controller, Injectable, Put, Req, UseGuards } from '@nestjs/common'; import { Account } from './account'; import { Pool } from 'pg';
      @Injectable() export class Loaded { constructor(private readonly pool: Pool) {}
        async canActivate(context: any) { const req = context.switchToHttp().getRequest(); ${guard.replace('ROW', row('req.params.id').replace('pool', 'this.pool'))} } }
      @Controller('a') export class Accounts { constructor(private readonly pool: Pool) {}
        ${use} @Put(':id') async put(${parameters}) { ${write('req.params.id', value).replace('pool', 'this.pool')} } }`,
  };
}

test.each<[string, Readonly<Record<string, string>>]>([
  ['Express, of the application', { 'a.ts': `${express} ${load} app.use('/a/:id', load); app.put('/a/:id', ${put});` }],
  [
    'Express, of a router',
    {
      'a.ts': `${express} ${load} const router = express.Router(); router.use(load); router.put('/a/:id', ${put}); app.use(router);`,
    },
  ],
  [
    'Express, of the application for a router of another file',
    {
      'app.ts': `${express} import router from './router'; ${load} app.use(load); app.use('/api', router);`,
      'router.ts': `import { Router } from 'express'; ${pg} const router = Router(); router.put('/a/:id', ${put}); export default router;`,
    },
  ],
  ['Express, of the route', { 'a.ts': `${express} ${load} app.put('/a/:id', load, ${put});` }],
  [
    'Express, on res.locals',
    {
      'a.ts': `${express} app.use(async (req, res, next) => { res.locals.acc = ${row('req.params.id')}; next(); });
    app.put('/a/:id', async (req, res) => { ${write('req.params.id', 'res.locals.acc.bal - 1')} });`,
    },
  ],
  [
    'Express, by not calling next',
    {
      'a.ts': `${express} app.use(async (req, res, next) => { const acc = ${row('req.params.id')}; if (acc.bal < 1) return res.status(409).end(); next(); });
    app.put('/a/:id', async (req, res) => { ${write('req.params.id', 'req.body.n')} });`,
    },
  ],
  [
    'Express, by an error that it hands on',
    {
      'a.ts': `${express} app.use(async (req, res, next) => { const acc = ${row('req.params.id')}; if (acc.bal < 1) return next(new Error('none')); next(); });
    app.put('/a/:id', async (req, res) => { ${write('req.params.id', 'req.body.n')} });`,
    },
  ],
  [
    'Express, in a callback',
    {
      'a.ts': `${express} import jwt from 'jsonwebtoken'; app.use((req, res, next) => { jwt.verify(req.headers.token, 'k', async () => { req.acc = ${row('req.params.id')}; next(); }); });
    app.put('/a/:id', ${put});`,
    },
  ],
  [
    'Koa',
    {
      'a.ts': `import Koa from 'koa'; import Router from '@koa/router'; ${pg} const app = new Koa(); const router = new Router();
    app.use(async (ctx, next) => { ctx.state.acc = ${row('ctx.params.id')}; await next(); });
    router.put('/a/:id', async (ctx) => { ${write('ctx.params.id', 'ctx.state.acc.bal - 1')} }); app.use(router.routes());`,
    },
  ],
  [
    'Hono',
    {
      'a.ts': `import { Hono } from 'hono'; ${pg} const app = new Hono();
    app.use('/a/*', async (c, next) => { c.set('acc', ${row("c.req.param('id')")}); await next(); });
    app.put('/a/:id', async (c) => { ${write("c.req.param('id')", "c.get('acc').bal - 1")} });`,
    },
  ],
  [
    'Fastify, as a hook',
    {
      'a.ts': `import fastify from 'fastify'; ${pg} const app = fastify();
    app.addHook('preHandler', async (request) => { request.acc = ${row('request.params.id')}; });
    app.put('/a/:id', async (request) => { ${write('request.params.id', 'request.acc.bal - 1')} });`,
    },
  ],
  [
    'Fastify, of a route',
    {
      'a.ts': `import fastify from 'fastify'; ${pg} const app = fastify();
    app.put('/a/:id', { preHandler: async (request) => { request.acc = ${row('request.params.id')}; } }, async (request) => { ${write('request.params.id', 'request.acc.bal - 1')} });`,
    },
  ],
  [
    'Fastify, of a route as an object',
    {
      'a.ts': `import fastify from 'fastify'; ${pg} const app = fastify();
    app.route({ method: 'PUT', url: '/a/:id', handler: async (request) => { ${write('request.params.id', 'request.acc.bal - 1')} }, preHandler: [async (request) => { request.acc = ${row('request.params.id')}; }] });`,
    },
  ],
  [
    'tRPC',
    {
      'a.ts': `import { initTRPC } from '@trpc/server'; ${pg} const t = initTRPC.create();
    const loaded = t.procedure.use(async ({ ctx, next }) => { const acc = ${row('ctx.id')}; return next({ ctx: { acc } }); });
    export const router = t.router({ put: loaded.mutation(async ({ ctx }) => { ${write('ctx.id', 'ctx.acc.bal - 1')} }) });`,
    },
  ],
  ['NestJS, a guard', nest('req.acc = ROW; return true;', '@UseGuards(Loaded)', '@Req() req: any', 'req.acc.bal - 1')],
  ['NestJS, a guard that decides', nest('return ROW.bal > 0;', '@UseGuards(Loaded)', '@Req() req: any', 'req.body.n')],
  [
    'NestJS, a guard of all, by a decorator of its own',
    {
      ...nest('req.acc = ROW; return true;', '', '@Req() req: any, @Account() acc: any', 'acc.bal - 1'),
      'module.ts': `import { Module } from '@nestjs/common'; import { APP_GUARD } from '@nestjs/core'; import { Loaded } from './a';
    @Module({ providers: [{ provide: APP_GUARD, useClass: Loaded }] }) export class AppModule {}`,
    },
  ],
])('%s: no proof', async (_, files) => {
  expect(await verdictOf(files)).not.toBe('satisfied');
});

test('a transaction around `await next()` is one around the handler', () => {
  const text = read({
    'a.ts': `import Koa from 'koa'; import Router from '@koa/router'; ${pg} const app = new Koa(); const router = new Router();
      app.use(async (ctx, next) => { const client = await pool.connect(); await client.query('BEGIN'); ctx.client = client; await next(); await client.query('COMMIT'); });
      router.put('/a/:id', async (ctx) => { await ctx.client.query('DELETE FROM a WHERE id = $1', [ctx.params.id]); }); app.use(router.routes());`,
  });
  expect(text).toMatch(/^unit PUT \/a\/:id\n {2}transaction \S+\n {4}DELETE FROM a/);
});

test('the handler runs where middleware called next', () => {
  const text = read({
    'a.ts': `${express} app.use(async (req, res, next) => { const { rows } = await pool.query('SELECT bal FROM a WHERE id = $1', [req.params.id]); if (rows.length === 0) return res.status(404).end(); next(); });
      app.put('/a/:id', async (req, res) => { await pool.query('DELETE FROM a WHERE id = $1', [req.params.id]); });`,
  });
  expect(text).toBe(`unit PUT /a/:id
  a := SELECT bal FROM a WHERE id = $1  [params.id]
  if (count(a) <> 0)
    DELETE FROM a WHERE id = $1  [params.id]
`);
});

test.each<[string, string]>([
  ['registered behind the route', `app.put('/a/:id', remove); app.use(load);`],
  ['of another path', `app.use('/b', load); app.put('/a/:id', remove);`],
  [
    'of a router that is not above it',
    `const other = express.Router(); other.use(load); app.use('/other', other); app.put('/a/:id', remove);`,
  ],
])('middleware %s is not part of it', (_, registrations) => {
  const remove =
    "async function remove(req, res) { await pool.query('DELETE FROM a WHERE id = $1', [req.params.id]); }";
  const text = read({ 'a.ts': `${express} ${load} ${remove} ${registrations}` });
  expect(text).toContain('unit PUT /a/:id\n  DELETE FROM a');
  expect(text).toContain('SELECT bal');
});
