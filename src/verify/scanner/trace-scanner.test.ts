/** The scanner of bytes against the reader that parses JSON: the same operations from every text, and the same errors. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InputError } from '../../base/input-error.ts';
import { OperationTable } from '../operation-table.ts';
import { TraceReader } from '../../trace/reader.ts';
import { TraceScanner } from './trace-scanner.ts';
import type { operationFields } from '../../trace/operation-fields.ts';
import { operationKinds, type TraceOperation } from '../../trace/trace.ts';

interface Outcome {
  readonly operations: readonly (readonly [TraceOperation, number])[];
  readonly base: bigint;
  readonly error: unknown;
}

function outcomeOf(run: (found: [TraceOperation, number][]) => bigint): Outcome {
  const operations: [TraceOperation, number][] = [];
  try {
    return { base: run(operations), operations, error: null };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { base: 0n, operations, error: { code: error.code, line: error.place?.line } };
  }
}

function byReader(bytes: Uint8Array): Outcome {
  return outcomeOf((found) => {
    const reader = new TraceReader({ onOperation: (operation, line) => found.push([operation, line]) });
    reader.push(bytes);
    reader.finish();
    return reader.base;
  });
}

function byScanner(bytes: Uint8Array, size: number): Outcome {
  return outcomeOf((found) => {
    const operations = new OperationTable();
    const scanner = new TraceScanner({
      operations,
      onOperation: (operation, line) => {
        found.push([operations.operationAt(operation), line]);
        operations.remove(operation);
      },
    });
    for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
    scanner.finish();
    return scanner.base;
  });
}

const text = fc.constantFrom(
  'a',
  'b',
  't/1',
  'accounts/77',
  '',
  'ä',
  '\u0001',
  '"',
  '123',
  'x'.repeat(300),
  '__proto__',
);
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.constantFrom(
    null,
    true,
    false,
    1.5,
    -12.25,
    0.1,
    1e-7,
    123456789.123456,
    1234567890.1234567,
    -0,
    1e21,
    2 ** 63,
    [1],
    { b: 2 },
  ),
);
const value = fc.oneof(scalar, fc.dictionary(text, scalar, { maxKeys: 3 }));
const pairs = fc.array(fc.tuple(text, value), { maxLength: 3 });
const unknown = fc.array(fc.tuple(text, fc.array(text, { maxLength: 2 })), { maxLength: 3 });
const condition = fc.tuple(text, fc.constantFrom('=', '!=', '<', '<=', '>', '>=', '~'), value);
const predicates = fc.array(
  fc.oneof(
    fc.record({ table: text, where: fc.array(condition, { maxLength: 3 }) }),
    fc.record({ where: fc.array(condition, { maxLength: 1 }), table: text, more: text }, { requiredKeys: ['table'] }),
  ),
  { maxLength: 2 },
);
const opaque = fc.constantFrom('reads', 'writes', 'read', 1);
const tables = fc.oneof(fc.array(text, { maxLength: 3 }), fc.constantFrom(null, 'a', [1]));
const time = fc.oneof(fc.nat(100), fc.constantFrom(null, -1, 1.5, '7', 2 ** 60, '1663798322622208619'));
const line = fc
  .record(
    {
      session: text,
      transaction: text,
      op: fc.constantFrom('begin', 'read', 'write', 'commit', 'abort', 'end', 'scan'),
      reads: pairs,
      writes: pairs,
      unknown,
      predicates,
      opaque,
      tables,
      failed: fc.constantFrom(true, false, 1),
      lock: fc.constantFrom('update', 'share', null, 'x'),
      code: text,
      start: time,
      end: time,
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.stringify(fields));
const plain = fc
  .record({
    op: fc.constantFrom('read', 'write'),
    pairs: fc.array(fc.tuple(fc.constantFrom('x', 'y/1', 'z'), value), { maxLength: 12 }),
    start: fc.nat(1e6),
    length: fc.nat(100),
    space: fc.constantFrom('', ' ', '\t'),
    cut: fc.option(fc.nat(80), { freq: 8 }),
  })
  .map(({ op, pairs: rows, start, length, space, cut }) => {
    const fields = `"session":"a",${space}"transaction":"t${start}",${space}"op":"${op}","${op}s":${space}${JSON.stringify(rows)}`;
    const whole = `{${fields},"start":${start},"end":${start + length}}`;
    return cut === null ? whole : whole.slice(0, cut) + whole.slice(cut + 1);
  });
/** What recorders write: rows under keys that are few, so that what is unknown often is of one of them. */
const key = fc.constantFrom('x', 'y/1', 'z');
const columns = fc.dictionary(fc.constantFrom('n', 'm', '1'), scalar, { maxKeys: 2 });
const recorded = fc
  .record({
    rows: fc.array(fc.tuple(key, fc.oneof({ weight: 4, arbitrary: columns }, fc.constant(null))), { maxLength: 4 }),
    unknown: fc.array(fc.tuple(key, fc.array(fc.constantFrom('n', 'm', 'o'), { maxLength: 2 })), { maxLength: 3 }),
    predicates: fc.option(
      fc.array(
        fc.record({
          table: key,
          where: fc.array(fc.tuple(key, fc.constantFrom('=', '<', '>='), scalar), { maxLength: 2 }),
        }),
        { maxLength: 2 },
      ),
    ),
    opaque: fc.option(fc.constantFrom('reads', 'writes'), { freq: 2 }),
    tables: fc.option(fc.array(key, { maxLength: 2 }), { freq: 2 }),
    space: fc.constantFrom('', ' ', '\t'),
  })
  .map(({ rows, unknown: unknowns, predicates: all, opaque: what, tables: which, space }) => {
    const whole = JSON.stringify({
      session: 'a',
      transaction: 't',
      op: 'write',
      writes: rows,
      unknown: unknowns,
      predicates: all ?? undefined,
      opaque: what ?? undefined,
      tables: which ?? undefined,
      start: 7,
      end: 8,
    });
    return whole.replaceAll(',', `${space},${space}`).replaceAll(']', `${space}]`);
  });
