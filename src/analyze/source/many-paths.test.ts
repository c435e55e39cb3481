import { expect, test } from 'vitest';
import { type Abstract, constant, objectOf } from './abstract-value.ts';
import { allOf, expression } from './conditions.ts';
import { read } from './read-source.test-support.ts';
import { rowsOfPaths } from './rows-of-paths.ts';
import { StepLimit, TooLarge } from './step-limit.ts';
import { valueOf } from './value-arithmetic.ts';
import type { Value } from '../application.ts';

const list = (count: number, clause: (at: number) => string): string => {
  const added = Array.from({ length: count }, (_, at) => `if (asked.f${at}) query = query.${clause(at)};`).join(' ');
  return `import knex from 'knex'; const db = knex({});
    export async function list(asked) { let query = db('parcels').select('id'); ${added} return await query; }`;
};

const filter = (at: number): string => `where('c${at}', asked.f${at})`;
const join = (at: number): string => `leftJoin('t${at}', 't${at}.id', 'parcels.id')`;

test('a statement of few optional clauses has a form for each combination; of many, a line says that they are too many', () => {
  const few = read({ 'list.ts': list(3, join) }, false);
  expect(few.match(/FROM parcels/gi)).toHaveLength(8);
  expect(few).not.toContain('not understood');
  const many = read({ 'list.ts': list(24, join) }, false);
  expect(many).toContain('not understood: too many paths');
  expect(many).not.toMatch(/FROM parcels/i);
});

test('many optional conditions are in one statement, each with the value that decides', () => {
  expect(read({ 'list.ts': list(3, filter) }, false).match(/FROM parcels/gi)).toHaveLength(8);
  const many = read({ 'list.ts': list(24, filter) }, false);
  expect(many.match(/FROM parcels/gi)).toHaveLength(1);
  expect(many.match(/c\d+ = /g)).toHaveLength(24);
});

test('many optional fragments of postgres.js are in one statement', () => {
  const source = (count: number): string => {
    const added = Array.from(
      { length: count },
      (_, at) => '${asked.f' + at + ' ? sql`AND c' + at + ' = ${asked.f' + at + '}` : sql``}',
    );
    return `import postgres from 'postgres'; const sql = postgres(); export const list = (asked) => sql\`SELECT id FROM parcels WHERE TRUE ${added.join(' ')}\`;`;
  };
  expect(read({ 'list.ts': source(2) }, false).match(/FROM parcels/g)).toHaveLength(4);
  const many = read({ 'list.ts': source(9) }, false);
  expect(many).not.toContain('not understood');
  expect(many.match(/FROM parcels/g)).toHaveLength(1);
  expect(many).toContain('WHERE TRUE AND (($1 AND ( c0 = $2)) OR NOT $3) AND (($4 AND ( c1 = $5)) OR NOT $6)');
});

test('values that share their sides are read once for each side: a loop that keeps one of two objects, and what is read of it', () => {
  const steps = Array.from(
    { length: 40 },
    (_, at) => `if (asked.f${at}) kept = { at: kept.at, parts: [kept.at] }; else if (asked.g${at}) kept = asked.one;`,
  ).join(' ');
  const source = `import knex from 'knex'; const db = knex({});
    export async function keep(asked) {
      let kept = asked.first ? { at: 1, parts: [1] } : { at: 2, parts: [2] };
      for (const one of asked.all) { ${steps} }
      await db('parcels').where({ id: kept.at }).update({ name: kept.parts });
    }`;
  expect(read({ 'keep.ts': source }, false)).toContain('parcels');
});

test('functions of lists within each other run once where they only compute', () => {
  const depth = 10;
  const names = Array.from({ length: depth }, (_, at) => `p${at}`);
  const nested = names.reduceRight((inner, name, at) => {
    const owner = at === 0 ? 'asked' : names[at - 1];
    return `${owner}.parts.map((${name}) => ${inner})`;
  }, 'p9.id');
  const source = `import knex from 'knex'; const db = knex({});
    export async function keep(asked) { const ids = ${nested}; await db('parcels').insert({ id: 1 }); return ids; }`;
  expect(read({ 'keep.ts': source }, false, 300)).toMatch(/INSERT INTO parcels/i);
});

test('many large units take a bounded number of steps, and each has some', () => {
  const steps = new StepLimit(4000);
  const taken = Array.from({ length: 100 }, () => {
    steps.restart();
    let count = 0;
    try {
      for (;;) {
        steps.take(1);
        count++;
      }
    } catch (error) {
      expect(error).toBeInstanceOf(TooLarge);
    }
    return count;
  });
  expect(taken[0]).toBe(4000);
  expect(taken.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4000 * 5 + 100 * 100 + 100);
  expect(Math.min(...taken)).toBeGreaterThanOrEqual(100);
});

test('a value of choices that share their sides shares its parts', () => {
  const condition = (name: string): Value => ({ kind: 'argument', name });
  const choice = Array.from({ length: 60 }, (_, at) => `c${at}`).reduce<Abstract>((before, name) => {
    const other: Abstract = { kind: 'choice', condition: condition(`${name}b`), ifTrue: constant(1), ifFalse: before };
    return { kind: 'choice', condition: condition(name), ifTrue: before, ifFalse: other };
  }, constant(0));
  const value = valueOf(choice);
  const [, ifTrue, ifFalse] = value.kind === 'expression' ? value.operands : [];
  expect(ifFalse?.kind === 'expression' ? ifFalse.operands[2] : undefined).toBe(ifTrue);
});

