/** What `moirai verify` does with traces that are not as they should be: an error with its line, or a tolerance that is counted. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { crc32 } from '../../src/base/crc32.ts';
import { formatLastMark } from '../../src/trace/record.ts';
import { type Ended, runHere } from '../support/cli.ts';

const postgres = ['--engine', 'postgres', '--isolation', 'serializable'];
const header = '{"moirai":"trace","version":1,"initial":{"x":0},"sessions":["a","b"]}';

function verify(trace: string | Uint8Array, ...options: string[]): Promise<Ended> {
  return runHere(['verify', 'run.trace.jsonl', ...postgres, ...options], { 'run.trace.jsonl': trace });
}

/** `SESSION TRANSACTION OP KEY=VALUE START-END`, a line each. */
function lines(...operations: string[]): string {
  return operations
    .map((text) => {
      const [session, transaction, op, ...rest] = text.split(' ');
      const [start, end] = rest.at(-1)?.split('-') ?? [];
      const rows = rest.slice(0, -1).map((row) => row.split('='));
      const list = rows.map(([key, value]) => `["${key}",${value}]`).join(',');
      const field = rows.length === 0 ? '' : `"${op}s":[${list}],`;
      return `{"session":"${session}","transaction":"${transaction}","op":"${op}",${field}"start":${start},"end":${end}}\n`;
    })
    .join('');
}

const right = lines('a t1 write x=1 1-2', 'a t1 commit 3-4', 'b t2 read x=1 5-6', 'b t2 commit 7-8');

describe('the checksum in the last mark', () => {
  const marked = `{"moirai":"trace","version":1,"marks":true}\n${right}`;
  const summed = `${marked}${formatLastMark(crc32(Buffer.from(marked)))}\n`;

  test('of a trace that is as it was written', async () => {
    expect((await verify(summed)).code).toBe(0);
    expect((await verify(summed.replace(/,"crc32":"\w+"/, ''))).code).toBe(0);
  });

  test('with any byte of it changed or its end cut: never green, in one file or several', async () => {
    const codes = new Set<number | null>();
    const other = `${marked.replaceAll('"x"', '"z"')}{"moirai":"mark","time":null}\n`;
    const lastLine = summed.indexOf('"crc32"');
    for (let at = 0; at < lastLine; at += 11) {
      const flipped = Buffer.from(summed);
      flipped[at] = (flipped[at] as number) ^ (1 << (at % 5));
      for (const trace of [flipped, flipped.subarray(0, at)]) {
        const files = { 'run.trace.jsonl': new Uint8Array(trace), 'other.trace.jsonl': other };
        for (const names of [['run.trace.jsonl'], ['run.trace.jsonl', 'other.trace.jsonl']]) {
          const { code, err } = await runHere(['verify', ...names, ...postgres], files);
          if (err.includes('trace/corrupt')) codes.add(code);
          expect([2, 3], `byte ${at}: ${err}`).toContain(code);
        }
      }
    }
    expect([...codes]).toEqual([3]);
    const value = Buffer.from(summed.replace('"writes":[["x",1]]', '"writes":[["x",3]]'));
    expect(await verify(new Uint8Array(value))).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^run\.trace\.jsonl: the text is not as it was written: .* \[trace\/corrupt\]\n$/),
    });
  });
});

