/** Rows that a condition would have found, had they been there: dependencies on whoever inserts them. */
import { describe, expect, test } from 'vitest';
import type { Condition, TraceOperation } from '../trace/trace.ts';
import { mechanismsOf } from './engines.ts';
import { Columns, Shape, qualifies } from './image.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const room1: Condition = { column: 'room', comparison: '=', value: 1 };

/** In `text`, reads of nothing are of all bookings of room 1. */
function found(isolation: string, text: string, initial: readonly [string, null][] = []): readonly string[] {
  const operations = traceOf(text).map(
    (operation): TraceOperation =>
      operation.kind === 'read' && operation.reads.length === 0
        ? { ...operation, predicates: [{ table: 'bookings', where: [room1] }] }
        : operation,
  );
  const mechanisms = mechanismsOf('postgres', isolation);
  return verifyAll(mechanisms, operations, new Map(initial)).violations.map(({ mechanism }) => mechanism);
}

const both = (a: string, b: string): string => `
  a t1 r
  b t2 r
  a t1 w bookings/1=${a}
  b t2 w bookings/2=${b}
  a t1 commit
  b t2 commit`;

describe('two transactions look for bookings of a room, find none, and book it', () => {
  test('is write skew', () => {
    const skew = both('{"room":1}', '{"room":1}');
    expect(found('serializable', skew)).toEqual(['serialization-certifier']);
    expect(found('repeatable read', skew)).toEqual([]);
  });

  test('is none where one books another room, or nobody says which', () => {
    expect(found('serializable', both('{"room":2}', '{"room":1}'))).toEqual([]);
    expect(found('serializable', both('{"guest":2}', '{"room":1}'))).toEqual([]);
  });

  test('is none where one is over before the other looks', () => {
    const one = 'a t1 r \n a t1 w bookings/1={"room":1} \n a t1 commit \n';
    const other = 'b t2 r bookings/1={"room":1} \n b t2 w bookings/2={"room":1} \n b t2 commit';
    expect(found('serializable', one + other)).toEqual([]);
  });

  test('is none where one rolls back', () => {
    expect(found('serializable', both('{"room":1}', '{"room":1}').replace('t1 commit', 't1 abort'))).toEqual([]);
  });

  test('is write skew also where the rows were there and did not satisfy the condition', () => {
    const before = 'c t0 w bookings/1={"room":3} bookings/2={"room":4} \n c t0 commit \n';
    expect(found('serializable', before + both('{"room":1}', '{"room":1}'))).toEqual(['serialization-certifier']);
  });

  test('is write skew also in a table of which nothing was known before', () => {
    const opaque = traceOf('c t0 w \n c t0 commit').map((operation) =>
      operation.kind === 'write' ? { ...operation, mayWrite: ['bookings'] } : operation,
    );
    const skew = traceOf(both('{"room":1}', '{"room":1}')).map((operation) => ({
      ...operation,
      start: operation.start + 100,
      end: operation.end + 100,
      predicates: operation.kind === 'read' ? [{ table: 'bookings', where: [room1] }] : [],
    }));
    const { violations } = verifyAll(mechanismsOf('postgres', 'serializable'), [...opaque, ...skew]);
    expect(violations.map(({ mechanism }) => mechanism)).toEqual(['serialization-certifier']);
  });
});

test('a reader that is late relates to what was written before it was looked at', () => {
  const text = `
    a t1 r @0-100
    b t2 r @5-10
    b t2 w bookings/2={"room":1} @110-120
    b t2 commit @130-140
    a t1 w bookings/1={"room":1} @150-160
    a t1 commit @170-180`;
  expect(found('serializable', text)).toEqual(['serialization-certifier']);
});

test.each([
  ['=', 'b', true],
  ['!=', 'c', false],
  ['<', 'c', false],
] as const)('whether a text is %s %j is known without its collation: %s', (comparison, value, isKnown) => {
  expect(qualifies(new Columns(new Shape(['name']), ['b']), [{ column: 'name', comparison, value }])).toBe(isKnown);
  expect(
    qualifies(new Columns(new Shape(['n']), [2]), [{ column: 'n', comparison, value: comparison === '=' ? 2 : 3 }]),
  ).toBe(true);
});
