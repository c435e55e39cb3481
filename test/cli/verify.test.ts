import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Ended, runHere } from '../support/cli.ts';

const line = (session: string, transaction: string, op: string, rows: string, start: number): string =>
  `{"session":"${session}","transaction":"${transaction}","op":"${op}",${rows}"start":${start},"end":${start + 1}}\n`;

const right = [
  line('a', 't1', 'write', '"writes":[["x",1]],', 1),
  line('a', 't1', 'commit', '', 3),
  line('b', 't2', 'read', '"reads":[["x",1]],', 5),
  line('b', 't2', 'commit', '', 7),
].join('');
const stale = right.replace('"reads":[["x",1]]', '"reads":[["x",0]]');
const header = '{"moirai":"trace","version":1,"initial":{"x":0},"sessions":["a","b"]}\n';

function verify(trace: string, ...options: string[]): Promise<Ended> {
  return runHere(['verify', 'run.trace.jsonl', ...options], { 'run.trace.jsonl': trace });
}

const postgres = ['--engine', 'postgres', '--isolation', 'serializable'];

test('a right trace: exit code 0', async () => {
  const { code, out } = await verify(header + right, ...postgres);
  expect(out).toBe(
    'satisfied: no violation\nrun.trace.jsonl: 2 transactions, 4 operations; dependencies: 1 deduced, 0 uncertain (0.00 %)\nassumed: the trace has no marks: it is whole\n',
  );
  expect(code).toBe(0);
});

test('a violation: exit code 1, the mechanism, the operations, the smallest trace', async () => {
  const { code, out } = await verify(header + stale, ...postgres);
  expect(code).toBe(1);
  expect(out).toContain(
    'violation 1: consistent-read\nt2 read x = 0 under a snapshot in [5, 6], where it can only be 1 by t1',
  );
  expect(out).toContain(`  the read: ${line('b', 't2', 'read', '"reads":[["x",0]],', 5)}`);
  expect(out).toContain('the smallest trace that shows it:');
  expect(out).toContain('violated: 1 violation\n');
});

test('as JSON, in the shape of the design', async () => {
  const { code, out } = await verify(header + stale, ...postgres, '--json');
  expect(code).toBe(1);
  const printed = JSON.parse(out) as Record<string, unknown>;
  expect(printed).toMatchObject({ operations: 4, transactions: 2, verdict: 'violated', deduced: 0, uncertain: 0 });
  expect(printed['violations']).toMatchObject([
    {
      mechanism: 'consistent-read',
      transactions: ['t2', 't1'],
      rows: ['x'],
      operations: [{ session: 'b', reads: [['x', 0]], start: 5, end: 6 }, { op: 'write' }, { op: 'commit' }],
    },
  ]);
});

test('times beyond 2^53 come back as they were', async () => {
  const late = stale.replaceAll(/"(start|end)":(\d)/g, '"$1":166379832262220861$2');
  const { out } = await verify(header + late, ...postgres, '--json');
  expect(out).toContain('"start":"1663798322622208615","end":"1663798322622208616"');
  const text = await verify(header + late, ...postgres);
  expect(text.out).toContain('"start":1663798322622208615,"end":1663798322622208616}');
});

test('a trace without marks that ends in the middle of a line: what came before it counts', async () => {
  const half = line('a', 't3', 'read', '"reads":[["x",1]],', 9).slice(0, 40);
  const next = line('a', 't3', 'begin', '', 9) + line('b', 't4', 'begin', '', 9);
  const violated = await verify(header + stale + next + half, ...postgres);
  expect(violated.out).toContain('violated: 1 violation\n');
  expect(violated.out).toContain('the trace ends in the middle of a line: 1 operation was not checked');
  expect(violated.code).toBe(1);
  const unknown = await verify(header + right + half, ...postgres, '--json');
  expect(unknown.code).toBe(2);
  expect(JSON.parse(unknown.out)).toMatchObject({
    verdict: 'unknown',
    gaps: ['the trace ends in the middle of a line: 3 operations were not checked'],
  });
});

