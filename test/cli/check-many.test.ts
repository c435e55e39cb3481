import { afterAll, describe, expect, test } from 'vitest';
import { samples } from '../../src/history/formats/foreign-samples.test-support.ts';
import { formatHistoryLines, parseHistory } from '../../src/history/index.ts';
import { listFolder, openInput } from '../../src/cli/files/input-files.ts';
import { runHere, UserFolder } from '../support/cli.ts';

const lost = 'r x _, w x 1\nr x _, w x 2';
const skewed = 'r x _, w y 1\nr y _, w x 1';
const serial = 'w x 1 | r x 1';
const files = { 'runs/a.history': lost, 'runs/b/c.history': serial, 'runs/d.history': skewed, 'runs/notes.md': '# no' };

describe('several histories', () => {
  test('in folders, each with its report, and a summary', async () => {
    const { code, out } = await runHere(['check', 'runs', '--level', 'serializable'], files);
    expect(code).toBe(1);
    expect(out.match(/^runs\S+: /gm)).toEqual(['runs/a.history: ', 'runs/b/c.history: ', 'runs/d.history: ']);
    expect(out).toContain('\n3 histories, by answer at serializable\nviolated   2\nsatisfied  1\n');
    expect(out).toContain('assumed of 1 of them: the file has no end mark: it is whole\n');
  });

  test('one that was cut between two transactions is unknown, and the others are judged', async () => {
    const whole = formatHistoryLines(parseHistory(serial));
    const cut = whole.split('\n').slice(0, 2).join('\n');
    const [one, some] = [{ 'c.jsonl': cut }, { 'c.jsonl': cut, 'w.jsonl': whole, 'v.history': lost }];
    const message = 'c.jsonl:1:48: it was cut: transactions announced here: 2, found: 1 [history/truncated]\n';
    for (const asked of [[], ['--level', 'serializable'], ['--by', 'commit-tests']])
      expect(await runHere(['check', 'c.jsonl', ...asked], one)).toEqual({ code: 2, out: '', err: message });
    const level = ['--level', 'serializable'];
    const several = await runHere(['check', 'c.jsonl', 'w.jsonl', ...level], some);
    expect(several).toMatchObject({ code: 2, err: message });
    expect(several.out).toContain('at serializable\ncut        1\nsatisfied  1\n');
    expect(several.out).not.toContain('assumed');
    expect((await runHere(['check', 'c.jsonl', 'w.jsonl'], some)).code).toBe(2);
    expect((await runHere(['check', 'c.jsonl', 'v.history', ...level], some)).code).toBe(1);
  });

  test('what is left of one that was cut may violate the level, also where its last line is broken', async () => {
    const whole = formatHistoryLines(
      parseHistory(`${lost} | r x 2 <- 1/0\nr x 2 <- 1/0 | r x 3 <- 2/3 | w x 3 | w x 4`),
    );
    const cut = whole.slice(0, whole.lastIndexOf('4'));
    const level = ['--level', 'serializable'];
    const { code, out } = await runHere(['check', 'c.jsonl', ...level], { 'c.jsonl': cut });
    expect(code).toBe(1);
    expect(out).toContain('causal              unknown: the history was cut\n');
    expect(out).toContain('the history was cut: 8:39: the line ends where a value should stand\nwhat is left');
    expect(out).toContain('lost update: ');
    const { out: json } = await runHere(['check', 'c.jsonl', ...level, '--json'], { 'c.jsonl': cut });
    expect(JSON.parse(json)).toMatchObject({
      verdict: 'violated',
      cut: expect.stringContaining('8:39: '),
      strongest: null,
    });
    const byTests = await runHere(['check', 'c.jsonl', '--by', 'commit-tests', ...level], { 'c.jsonl': cut });
    expect(byTests.code).toBe(1);
    expect(byTests.out).toMatch(/^read-atomic +unknown: the history was cut$/m);
    expect(byTests.out).toMatch(/^serializable +violated$/m);
    expect(byTests.out).toContain('the history was cut: 8:39: the line ends where a value should stand\nwhat is left');
    expect((await runHere(['check', 'c.jsonl', '--level', 'causal'], { 'c.jsonl': cut })).code).toBe(2);
    expect((await runHere(['check', 'c.jsonl'], { 'c.jsonl': cut })).code).toBe(2);
    const within = Buffer.from(whole.replace('"x",4', '"x","é"')).subarray(0, whole.lastIndexOf('4') + 2);
    expect((await runHere(['check', 'c.jsonl', ...level], { 'c.jsonl': within })).code).toBe(1);
    const alone = { 'c.history': Buffer.from('w x "é').subarray(0, 6) };
    expect(await runHere(['check', 'c.history'], alone)).toMatchObject({ code: 2, out: '' });
    const notation = { 'c.history': `transactions 3\n${lost}\nw y "` };
    expect((await runHere(['check', 'c.history', ...level], notation)).code).toBe(1);
  });

  test.each([
    ['a value that is read is missing', 'w x 1 | r x 2 | w x 2'],
    ['a value is written twice', 'r x _, w x 1 | w z 1\nr x _, w x 2 | w z 1\nw y 1'],
    ['a named writer is missing', 'w y 1 ! | r y 1 <- 1/0\nw y 1'],
  ])('nothing follows from what is left where %s', async (_name, text) => {
    const lines = formatHistoryLines(parseHistory(text)).trimEnd().split('\n');
    const cut = { 'c.jsonl': lines.slice(0, -1).join('\n') };
    expect(await runHere(['check', 'c.jsonl', '--level', 'serializable'], cut)).toMatchObject({ code: 2, out: '' });
  });

  test('what a green verdict takes for granted is said', async () => {
    const asked = ['--level', 'serializable', '--json'];
    const whole = formatHistoryLines(parseHistory(serial));
    const named = JSON.parse((await runHere(['check', '-', ...asked], { '-': serial })).out) as object;
    expect(named).toMatchObject({ verdict: 'satisfied', assumed: ['the file has no end mark: it is whole'] });
    const known = JSON.parse((await runHere(['check', '-', ...asked], { '-': whole })).out) as object;
    expect(known).toMatchObject({ verdict: 'satisfied', assumed: [] });
    const byTests = ['check', '-', '--by', 'commit-tests'];
    expect((await runHere(byTests, { '-': serial })).out).toContain('\nassumed: the file has no end mark');
    expect((await runHere(byTests, { '-': whole })).out).not.toContain('assumed');
  });

  test('without a level, counted by the strongest', async () => {
    const { code, out } = await runHere(['check', 'runs/'], files);
    expect(code).toBe(0);
    const counts = ['prefix              1', 'serializable        1', 'snapshot-isolation  1'];
    expect(out).toContain(`\n3 histories, by strongest level\n${counts.join('\n')}\n`);
  });

  test('one that is bad input does not hide the others, and is worse than a violation', async () => {
    const some = { ...files, 'runs/bad.history': 'w x' };
    const { code, out, err } = await runHere(['check', 'runs', '--level', 'serializable'], some);
    expect(code).toBe(3);
    expect(err).toMatch(/^runs\/bad\.history:1:\d+: .* \[history\/\S+\]\n$/);
    expect(out).toContain('bad input  1');
    const json = JSON.parse((await runHere(['check', 'runs', '--json'], some)).out) as object[];
    expect(json).toHaveLength(4);
    expect(json[2]).toEqual({
      report: expect.objectContaining({ heading: 'moirai check runs/bad.history' }) as object,
      file: 'runs/bad.history',
      error: { code: expect.stringMatching(/^history\//) as string, message: expect.any(String) as string, line: 1 },
    });
  });

  test('of many only what violates the level is shown', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`m/${i}.history`, i === 7 ? lost : serial]));
    const { code, out } = await runHere(['check', 'm', '--level', 'serializable'], many);
    expect(code).toBe(1);
    expect(out.match(/^m\/\S+: /gm)).toEqual(['m/7.history: ']);
    expect(out).toContain('satisfied  11\n');
  });

  test('a folder without any is bad input', async () => {
    const ended = await runHere(['check', 'r'], { 'r/notes.md': '' });
    expect(ended).toMatchObject({ code: 3, err: 'r: there is no history in this folder [history/missing-file]\n' });
  });

  test('tell how far they are', async () => {
    const told: string[] = [];
    const progress = async () => ({
      update: (label: string, done: number, total: number, unit?: string) =>
        void told.push(`${label} ${done}/${total} ${unit}`),
      stop: () => {},
    });
    await runHere(['check', 'runs'], files, { progress });
    expect(told).toEqual(['check 1/3 histories', 'check 2/3 histories']);
  });
});

