import { describe, expect, test } from 'vitest';
import { runHere } from '../support/cli.ts';

/** So many transactions in three sessions, each reading the last write of its key; `tail` is what comes after them. */
function lines(count: number, tail: readonly string[] = []): string {
  const transactions = Array.from({ length: count }, (_, i) => {
    const seen = i < 10 ? null : i - 10;
    return JSON.stringify({
      session: `s${i % 3}`,
      operations: [
        ['r', `k${i % 10}`, seen],
        ['w', `k${i % 10}`, i],
      ],
    });
  });
  return [...transactions, ...tail, ''].join('\n');
}

const skewed = [
  '{"session":"p","operations":[["w","x",1],["w","y",1]]}',
  '{"session":"q","operations":[["r","y",1],["r","x",null]]}',
];

describe('a history of more than 100 transactions', () => {
  // 30,000 transactions are more than a MiB, which is read in pieces.
  test.each([101, 501, 30_000])('of %d transactions has answers at every level', async (count) => {
    const { code, out, err } = await runHere(['check', 'h.jsonl'], { 'h.jsonl': lines(count) });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')).toEqual([
      `h.jsonl: ${count.toLocaleString('en')} transactions, ${(2 * count).toLocaleString('en')} operations`,
      'read-uncommitted     satisfied',
      'read-committed       satisfied',
      'read-atomic          satisfied',
      'causal               satisfied',
      'prefix               satisfied',
      'snapshot-isolation   satisfied',
      'serializable         satisfied',
      expect.stringMatching(/^strict-serializable  unknown: /),
      'strongest level: serializable',
      'assumed: the file has no end mark: it is whole',
      '',
    ]);
  });

  test('shows of a violation the transactions that it is made of', async () => {
    const { code, out } = await runHere(['check', 'h.jsonl', '--level', 'causal'], {
      'h.jsonl': lines(30_000, skewed),
    });
    expect(code).toBe(1);
    expect(out).toContain('fractured read');
    expect(out).toContain('p/0 committed');
    expect(out).toContain('strongest level: read-uncommitted');
    expect(out).not.toContain('s0/');
  });

  test('has the same JSON', async () => {
    const { out } = await runHere(['check', 'h.jsonl', '--json'], { 'h.jsonl': lines(600, skewed) });
    expect(JSON.parse(out)).toEqual({
      report: expect.objectContaining({ database: '602 transactions, 1,204 operations' }),
      file: 'h.jsonl',
      transactions: 602,
      operations: 1_204,
      levels: expect.objectContaining({
        'read-uncommitted': 'satisfied',
        'read-committed': 'violated',
        serializable: 'violated',
      }),
      strongest: 'read-uncommitted',
      unknown: {},
      assumed: ['the file has no end mark: it is whole'],
      violations: [
        {
          level: 'read-committed',
          anomaly: 'fractured-read',
          transactions: ['p/0', 'q/0'],
          cycle: [
            { from: 'p/0', to: 'q/0', relation: 'wr', key: 'y' },
            { from: 'q/0', to: 'p/0', relation: 'rw', key: 'x' },
          ],
        },
      ],
    });
  });

  test('shows a cycle that is too long to draw', async () => {
    const ring = Array.from({ length: 600 }, (_, i) => `r k${i} 1, w k${(i + 1) % 600} 1`).join('\n');
    const { code, out } = await runHere(['check', 'ring.history', '--level', 'read-committed'], {
      'ring.history': ring,
    });
    expect(code).toBe(1);
    expect(out).toContain('A cycle of 600 transactions');
    const { out: json } = await runHere(['check', 'ring.history', '--json'], { 'ring.history': ring });
    const [violation] = (JSON.parse(json) as { violations: { anomaly: string; cycle: unknown[] }[] }).violations;
    expect(violation).toMatchObject({ anomaly: 'G1c' });
    expect(violation?.cycle.length).toBe(600);
  });

  test.each([
    ['ends early', '{"session":"p","operations":[["r",', 'history/truncated', 2],
    ['names no writer', '{"session":"p","operations":[["r","x",7,"nobody/0"]]}', 'history/unknown-writer', 3],
  ])('that %s is refused with the line', async (_name, tail, code, exit) => {
    const ended = await runHere(['check', 'h.jsonl'], { 'h.jsonl': lines(30_000, [tail]) });
    expect(ended.code).toBe(exit);
    expect(ended.err).toMatch(new RegExp(`^h\\.jsonl:3000[123]\\S*: .* \\[${code}\\]\n$`));
  });
});