/** What every operation needs, but `op`. */
const few = [
  ['session', '"a"'],
  ['transaction', '"t"'],
  ['start', '3'],
  ['end', '4'],
] as const;
const first = '{"session":"s","transaction":"t","op":"begin","start":0,"end":0}';

test('the same from every text, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 3, arbitrary: plain }, { weight: 3, arbitrary: recorded }, line, fc.constant('')), {
        maxLength: 6,
      }),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 400 }),
      (lines, isPlain, isClosed, size) => {
        const bytes = new TextEncoder().encode(
          [...(isPlain ? [first] : []), ...lines].join('\n') + (isClosed ? '\n' : ''),
        );
        expect(byScanner(bytes, size)).toEqual(byReader(bytes));
      },
    ),
    { numRuns: process.env['MOIRAI_HEAVY'] === '1' ? 20_000 : 800 },
  );
});

const numbers =
  '-0 -0.0 0.0 -0.5 00.5 01 1. .5 1.50 1.2.3 1e2 1.5E1 - +1 123456789012345 12345678.1234567 1234567.123456789 0.30000000000000004 9007199254740993';
const conditions =
  '["k","=",1], | , | ["k","=",1],["k","<",2.5] | ["k","=",1] ["k","=",1] | ["k","=",1,2] | ["k","="] | ["k","=",[1]] | ["k","~",1]';

test.each([
  ...numbers.split(' ').map((number) => `"writes":[["x",{"n":${number}}]]`),
  ...numbers.split(' ').map((number) => `"writes":[["x",${number}]]`),
  ...conditions.split(' | ').map((list) => `"predicates":[{"table":"t","where":[${list}]}]`),
  '"predicates":[{"table":"t","where":[]},]',
  '"predicates":[{"table":"t","where":[]}}]',
  '"writes":[["x",{}]],"unknown":[]',
  '"writes":[["x",{}]],"unknown":[["x",["n",]]]',
  '"writes":[["x",{}],["x",{"n":1}]],"unknown":[["x",["n","m"]]]',
  '"unknown":[["x",["n"]]],"writes":[["x",{}]]',
])('the same from %s', (fields) => {
  const bytes = new TextEncoder().encode(
    `${first}\n{"session":"s","transaction":"t","op":"write",${fields},"start":1,"end":2}\n`,
  );
  expect(byScanner(bytes, 1_000)).toEqual(byReader(bytes));
});

/** A savepoint ends with its transaction, also where the scanner reads the line that ends it. */
test.each([
  ['savepoint s', 'rollback-to s'],
  ['savepoint s', 'write', 'rollback-to s'],
  ['savepoint s', 'commit', 'rollback-to s'],
  ['savepoint s', 'abort', 'begin', 'release s'],
  ['savepoint s', 'begin u', 'rollback-to s'],
])('the same savepoints: %s, %s, %s, %s', (...steps) => {
  const lines = steps.flatMap((step) => {
    const [op = '', name] = step.split(' ');
    const isOther = name === 'u';
    const fields = { session: 'a', transaction: isOther ? 'u' : 't', op, savepoint: isOther ? undefined : name };
    return JSON.stringify({ ...fields, start: 1, end: 2 });
  });
  const bytes = new TextEncoder().encode(`${[first, ...lines].join('\n')}\n`);
  expect(byScanner(bytes, 1_000)).toEqual(byReader(bytes));
});