describe('on threads', () => {
  const folder = new UserFolder();
  folder.write({
    ...Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.history`, i % 3 === 0 ? lost : serial])),
    'bad.history': 'w x',
  });
  afterAll(() => folder.remove());

  test('the answers and their order are those of one thread', async () => {
    const real = { listFolder, openInput };
    const args = ['check', folder.path, '--level', 'serializable'];
    const one = await runHere(args, {}, real);
    const two = await runHere([...args, '--jobs', '2'], {}, real);
    expect(two).toEqual(one);
    expect(one.code).toBe(3);
    expect(one.out).toContain('7 histories');
  }, 60_000);
});

describe('formats of other tools', () => {
  test.each(samples)('$format: $name', async (sample) => {
    const bytes = Object.entries(sample.files);
    const isFolder = bytes.length > 1;
    const some = Object.fromEntries(bytes.map(([name, content]) => [`h/${name}`, content]));
    const path = isFolder ? 'h' : `h/${bytes[0]?.[0]}`;
    const { code, out, err } = await runHere(['check', path], some);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/strongest level: \S+/);
    expect((await runHere(['check', path, '--format', sample.format], some)).out).toBe(out);
  });

  test('a format that nobody knows', async () => {
    const ended = await runHere(['check', 'a', '--format', 'x'], { a: serial });
    expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('[history/format]') as string });
  });
});

describe('drawings', () => {
  test('of a cycle of registers', async () => {
    const { code, out } = await runHere(['check', 'runs/a.history', '--dot'], files);
    expect(code).toBe(0);
    expect(out).toBe(String.raw`digraph "runs/a.history: not snapshot-isolation" {
  label="runs/a.history: not snapshot-isolation";
  node [shape=box];
  t0 [label="0/0\lread x = null\lwrite x = 1\l"];
  t1 [label="1/0\lread x = null\lwrite x = 2\l"];
  t0 -> t1 [label="rw x"];
  t1 -> t0 [label="rw x"];
}
`);
  });

  test('of a read that nothing explains, of lists, and of a large history', async () => {
    const aborted = await runHere(['check', 'g.history', '--mermaid'], { 'g.history': 'w x 1 !\nr x 1' });
    expect(aborted.out).toContain('t0 -->|"wr x"| t1');
    const lists =
      '{"session":"a","operations":[["append","x",1],["r","y",[1]]]}\n{"session":"b","operations":[["append","y",1],["r","x",[1]]]}';
    expect((await runHere(['check', 'l', '--mermaid'], { l: lists })).out).toContain('|"wr x"|');
    const large = `${Array.from({ length: 600 }, (_, i) => `w z ${i}`).join(' | ')}\n${lost}\nr x 2 | r x 1`;
    expect((await runHere(['check', 'big.history', '--dot'], { 'big.history': large })).out).toMatch(/^digraph/);
  });

  test('of several, and of none', async () => {
    expect((await runHere(['check', 'runs', '--dot'], files)).out.match(/^digraph/gm)).toHaveLength(2);
    expect((await runHere(['check', 'runs/b', '--dot'], files)).out).toBe('');
  });

  test.each([
    ['two kinds at once', ['--dot', '--mermaid']],
    ['JSON and a drawing', ['--json', '--dot']],
    ['commit tests', ['--dot', '--by', 'commit-tests']],
  ])('%s are bad usage', async (_name, options) => {
    const ended = await runHere(['check', 'runs/a.history', ...options], files);
    expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('[option/drawing]') as string });
  });
});