test('a long condition depends on each of its arguments, though its parts are shared', () => {
  const asked: Value = { kind: 'argument', name: 'asked' };
  const long = Array.from({ length: 60 }).reduce<Value>((before) => expression('both', before, before), asked);
  const all = allOf([long, { kind: 'argument', name: 'other' }]);
  const parts = all.kind === 'expression' ? all.operands.slice(1) : [];
  expect(parts).toEqual([asked, { kind: 'argument', name: 'other' }]);
});

test('an object that holds itself, and objects that share others, are values', () => {
  const itself = `import { Pool } from 'pg'; const pool = new Pool();
    export async function keep(asked) { const node = { id: asked.id }; node.parent = node; await pool.query('DELETE FROM items WHERE node = $1', [node]); }`;
  expect(read({ 'keep.ts': itself }, false)).toContain('DELETE FROM items WHERE node = $1');
  const shared = Array.from({ length: 60 }).reduce<Abstract>(
    (before) => objectOf({ left: before, right: before }),
    constant(1),
  );
  const value = valueOf(shared);
  const [left, right] = value.kind === 'expression' ? value.operands : [];
  expect(left?.kind).toBe('expression');
  expect(left).toBe(right);
});

test('rows of choices that share their sides are one list of each statement', () => {
  const rows = (statement: string): Abstract => ({ kind: 'rows', statement });
  const shared = Array.from({ length: 60 }, (_, at) => `c${at}`).reduce<Abstract>((before, name) => {
    const condition = (end: string): Value => ({ kind: 'argument', name: name + end });
    const other: Abstract = { kind: 'choice', condition: condition('b'), ifTrue: rows(name), ifFalse: before };
    return { kind: 'choice', condition: condition('a'), ifTrue: before, ifFalse: other };
  }, rows('first'));
  const one = shared.kind === 'choice' ? rowsOfPaths(shared) : undefined;
  const value = one?.kind === 'value' ? one.value : undefined;
  expect(value?.kind === 'expression' ? value.operands : []).toHaveLength(61);
});

test('a list that many conditions make longer is read once, not for each combination', () => {
  const pushes = (count: number): string =>
    Array.from({ length: count }, (_, at) => `if (asked.f${at}) { parts.push('c${at}'); }`).join(' ');
  const source = (count: number): string => `import pg from 'pg'; const pool = new pg.Pool();
    export async function list(asked) { const parts = []; ${pushes(count)}
      if (parts.length > 0) await pool.query('SELECT id FROM parcels WHERE n = $1', [parts.length]); }`;
  expect(read({ 'list.ts': source(2) }, false)).toContain('if(asked.f1, if(asked.f0, 2, 1), if(asked.f0, 1, 0))');
  expect(read({ 'list.ts': source(40) }, false)).toContain('SELECT id FROM parcels WHERE n = $1');
});

test('a constructor that takes more steps than a unit may does not end the reader: the method that it makes an object for is listed', () => {
  const doubles = Array.from({ length: 12 }, (_, at) => `function f${at}(n) { return f${at + 1}(n) + f${at + 1}(n); }`);
  const source = `import pg from 'pg'; const pool = new pg.Pool();
    ${doubles.join(' ')} function f12(n) { return n; }
    export class Parcels { constructor() { this.size = f0(1); } async list() { await pool.query('SELECT id FROM parcels'); } }`;
  expect(read({ 'parcels.ts': source }, false, 500)).toContain('not understood: no unit reaches this statement');
});

test('an object that many conditions make larger with spreads is read once, not for each combination', () => {
  const spreads = (count: number): string =>
    Array.from({ length: count }, (_, at) => `if (asked.f${at}) kept = { ...kept, c${at}: asked.c${at} };`).join(' ');
  const source = (count: number): string => `import pg from 'pg'; const pool = new pg.Pool();
    export async function keep(asked) { let kept = { id: asked.id }; ${spreads(count)}
      await pool.query('DELETE FROM parcels WHERE id = $1', [kept.c1]); }`;
  expect(read({ 'keep.ts': source(2) }, false)).toContain('if(asked.f1, asked.c1, null)');
  expect(read({ 'keep.ts': source(60) }, false)).toContain('DELETE FROM parcels');
});

test('a property that one side of a spread has is read of that side, else of what was spread before', () => {
  const source = (spread: string, at: string): string => `import pg from 'pg'; const pool = new pg.Pool();
    export async function keep(asked, other) { const kept = { a: 1, ...other.row, ...${spread} };
      await pool.query('DELETE FROM items WHERE id = $1', [kept.${at}]); }`;
  const one = '(asked.f && { a: asked.x, b: asked.y })';
  expect(read({ 'keep.ts': source(one, 'b') }, false)).toContain('if(asked.f, asked.y, other.row.b)');
  expect(read({ 'keep.ts': source(one, 'c') }, false)).toContain('other.row.c');
});

test('a property that is set of an object that many conditions choose is set once for each object', () => {
  const choices = Array.from(
    { length: 40 },
    (_, at) => `if (asked.f${at}) kept = asked.g${at} ? kept : { id: asked.h${at} };`,
  ).join(' ');
  const source = `import pg from 'pg'; const pool = new pg.Pool();
    export async function keep(asked) { let kept = { id: 1 }; ${choices} kept.id = asked.last;
      await pool.query('DELETE FROM parcels WHERE id = $1', [kept.id]); }`;
  expect(read({ 'keep.ts': source }, false)).toContain('DELETE FROM parcels');
});