test('a session that fell too far behind: exit code 2', async () => {
  const slow = line('slow', 's1', 'write', '"writes":[["y",1]],', 0);
  const others = Array.from({ length: 60 }, (_, i) =>
    right
      .replaceAll(/"t(\d)"/g, `"t$1-${i}"`)
      .replaceAll(
        /"(start|end)":(\d)/g,
        (_whole, name: string, digit: string) => `"${name}":${10 * i + Number(digit) + 1}`,
      ),
  ).join('');
  const back = line('slow', 's1', 'read', '"reads":[["x",1]],', 5_000) + line('slow', 's1', 'commit', '', 5_002);
  const { code, out } = await verify(slow + others + back, ...postgres, '--buffer', '50');
  expect(out).toContain('unknown: 1 read not checked');
  expect(out).toContain('1 session no longer waited for');
  expect(code).toBe(2);
});

describe('bad input: exit code 3 and one line', () => {
  test.each([
    ['no engine', right, [], 'verify needs --engine and --isolation, or --mechanisms [option/usage]'],
    ['an unknown engine', right, ['--engine', 'dbase'], '[option/engine]'],
    ['both', right, [...postgres, '--mechanisms', 'me'], '[option/usage]'],
    ['an empty one', '', postgres, 'run.trace.jsonl: there is no operation in it [trace/empty]'],
    [
      'a clock that goes back',
      right + line('b', 't3', 'commit', '', 2),
      postgres,
      'run.trace.jsonl:5: an operation of session b',
    ],
  ])('%s', async (_name, trace, options, message) => {
    const { code, err } = await verify(trace, ...options);
    expect(err).toContain(message);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(3);
  });
});

test('mechanisms by hand', async () => {
  expect((await verify(header + stale, '--mechanisms', 'me,fuw')).code).toBe(0);
  expect((await verify(header + stale, '--mechanisms', 'cr=statement')).code).toBe(1);
});

describe('the example traces', () => {
  const folder = new URL('../../examples/traces/', import.meta.url);
  const examples = [
    ['stale-read', 'tidb', 'optimistic', 'consistent-read', undefined],
    ['lost-update', 'postgres', 'repeatable read', 'first-updater-wins', 'repeatable read'],
    ['write-skew', 'postgres', 'serializable', 'serialization-certifier', 'repeatable read'],
    ['phantom', 'postgres', 'serializable', 'serialization-certifier', 'repeatable read'],
    ['dirty-write', 'postgres', 'read committed', 'mutual-exclusion', undefined],
    ['savepoint', 'postgres', 'read committed', 'consistent-read', undefined],
  ] as const;

  test('are all here', () => {
    const names = readdirSync(folder).map((name) => name.replace('.trace.jsonl', ''));
    expect(names.toSorted()).toEqual(examples.map(([name]) => name).toSorted());
  });

  test.each(examples)('%s at %s %s: %s, and not at a level of MySQL that allows it', async (name, ...rest) => {
    const [engine, isolation, mechanism, weaker] = rest;
    const files = { trace: readFileSync(new URL(`${name}.trace.jsonl`, folder)) };
    const strict = await runHere(['verify', 'trace', '--engine', engine, '--isolation', isolation], files);
    expect(strict.out).toContain(`violation 1: ${mechanism}\n`);
    if (weaker === undefined) return;
    const weak = await runHere(['verify', 'trace', '--engine', 'mysql', '--isolation', weaker], files);
    expect(weak.out).toContain('satisfied: no violation');
  });
});