/** A right value of every field of the table, and wrong ones of every kind: a field that is added is among them. */
const right: Readonly<Record<keyof typeof operationFields, string>> = {
  session: '"a"',
  transaction: '"t"',
  op: '"write"',
  savepoint: '"s"',
  reads: '[["x",1]]',
  writes: '[["y",{"n":1}]]',
  unknown: '[["y",["m"]]]',
  predicates: '[{"table":"t","where":[["k","=",1]]}]',
  lock: '"share"',
  opaque: '"writes"',
  tables: '["t"]',
  failed: 'true',
  code: '"23505"',
  start: '3',
  end: '4',
};
const others = [
  '7',
  '-0',
  '1e2',
  'null',
  'true',
  '"x"',
  '"\\u0061"',
  '[]',
  '[1]',
  '[["x"]]',
  '{}',
  '99999999999999999',
];
const names = Object.keys(right) as (keyof typeof right)[];

test.each(names)('the same from every kind of value of %s, without it, twice, and under another name', (name) => {
  const lineOf = (fields: readonly (readonly [string, string])[]): string =>
    `{${fields.map(([field, given]) => `"${field}":${given}`).join(',')}}`;
  const all = names
    .filter((field) => field !== 'savepoint' || name === field)
    .map((field) => [field, right[field]] as const);
  const changed = (given: string): string => lineOf(all.map(([field, old]) => [field, field === name ? given : old]));
  const lines = [
    lineOf(all),
    lineOf(all.filter(([field]) => field !== name)),
    lineOf([...all, [name, right[name]]]),
    lineOf(all.map(([field, given]) => [field === name ? `${field}s` : field, given])),
    lineOf(all.toReversed()),
    ...others.map(changed),
    ...operationKinds.map((kind) =>
      lineOf([['op', `"${kind}"`], [name, right[name]], ...few.filter(([field]) => field !== name)]),
    ),
  ];
  const codes = lines.map((whole) => {
    const bytes = new TextEncoder().encode(`${first}\n${whole}\n`);
    const outcome = byReader(bytes);
    expect([whole, byScanner(bytes, 1_000)]).toEqual([whole, outcome]);
    return (outcome.error as { code: string } | null)?.code;
  });
  expect(new Set(codes).size).toBeGreaterThan(1);
});

test('statements that the trace keeps are passed over', () => {
  const statement =
    '{"moirai":"statement","session":"s","transaction":"t","dialect":"postgres","sql":"UPDATE x","count":1}';
  const lines = [first, '{"session":"s","transaction":"t","op":"write","writes":[["x",1]],"start":7,"end":8}'];
  const bytesOf = (all: readonly string[]): Uint8Array => new TextEncoder().encode(`${all.join('\n')}\n`);
  const kept = byScanner(bytesOf([statement, ...lines.flatMap((each) => [each, statement])]), 1_000);
  expect(kept.operations.map(([operation]) => operation)).toEqual(
    byReader(bytesOf(lines)).operations.map(([operation]) => operation),
  );
  expect(kept.error).toBeNull();
});

test('names and texts that share a place in the table stay apart', () => {
  const lines = Array.from(
    { length: 70_000 },
    (_, i) =>
      `{"session":"a","transaction":"t","op":"read","reads":[["k/${i % 66_000}","v${i}"]],"start":${i},"end":${i}}`,
  );
  let wrong = 0;
  const operations = new OperationTable();
  const scanner = new TraceScanner({
    operations,
    onOperation: (operation, number) => {
      const [read] = operations.operationAt(operation).reads;
      if (read?.key !== `k/${(number - 1) % 66_000}` || read.image !== `v${number - 1}`) wrong += 1;
      operations.remove(operation);
    },
  });
  scanner.push(new TextEncoder().encode(`${lines.join('\n')}\n`));
  scanner.finish();
  expect([wrong, operations.keys.size, operations.size]).toEqual([0, 66_000, 0]);
});

test('values of rows that share a place stay apart, and a value that is read again is the one that stands there', () => {
  const valueOf = (i: number): number => Math.floor(i / 7) % 3;
  const lines = Array.from(
    { length: 30_000 },
    (_, i) =>
      `{"session":"a","transaction":"t","op":"read","reads":[["k/${(i * i) % 9_973}",{"v":${valueOf(i)}${i % 2 === 0 ? '' : ',"w":"1"'}}]],"start":${i},"end":${i}}`,
  );
  const bytes = new TextEncoder().encode(`${lines.join('\n')}\n`);
  expect(byScanner(bytes, 65_536)).toEqual(byReader(bytes));
});
