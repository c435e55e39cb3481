import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../base/input-error.ts';
import type { Value } from '../history/value.ts';
import { emptyHeader, imageOf, type TraceOperation } from './trace.ts';
import { formatTraceHeader, formatTraceLine, formatTraceMark, formatTraceRecord } from './record.ts';
import { parseTrace, TraceReader } from './reader.ts';

const read = '{"session":"a","transaction":"t","op":"read","reads":[["x",1]],"start":1,"end":2}';

describe('a trace', () => {
  test('is read line by line', () => {
    const text = `{"moirai":"trace","version":1,"initial":{"x":{"v":1}},"sessions":["a"]}\n${read}\r\n\n`;
    const { header, operations } = parseTrace(text);
    expect(header.sessions).toEqual(['a']);
    expect(header.initial.get('x')).toEqual(new Map([['v', 1]]));
    expect(operations).toMatchObject([
      { session: 'a', kind: 'read', reads: [{ key: 'x', image: 1 }], start: 1, end: 2 },
    ]);
  });

  test('of nanoseconds since 1970 keeps every one of them', () => {
    const lines = [619, 620].map((end) =>
      read.replace('"start":1,"end":2', `"start":1663798322622208${end},"end":1663798322632200949`),
    );
    const { header, operations } = parseTrace(lines.join('\n'));
    expect(operations.map(({ start }) => start)).toEqual([0, 1]);
    expect(operations[1]?.end).toBe(9992330);
    expect(operations.map((operation) => formatTraceLine(operation, header.base))).toEqual(lines);
  });

  test('takes times that a double happens to hold, wherever they stand', () => {
    const times = '"start":1000000000000000000,"end":1000000000000000128';
    for (const line of [
      read.replace('"start":1,"end":2', times),
      `{${times},"session":"a","transaction":"t","op":"commit"}`,
    ])
      expect(parseTrace(line).operations).toMatchObject([{ start: 0, end: 128 }]);
  });

  test('keeps neighbouring long integers apart, as values and from texts', () => {
    const values = '[["x",9007199254740993],["x",9007199254740992],["x","9007199254740993"],["x",[9007199254740993]]]';
    const line = read.replace('[["x",1]]', values);
    const [operation] = parseTrace(line).operations;
    expect(new Set(operation?.reads.map(({ image }) => image)).size).toBe(4);
    expect(formatTraceLine(operation as TraceOperation)).toBe(line);
  });

  test('may say that no answer came', () => {
    const { operations } = parseTrace('{"session":"a","transaction":"t","op":"commit","start":1,"end":null}');
    expect(operations[0]?.end).toBe(Infinity);
  });

  test('of Leopard is read too', () => {
    const line =
      '{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,1","operationTraceType":"UPDATE",' +
      '"startTimestamp":1663798322622208619,"finishTimestamp":1663798322632200949,"predicateLock":null,' +
      '"traceLockMode":"EXCLUSIVE_LOCK","readMode":"LOCKING_READ",' +
      '"writeTupleList":[{"table":"0","primaryKey":"0","valueMap":{"v":1}}]}';
    expect(parseTrace(line).operations).toMatchObject([
      {
        session: '0-0-0',
        transaction: '0-0-0,0',
        kind: 'write',
        writes: [{ key: '0/0', image: new Map([['v', 1]]) }],
        end: 9992330,
      },
    ]);
    const locking = line.replace('UPDATE', 'SELECT').replace('writeTupleList', 'readTupleList');
    expect(parseTrace(locking).operations).toMatchObject([{ kind: 'read', lock: 'update' }]);
    const deleted = line.replace('UPDATE', 'DELETE');
    expect(parseTrace(deleted).operations).toMatchObject([{ writes: [{ image: null }] }]);
  });

  test.each([
    ['a line that stops', read.slice(0, 40), 'trace/truncated'],
    ['what is no JSON', '{"session":a}', 'trace/syntax'],
    ['an array', '[1]', 'trace/shape'],
    ['an unknown operation', read.replace('"op":"read"', '"op":"scan"'), 'trace/operation'],
    ['an operation without a session', read.replace('"session":"a",', ''), 'trace/shape'],
    ['an operation without a transaction', read.replace('"transaction":"t",', ''), 'trace/shape'],
    ['a key that is a number', read.replace('"x"', '7'), 'trace/shape'],
    ['a pair that is none', read.replace('["x",1]', '["x"]'), 'trace/shape'],
    ['a read that writes', read.replace('"reads"', '"writes"'), 'trace/shape'],
    ['a time that is none', read.replace('"start":1', '"start":1.5'), 'trace/times'],
    ['an end before the start', read.replace('"end":2', '"end":0'), 'trace/times'],
    ['another file', '{"moirai":"history","version":1}', 'trace/header'],
    ['a later version', '{"moirai":"trace","version":2}', 'trace/version'],
    ['a savepoint without a name', read.replace('"op":"read","reads":[["x",1]]', '"op":"savepoint"'), 'trace/shape'],
    ['a read with a savepoint', read.replace('"start"', '"savepoint":"x","start"'), 'trace/shape'],
    ['a field that nobody knows', read.replace('"reads"', '"raeds"'), 'trace/field'],
    ['a field that a header has not', '{"moirai":"trace","version":1,"session":"a"}', 'trace/field'],
    ['a number that is none', read.replace('["x",1]', '["x",1e999]'), 'trace/value'],
    ['a lock mode', read.replace('"start"', '"lock":"shared","start"'), 'trace/shape'],
    ['a predicate', read.replace('"start"', '"predicates":[{"where":[]}],"start"'), 'trace/shape'],
    [
      'a condition',
      read.replace('"start"', '"predicates":[{"table":"t","where":[["a","~",1]]}],"start"'),
      'trace/shape',
    ],
  ])('with %s is refused with its line', (_name, line, code) => {
    const error = errorOf(() => parseTrace(`${read}\n${line}`.replace(/^.*\n(?=\{"moirai)/, '')));
    expect(error?.code).toBe(code);
    expect(error?.place?.line).toBeGreaterThan(0);
  });

  test('has savepoints by name', () => {
    const line = (op: string, name: string): string =>
      `{"session":"a","transaction":"t","op":"${op}","savepoint":"${name}","start":1,"end":2}`;
    const lines = [line('savepoint', 'x'), line('savepoint', 'y'), line('rollback-to', 'x'), line('release', 'x')];
    const { operations } = parseTrace(lines.join('\n'));
    expect(operations.map(({ kind, savepoint }) => `${kind} ${savepoint}`)).toEqual([
      'savepoint x',
      'savepoint y',
      'rollback-to x',
      'release x',
    ]);
    expect(operations.map((operation) => formatTraceLine(operation))).toEqual(lines);
  });

  test.each([
    ['nobody set', ['rollback-to x']],
    ['was released', ['savepoint x', 'release x', 'rollback-to x']],
    ['was set after one that was rolled back to', ['savepoint x', 'savepoint y', 'rollback-to x', 'release y']],
    ['is of the transaction before', ['savepoint x', 'commit', 'release x']],
  ])('with a savepoint that %s is refused with its line', (_name, steps) => {
    const lines = steps.map((step, i) => {
      const [op, name] = step.split(' ');
      const savepoint = name === undefined ? '' : `,"savepoint":"${name}"`;
      return `{"session":"a","transaction":"t","op":"${op}"${savepoint},"start":${i},"end":${i}}`;
    });
    const error = errorOf(() => parseTrace(lines.join('\n')));
    expect([error?.code, error?.place?.line]).toEqual(['trace/savepoint', steps.length]);
  });

  test('may set a savepoint twice, and one that failed is none', () => {
    const lines = ['savepoint', 'savepoint', 'release', 'rollback-to', 'release'].map(
      (op, i) => `{"session":"a","transaction":"t","op":"${op}","savepoint":"x","start":${i},"end":${i}}`,
    );
    expect(parseTrace(lines.join('\n')).operations).toHaveLength(5);
    const failed = lines.map((line) => line.replace('"start"', '"failed":true,"start"')).slice(3);
    expect(parseTrace(failed.join('\n')).operations).toHaveLength(2);
  });

  test('has the JSON of its rows, whatever is in them', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
    );
    const image = fc.option(
      fc.dictionary(
        fc.string().filter((name) => name !== '__proto__'),
        cell,
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), image), { minLength: 1 }), fc.string(), (reads, session) => {
        const rows = { reads, writes: [], unknown: [], predicates: [], lock: null, opaque: null };
        const line = formatTraceRecord({
          session,
          transaction: session,
          kind: 'read',
          rows,
          savepoint: null,
          code: null,
          start: 1,
          end: 2,
        });
        expect(line).toBe(JSON.stringify({ session, transaction: session, op: 'read', reads, start: 1, end: 2 }));
      }),
    );
  });

  test('with marks may stop in the middle of a line; one without may not', () => {
    const marks: number[] = [];
    const read1 = '{"session":"a","transaction":"t","op":"read","reads":[["x",1]],"start":1,"end":2}';
    const taken = (text: string): [boolean, number] => {
      let count = 0;
      const reader = new TraceReader({ onOperation: () => (count += 1), onMark: ({ time }) => marks.push(time) });
      reader.push(new TextEncoder().encode(text));
      return [reader.finish(), count];
    };
    const header = formatTraceHeader({ ...emptyHeader, hasMarks: true, clockError: 7 });
    expect(parseTrace(header).header).toMatchObject({ hasMarks: true, clockError: 7 });
    const head = `${header}\n${read1}\n${formatTraceMark(2)}\n`;
    expect(taken(`${head}${read1.slice(0, 40)}`)).toEqual([true, 1]);
    expect(taken(`${head}${formatTraceMark(null)}\n`)).toEqual([false, 1]);
    expect(marks).toEqual([2, 2, Infinity]);
    expect(errorOf(() => taken(`${read1}\n${read1.slice(0, 40)}`))?.code).toBe('trace/truncated');
    expect(errorOf(() => taken(`${header}\n{"moirai":"mark","time":"x"}\n`))?.code).toBe('trace/times');
  });

  test('with a header in its middle is refused', () => {
    expect(errorOf(() => parseTrace(`${read}\n{"moirai":"trace","version":1}`))?.code).toBe('trace/header');
  });

  test('with a line without end is refused, while it comes', () => {
    const reader = new TraceReader({ onOperation: () => {}, lineBytesMax: 100 });
    reader.push(bytesOf(`${read}\n${'x'.repeat(60)}`));
    const error = errorOf(() => reader.push(bytesOf('x'.repeat(60))));
    expect([error?.code, error?.place?.line]).toEqual(['trace/size', 2]);
    const other = new TraceReader({ onOperation: () => {}, lineBytesMax: 100 });
    expect(errorOf(() => other.push(bytesOf(`${'x'.repeat(101)}\n`)))?.code).toBe('trace/size');
  });

  test('takes time in proportion to the length of a line, not to its square', () => {
    let operations = 0;
    const reader = new TraceReader({ onOperation: () => (operations += 1) });
    const long = bytesOf(`${read.replace('"x"', `"${'x'.repeat(2 ** 24)}"`)}\n`);
    for (let at = 0; at < long.length; at += 64) reader.push(long.subarray(at, at + 64));
    expect(operations).toBe(1);
  });

  test('that is no UTF-8 is refused with its line, after those before it were taken', () => {
    const lines = [read, read, `${read.slice(0, 60)}\xff${read.slice(60)}`, read].map((line) =>
      Uint8Array.from(`${line}\n`, (letter) => letter.charCodeAt(0)),
    );
    const bytes = Buffer.concat(lines);
    for (const size of [1, 7, 100, 1_000]) {
      let operations = 0;
      const reader = new TraceReader({ onOperation: () => (operations += 1) });
      const error = errorOf(() => {
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      });
      expect([error?.code, error?.place?.line, operations]).toEqual(['trace/encoding', 3, 2]);
    }
    const cut = new TraceReader({ onOperation: () => {} });
    cut.push(bytesOf('{"session":"ä').subarray(0, -1));
    expect(errorOf(() => cut.finish())?.code).toBe('trace/encoding');
  });

  test('that is compressed says so', () => {
    const reader = new TraceReader({ onOperation: () => {} });
    const zipped = Uint8Array.of(0x1f, 0x8b, 8, 0, 0x0a, 1, 2);
    expect(errorOf(() => reader.push(zipped))?.code).toBe('trace/compressed');
  });

  test('may begin with a byte order mark', () => {
    expect(parseTrace(`\ufeff${read}\n${read}`).operations).toHaveLength(2);
    expect(errorOf(() => parseTrace(`${read}\n\ufeff${read}`))?.place?.line).toBe(2);
  });

  test('is refused with a value that is nested too deep, and its line', () => {
    const deep = `${read}\n${read.replace('["x",1]', `["x",{"v":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`)}`;
    const error = errorOf(() => parseTrace(deep));
    expect([error?.code, error?.place?.line]).toEqual(['trace/value', 2]);
  });

  test('is the same however it is cut', () => {
    const bytes = new TextEncoder().encode(`${read}\n${read.replace('"x"', '"ä€"')}\n`);
    for (let size = 1; size < 40; size += 1) {
      const found: TraceOperation[] = [];
      const reader = new TraceReader({ onOperation: (operation) => found.push(operation) });
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      reader.finish();
      expect(found.map(({ reads }) => reads[0]?.key)).toEqual(['x', 'ä€']);
    }
  });
});

const image = fc
  .jsonValue({ maxDepth: 2 })
  // JSON has no -0: what is written as 0 is read as 0.
  .map((value): unknown => JSON.parse(JSON.stringify(value)))
  .filter((value) => !JSON.stringify(value).includes('-0') && !/\\u000[12]/.test(JSON.stringify(value)));
const rows = fc.array(fc.tuple(fc.string(), image), { maxLength: 3 });

test('what is written is read back', () => {
  fc.assert(
    fc.property(rows, rows, fc.boolean(), fc.nat(), fc.nat(), (reads, writes, failed, start, length) => {
      const pairs = (list: typeof reads) => list.map(([key, value]) => ({ key, image: imageOf(value as Value) }));
      const operation: TraceOperation = {
        session: 's',
        transaction: 't',
        kind: 'write',
        reads: pairs(reads),
        writes: pairs(writes),
        predicates: [{ table: 't', where: [{ column: 'a', comparison: '>=', value: 3 }] }],
        lock: 'share',
        failed,
        start,
        end: start + length,
      };
      const text = `${formatTraceHeader({ initial: new Map(), sessions: ['s'] })}\n${formatTraceLine(operation)}\n`;
      expect(parseTrace(text).operations).toEqual([operation]);
    }),
    { numRuns: 200 },
  );
});

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function errorOf(body: () => unknown): InputError | undefined {
  try {
    body();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  return undefined;
}