describe('a trace in which nothing was compared', () => {
  const named = 'no read or write whose rows are known was compared';
  const opaque = `${named}: all that was read or written is in 2 opaque statements`;
  const commit = line('a', 't1', 'commit', '', 7);
  const opaqueRead = line('a', 't1', 'read', '"opaque":"reads",', 3);
  const opaqueWrite = line('a', 't1', 'write', '"opaque":"writes",', 5);

  test.each<[string, string, string]>([
    ['every statement is opaque', opaqueRead + opaqueWrite + commit, opaque],
    ['transactions without a statement', line('a', 't1', 'begin', '', 1) + commit, named],
    ['a session ends', '{"session":"a","op":"end","start":1,"end":2}\n', `no transaction was seen to commit; ${named}`],
    ['the only read failed', line('a', 't1', 'read', '"reads":[["x",1]],"failed":true,', 3) + commit, named],
    [
      'nothing was committed',
      right
        .replaceAll('commit', 'abort')
        .replace('"t2","op":"read","reads":[["x",1]]', '"t2","op":"read","reads":[["x",0]]'),
      'no transaction was seen to commit',
    ],
  ])('%s: exit code 2', async (_name, trace, gaps) => {
    const { code, out } = await verify(header + trace, ...postgres);
    expect(out).toContain(`unknown: ${gaps}\n`);
    expect(code).toBe(2);
  });

  test('opaque statements beside named ones are an assumption', async () => {
    const { code, out } = await verify(
      header + right + opaqueWrite.replace('t1', 't3').replaceAll(/5|6/g, '9'),
      ...postgres,
    );
    expect(out).toContain('\nassumed: 1 opaque statement read and wrote the right rows where none are named\n');
    expect(code).toBe(0);
  });
});

describe('a trace without its last mark', () => {
  const marked = '{"moirai":"trace","version":1,"initial":{"x":0},"marks":true}\n';
  const mark = (time: number | null): string => `{"moirai":"mark","time":${time}}\n`;
  const cut = 'unknown: the trace ends without its last mark:';

  test.each<[string, string, number, string]>([
    ['whole', marked + right + mark(9) + mark(null), 0, 'satisfied: no violation'],
    ['operations after the mark', marked + right + mark(4), 2, `${cut} 2 operations after the mark were not checked\n`],
    ['cut exactly after a mark', marked + right + mark(9), 2, `${cut} what came after it was not checked\n`],
    ['cut in the middle of a line', marked + right + mark(9) + right.slice(0, 30), 2, cut],
    ['cut in the middle of the last mark', marked + right + mark(9) + mark(null).slice(0, -1), 2, cut],
    ['no mark at all', marked + right, 2, `${cut} 4 operations after the mark were not checked\n`],
    ['a violation before the mark', marked + stale + mark(9), 1, 'violated: 1 violation'],
    ['its header is lost', right + mark(9), 2, cut],
    ['its header is lost, and it is whole', right + mark(9) + mark(null), 0, 'satisfied: no violation'],
    [
      'nothing in it was seen to end',
      header + line('a', 't1', 'write', '"writes":[["x",1]],', 1),
      2,
      'unknown: of 1 transaction none is known to have been committed or rolled back',
    ],
    ['a trace that has no marks', header + right, 0, 'assumed: the trace has no marks: it is whole'],
    ['operations after the last mark', marked + mark(null) + right, 2, 'unknown: 4 operations after the last mark\n'],
  ])('%s', async (_name, trace, expected, text) => {
    const { code, out } = await verify(trace, ...postgres);
    expect(out).toContain(text);
    expect(code).toBe(expected);
    const { verdict } = JSON.parse((await verify(trace, ...postgres, '--json')).out) as { verdict: string };
    expect(verdict).toBe(['satisfied', 'violated', 'unknown'][expected]);
  });

  test('one of several, beside one that is whole and one that has no marks', async () => {
    const files = {
      'cut.jsonl': marked + right + mark(4),
      'whole.jsonl': marked + right.replaceAll('"x"', '"y"') + mark(9) + mark(null),
      'by-hand.jsonl': right.replaceAll('"x"', '"z"'),
    };
    const outcome = async (...names: string[]): Promise<[number | null, boolean]> => {
      const { code, out } = await runHere(['verify', ...names, ...postgres], files);
      return [code, out.startsWith(cut)];
    };
    expect(await outcome('cut.jsonl', 'whole.jsonl')).toEqual([2, true]);
    expect(await outcome('cut.jsonl', 'by-hand.jsonl')).toEqual([2, true]);
    expect(await outcome('whole.jsonl', 'by-hand.jsonl')).toEqual([0, false]);
  });
});