describe('refused, with one line that says where: exit code 3', () => {
  test.each([
    [
      'out of order within a client',
      right + lines('b t3 read x=1 6-7'),
      ':5: an operation of session b starts before the one before it [trace/order]',
    ],
    [
      'overlapping operations in one session',
      right + lines('b t3 read x=1 7-9'),
      ':5: an operation of session b starts before the end of the one before it [trace/overlap]',
    ],
    [
      'a clock that goes back',
      `${header}\n${right}${lines('a t3 read x=1 9-10', 'b t4 read x=1 4-5')}`,
      ':7: an operation of session b starts before the one before it [trace/order]',
    ],
    [
      'a field that nobody knows',
      right.replace('"reads"', '"raeds"'),
      ':3: "raeds" is no field of this line: the fields are session, transaction, op, savepoint, reads, writes, unknown, predicates, lock, opaque, tables, failed, code, start, end [trace/field]',
    ],
    ['a key that is no text', right.replace('["x",1]', '[7,1]'), ':1: each of the writes should be [KEY, VALUE]'],
    ['a line that stops in its middle', right.replace('"op":"read",', '"op":\n'), ':3:'],
    [
      'an end before the start',
      right.replace('"end":6', '"end":4'),
      ':3: the operation ends before it starts [trace/times]',
    ],
    [
      'a session that the header does not declare',
      `${header}\n${right.replaceAll('"b"', '"c"')}`,
      ':4: session c is not among those that the header declares [trace/session]',
    ],
    [
      'a savepoint that nobody set',
      right.replace('"op":"commit","start":7', '"op":"rollback-to","savepoint":"s","start":7'),
      ':4: transaction t2 has no savepoint s [trace/savepoint]',
    ],
    ['nothing', '', ': there is no operation in it [trace/empty]'],
    ['a header alone', `${header}\n`, ': there is no operation in it [trace/empty]'],
    [
      'bytes that are no UTF-8',
      Buffer.from(right.replace('"t2"', '"t\xff"'), 'latin1'),
      ':3: the text is not UTF-8 [trace/encoding]',
    ],
    [
      'a compressed trace',
      gzipSync(right),
      ':1: the trace is compressed: gunzip -c FILE | moirai verify - [trace/compressed]',
    ],
  ])('%s', async (_name, trace, message) => {
    const { code, err } = await verify(trace);
    expect(err).toContain(`run.trace.jsonl${message}`);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(3);
  });

  test('what was wrong in the database before that is told', async () => {
    const stale = right.replace('"reads":[["x",1]]', '"reads":[["x",0]]');
    const later = lines('a t3 read x=1 20-21', 'b t3 read x=1 20-21', 'a t3 commit 2-3');
    const { code, out } = await verify(`${header}\n${stale}${later}`);
    expect(out).toContain('violation 1: consistent-read');
    expect(code).toBe(3);
  });

  test('a session that comes back with what should have come before others', async () => {
    const others = Array.from({ length: 80 }, (_, i) => lines(`b u${i} read y=0 ${10 * i + 10}-${10 * i + 11}`)).join(
      '',
    );
    const { code, err } = await verify(
      `${header}\n${lines('a t1 write x=1 1-2')}${others}${lines('a t1 commit 3-4')}`,
      '--buffer',
      '40',
    );
    expect(err).toContain(':83: session a comes too late: later operations were already looked at');
    expect(code).toBe(3);
  });
});

describe('tolerated, and counted', () => {
  test('a clock that goes back within its error', async () => {
    const { code, out } = await verify(right + lines('b t3 read x=1 6-9', 'b t3 commit 9-10'), '--clock-error', '2');
    expect(out).toContain('1 operation moved within the clock error');
    expect(code).toBe(0);
  });

  test('rows that nobody has written: the first read of them says what they were', async () => {
    expect((await verify(right + lines('b t3 read y=7 9-10', 'b t3 commit 11-12'))).code).toBe(0);
    const other = lines('b t3 read y=7 9-10', 'b t3 commit 11-12', 'b t4 read y=8 13-14', 'b t4 commit 15-16');
    expect((await verify(right + other)).code).toBe(1);
  });

  test('a declared session that never says anything', async () => {
    const { code, out } = await verify(`${header.replace('["a","b"]', '["a","b","silent"]')}\n${right}`);
    expect(out).toContain('2 transactions, 4 operations');
    expect(code).toBe(0);
  });

  test('clients that died: what they wrote may be there or not', async () => {
    const open = lines('a t3 write x=2 9-10', 'b t4 read x=2 11-12', 'b t4 commit 13-14');
    const { code, out } = await verify(right + open);
    expect(out).toContain('1 transaction of unknown fate');
    expect(code).toBe(0);
  });

  test('the mark at the beginning of a text', async () => {
    expect((await verify(`\ufeff${right}`)).code).toBe(0);
  });
});

test('a stream that stops anywhere: the operations whose lines came are verified, or the line that did not is named', async () => {
  const trace = new TextEncoder().encode(`${header}\n${right}`);
  let whole = 0;
  for (let length = 0; length <= trace.length; length += 1) {
    const part = trace.subarray(0, length);
    const breaks = part.filter((byte) => byte === 0x0a).length;
    const { code, out, err } = await verify(part);
    if (code === 3) {
      expect(err).toMatch(breaks === 0 || breaks === 1 ? /trace\/(?:truncated|empty)/ : /trace\/truncated/);
      if (err.includes('truncated')) expect(err).toContain(`run.trace.jsonl:${breaks + 1}`);
      continue;
    }
    if (out.includes('the trace ends in the middle of a line')) {
      expect(code).toBe(2);
      continue;
    }
    whole += 1;
    const count = /, (\d+) operations?;/.exec(out)?.[1];
    // Where no transaction is known to have ended, nothing was verified.
    const hasEnded = new TextDecoder().decode(part).includes('"commit"');
    expect({ code, count: Number(count), length }).toEqual({
      code: hasEnded ? 0 : 2,
      count: part.at(-1) === 0x0a ? breaks - 1 : breaks,
      length,
    });
  }
  expect(whole).toBeGreaterThan(0);
});