test('PL-2 is checked where it is asked for', async () => {
  const files = { 'f.history': 'w x 1, w y 1\nr y 1, r x _', 'g.history': 'r y 1, w x 1\nr x 1, w y 1' };
  const fractured = await runHere(['check', 'f.history', '--level', 'pl-2'], files);
  expect(fractured).toMatchObject({ code: 0, out: expect.stringContaining('strongest level: pl-2') });
  const circle = await runHere(['check', 'g.history', '--level', 'pl-2', '--json'], files);
  expect(circle.code).toBe(1);
  expect(JSON.parse(circle.out)).toMatchObject({
    strongest: 'read-uncommitted',
    violations: [{ level: 'pl-2', anomaly: 'G1c' }],
  });
});

test('lists are checked at every level', async () => {
  const lists = [
    '{"session":"a","operations":[["r","x",[]],["append","x",1]]}',
    '{"session":"b","operations":[["r","x",[]],["append","x",2]]}',
    '{"session":"c","operations":[["r","x",[1,2]]]}',
  ].join('\n');
  const files = { 'l.jsonl': lists };
  const { code, out } = await runHere(['check', 'l.jsonl', '--level', 'snapshot-isolation'], files);
  expect(code).toBe(1);
  expect(out).toContain('strongest level: prefix');
  expect(out).toContain(`a/0
  read x = []
  append x 1
b/0
  read x = []
  append x 2
`);
  expect(out).toContain('a/0 appended to x before b/0 did (ww)');
  expect(out).toContain('b/0 reads x without what a/0 appended (rw)');
  const json = JSON.parse((await runHere(['check', 'l.jsonl', '--json'], files)).out) as object;
  expect(json).toMatchObject({
    strongest: 'prefix',
    violations: [{ level: 'snapshot-isolation', anomaly: 'lost-update', elle: 'lost-update' }],
  });
});

describe('moirai convert', () => {
  const convert = async (
    args: readonly string[],
    files: Record<string, unknown>,
  ): Promise<{ code: number | null; err: string }> => {
    const writeOutput = async (path: string, parts: Iterable<Uint8Array>): Promise<void> => {
      files[path] = Uint8Array.from([...parts].flatMap((part) => [...part]));
    };
    return runHere(['convert', ...args], files, { writeOutput });
  };

  test('goes there and back', async () => {
    const files: Record<string, unknown> = { 'a.jsonl': lines(700, skewed) };
    expect(await convert(['a.jsonl', 'b.moirai'], files)).toMatchObject({
      code: 0,
      err: 'b.moirai: 702 transactions, 1,404 operations, as binary\n',
    });
    expect((await convert(['b.moirai', 'c', '--to', 'jsonl'], files)).code).toBe(0);
    const answers = await Promise.all(
      ['a.jsonl', 'b.moirai', 'c'].map((file) => runHere(['check', file, '--json'], files)),
    );
    const reports = answers.map(({ out }) => ({ ...(JSON.parse(out) as object), file: '', report: null }));
    expect(reports[0]).toMatchObject({ assumed: ['the file has no end mark: it is whole'] });
    expect(reports[1]).toEqual({ ...reports[0], assumed: [] });
    expect(reports[2]).toEqual({ ...reports[0], assumed: [] });
  });

  test.each(['jsonl', 'notation'])('its file as %s is refused where a value was changed', async (format) => {
    const files: Record<string, unknown> = { 'a.history': 'w x 77\nr x 77\n' };
    await convert(['a.history', 'b', '--to', format], files);
    expect((await runHere(['check', 'b', '--level', 'causal'], files)).code).toBe(0);
    const text = Buffer.from(files['b'] as Uint8Array);
    text[text.indexOf('77')] = 0x36;
    files['b'] = new Uint8Array(text);
    for (const ended of [await runHere(['check', 'b'], files), await convert(['b', 'c.moirai'], files)])
      expect(ended).toMatchObject({ code: 3, err: expect.stringMatching(/^b: .* \[history\/corrupt\]\n$/) });
  });

  test.each([
    ['a format that nobody knows', ['a', 'b.jsonl', '--from', 'csv'], 'history/format', 3],
    ['a name that says no format', ['a', 'b'], 'history/format', 3],
    ['an input that is not there', ['nowhere', 'b.jsonl'], 'history/missing-file', 3],
    ['a file without a transaction', ['empty', 'b.jsonl'], 'history/empty', 3],
    ['a header alone', ['none.jsonl', 'b.moirai'], 'history/empty', 3],
    ['a binary file that was cut', ['cut', 'b.jsonl', '--from', 'binary'], 'history/truncated', 2],
  ])('refuses %s', async (_name, args, code, exit) => {
    const none = '{"moirai":"history","version":1,"transactions":0}\n';
    const files: Record<string, unknown> = { a: 'w x 1', empty: '', 'none.jsonl': none };
    await convert(['a', 'cut', '--to', 'binary'], files);
    files['cut'] = (files['cut'] as Uint8Array).slice(0, 300);
    const ended = await convert(args, files);
    expect(files).not.toHaveProperty('b.moirai');
    expect(ended).toMatchObject({ code: exit, err: expect.stringContaining(`[${code}]`) });
  });
});
