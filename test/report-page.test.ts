/** The HTML report in Chromium: opened from disk, walked to its end by keyboard, compared with what the same command prints. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, root, runProcess, UserFolder } from './support/cli.ts';
import { CommandProcess } from './support/command-process.ts';

interface Look {
  readonly words: string;
  readonly title: string;
  readonly errors: readonly string[];
  readonly requests: readonly string[];
  /** What axe calls serious or critical: in light of the first page, in dark of the second, and so on. */
  readonly serious: readonly string[];
  /** Before the first step, and after each. */
  readonly walked: readonly {
    readonly line: string;
    readonly current: string | null;
    readonly rows: readonly string[][];
  }[];
  readonly elements: readonly string[];
}

const long = 'x'.repeat(1_000_000);
/** Evaluated in the program and here. */
const hostileKeys = `['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', 'bidi\\u202e\\u2066', 'nul\\0', '__proto__', '<!--']`;
const hostileProgram = `import { program } from 'moirai';
const keys = ${hostileKeys};
const all = (session) => session.transaction(async (t) => {
  for (const key of keys) await t.write(key, (await t.read(key)) + '</script><b>&amp;' + key);
  await t.write('long', 'x'.repeat(1_000_000));
});
export default program({
  initial: Object.fromEntries(keys.map((key) => [key, '<i>'])),
  sessions: { '<b>"a"</b>': all, b: all },
  invariant: () => '</script><script>alert(2)</script>\\u202e\\0',
});
`;

const hostileKey = '</script><script>alert(3)</script>\u202e\0';
const hostileHistory = ['<b>"a"</b>', '<img src=x onerror=alert(4)>']
  .map((session) => ({
    session,
    operations: [
      ['r', hostileKey, null],
      ['w', hostileKey, `</script>${session}`],
      ['w', `long ${session}`, long],
    ],
  }))
  .map((transaction) => `${JSON.stringify(transaction)}\n`)
  .join('');

/** t1 and t2 write it at once; the operations of t2 overlap those of t1. */
const hostileTrace = [
  ['<i>a</i>', '<b>t1</b>', 'write', [[hostileKey, { n: '<img src=x>' }]], 10, 15],
  ['b', 't2', 'write', [[hostileKey, { n: long }]], 12, 25],
  ['<i>a</i>', '<b>t1</b>', 'commit', undefined, 30, 35],
  ['b', 't2', 'commit', undefined, 40, 45],
]
  .map(([session, transaction, op, writes, start, end]) => ({ session, transaction, op, writes, start, end }))
  .map((operation) => `${JSON.stringify(operation)}\n`)
  .join('');

const commands = {
  sql: ['test', 'examples/sql-transfer.ts'],
  levels: ['explore', 'examples/sql-transfer.ts', '--isolation', 'all'],
  keys: ['explore', 'examples/cart.ts', '--level', 'causal'],
  passes: ['explore', 'examples/cart.ts', '--level', 'serializable'],
  hostile: ['test', 'hostile.js', '--runs', '3'],
  trace: ['verify', 'trace.jsonl', '--engine', 'postgres', '--isolation', 'read committed'],
  protocol: ['protocol', 'examples/protocols/crashing-coordinator.ts', '--log', '0', '--no-eventually'],
  analysis: ['analyze', 'examples/analyze/coupons.ts'],
  history: ['check', 'history.jsonl', '--level', 'serializable'],
} as const;
type Name = keyof typeof commands;
/** Written as JUnit's XML too. */
const suiteOf: readonly Name[] = ['levels', 'hostile', 'history'];

interface Suite {
  readonly elements: readonly string[];
  readonly name: string;
  readonly failures: readonly { readonly name: string; readonly message: string; readonly text: string }[];
}

const folder = new UserFolder();
let suites: readonly Suite[] = [];
const printed = new Map<Name, string>();
const looks = new Map<Name, Look>();

beforeAll(async () => {
  await build();
  const files = {
    'hostile.js': hostileProgram,
    'history.jsonl': `{"moirai":"history","version":1}\n${hostileHistory}`,
    'trace.jsonl': hostileTrace,
    'package.json': '{"type":"module"}',
  };
  folder.write(files);
  const commandLine = new CommandProcess();
  const names = Object.keys(commands) as Name[];
  try {
    for (const name of names) {
      const [command, file, ...rest] = commands[name];
      const path = Object.hasOwn(files, file) ? join(folder.path, file) : file;
      const report = join(folder.path, `${name}.html`);
      const keeps = command === 'test' || command === 'explore' ? ['--no-failures'] : [];
      const junit = suiteOf.includes(name) ? ['--junit', join(folder.path, `${name}.xml`)] : [];
      const { out } = await commandLine.run([command, path, ...rest, ...keeps, ...junit, '--report', report], root);
      printed.set(name, out);
    }
  } finally {
    await commandLine.stop();
  }
  const script = fileURLToPath(new URL('support/report-in-browser.mjs', import.meta.url));
  const reports = names.map((name) => join(folder.path, `${name}.html`));
  const xml = suiteOf.map((name) => join(folder.path, `${name}.xml`));
  const { out, err } = await runProcess(process.execPath, [script, ...reports, ...xml]);
  if (out === '') throw new Error(err);
  const found = JSON.parse(out) as { readonly seen: readonly Look[]; readonly suites: readonly Suite[] };
  const { seen } = found;
  suites = found.suites;
  names.forEach((name, i) => looks.set(name, seen[i] as Look));
}, 300_000);
afterAll(() => folder.remove());

function lookAt(name: Name): Look {
  return looks.get(name) as Look;
}

/** Lines of text as one sentence. */
function joined(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join(' ');
}

describe.each(Object.keys(commands) as Name[])('%s', (name) => {
  test('opens without errors, asks for nothing, and is accessible', () => {
    const { errors, requests, serious } = lookAt(name);
    expect({ errors, requests, serious }).toEqual({ errors: [], requests: [], serious: [] });
  });

  test('the command says where it is', () => {
    expect(printed.get(name)?.trimEnd().split('\n').at(-1)).toBe(`report: ${join(folder.path, `${name}.html`)}`);
  });
});

test('the page without its data is small', () => {
  expect(statSync(join(root, 'dist/report-page.html')).size).toBeLessThan(150_000);
});

describe('a SQL program', () => {
  test('has the words of the text: verdict, cause, cycle, replay', () => {
    const text = printed.get('sql') ?? '';
    const { words, title } = lookAt('sql');
    const lines = text.split('\n');
    const cause = lines.findIndex((line) => line.startsWith('Cause: '));
    const cycle = lines.findIndex((line) => line.startsWith('.-> '));
    const page = words.replaceAll(/\s+/g, ' ');
    expect(page.toLowerCase()).toContain((lines[0] ?? 'no line').toLowerCase());
    expect(page).toContain(joined(lines.slice(cause, cycle)));
    expect(page).toContain(/^\.-> (.*)$/m.exec(text)?.[1] ?? 'no cycle');
    expect(page).toContain(/^replay: (.*)$/m.exec(text)?.[1] ?? 'no replay');
    expect(title).toBe('moirai test examples/sql-transfer.ts · moirai');
  });

  test('the stepper walks through the statements of the text, to the end', () => {
    const statements = [
      ...(printed.get('sql') ?? '').matchAll(/^ {2}(alice|bob|invariant) +(?:\.\.\. )?(.*?)(?:\.\.\.| {2}\[.*)?$/gm),
    ];
    expect(statements.length).toBeGreaterThan(10);
    const [first, ...steps] = lookAt('sql').walked;
    expect(first?.line).toBe(`0 of ${statements.length} Before the first step`);
    expect(steps).toHaveLength(statements.length);
    statements.forEach(([, session = '', sql = ''], i) => {
      const line = `${i + 1} of ${statements.length} ${session}: ${sql}`;
      expect(steps[i]?.line.slice(0, line.length)).toBe(line);
      expect(steps[i]?.current).toContain(`Step ${i + 1}, ${session}: ${sql}`);
    });
  });

  test('shows at each step what is committed and what each session has seen', () => {
    const balances = lookAt('sql').walked.map(({ rows }) => rows.find(([key]) => key === 'accounts/1')?.slice(1));
    expect(balances[0]).toEqual(['balance 100', '·', '·', '·']);
    expect(balances).toContainEqual(['balance 100', 'balance 100', 'balance 50not committed', '·']);
    expect(balances).toContainEqual(['balance 50', 'balance 100outdated', 'balance 50', '·']);
    expect(balances).toContainEqual(['balance 50', 'balance 30not committed', 'balance 50', '·']);
    expect(balances.at(-1)).toEqual(['balance 30', 'balance 30', 'balance 50outdated', 'balance 30']);
  });
});

test('levels: a row a level, with the numbers of the text', () => {
  const { words } = lookAt('levels');
  const rows = [...(printed.get('levels') ?? '').matchAll(/^(PostgreSQL, .*?) {2,}(.*)$/gm)];
  expect(rows).toHaveLength(3);
  for (const [, level = '', counts = ''] of rows) expect(words).toContain([level, ...counts.split(/\s+/)].join('\t'));
  const headline = words.split('\n').find((line) => /invariant breaks/i.test(line));
  expect(headline?.toLowerCase()).toBe(
    'the invariant breaks at postgresql, read committed; the weakest level at which the invariant holds in all schedules: postgresql, repeatable read',
  );
});

test('keys: a stale read is marked, and a passing exploration says what it proves', () => {
  const { words, walked } = lookAt('keys');
  expect(printed.get('keys')).toContain('(older)');
  expect(words).toContain('stale');
  expect(walked.at(-1)?.line).toMatch(/^(\d+) of \1 /);
  const [verdict = ''] = (printed.get('passes') ?? '').split('\n');
  expect(lookAt('passes').words.toLowerCase()).toContain(verdict.toLowerCase());
  expect(lookAt('passes').walked).toEqual([]);
});

test('hostile keys, values and messages are text', () => {
  const { words, elements, walked } = lookAt('hostile');
  expect(words).toContain('</script><script>alert(2)</script>\\u202e\\u0000');
  for (const text of [
    '</script><script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'bidi\\u202e\\u2066',
    'nul\\u0000',
    '__proto__',
    '<!--',
    '<b>"a"</b>',
  ])
    expect(words).toContain(text);
  // oxlint-disable-next-line eslint/no-control-regex -- what must not be there
  expect(words).not.toMatch(/[\u202a-\u202e\u2066-\u2069\0]/);
  expect(words).not.toContain(long);
  expect(elements).not.toContain('img');
  expect(walked.length).toBeGreaterThan(20);
});

test('a hostile history: levels, the cycle and its values are those of the text, as text', () => {
  const { words, elements, walked } = lookAt('history');
  const text = printed.get('history') ?? '';
  for (const [, level = '', answer = ''] of text.matchAll(/^(\S+) +(satisfied|violated)$/gm))
    expect(words).toContain(`${level}\t${answer}`);
  expect(words).toMatch(/not at serializable; snapshot-isolation is violated: lost update/);
  // The text breaks its lines within long words, and draws a bar beside them.
  const squeezed = (given: string): string => given.replaceAll(/[\s|]+/g, '');
  const cycle = text.slice(text.indexOf('.-> ') + 4, text.indexOf('\njunit: ')).split("\n'-- ");
  expect(cycle).toHaveLength(2);
  for (const sentence of cycle) expect(squeezed(words)).toContain(squeezed(sentence).replace(/\(rw\)$/, ''));
  expect(walked.at(-1)?.line).toMatch(/^8 of 8 /);
  expect(walked.map(({ rows }) => rows)).toEqual(walked.map(() => []));
  expect(words).not.toContain(long);
  expect(elements).not.toContain('img');
});

test('JUnit is XML, a case for each level, with hostile text as text', () => {
  expect(suites).toHaveLength(3);
  const [levels, hostile, history] = suites;
  for (const { elements } of suites)
    expect(elements).toEqual(
      ['testsuites', 'testsuite', 'testcase', 'failure'].filter((name) => elements.includes(name)),
    );
  expect(levels?.name).toBe('moirai explore examples/sql-transfer.ts');
  expect(levels?.failures.map(({ name }) => name)).toEqual([
    'PostgreSQL, read committed',
    'PostgreSQL, repeatable read',
    'PostgreSQL, serializable',
  ]);
  expect(levels?.failures[0]?.text).toMatch(/^\d+ was taken and \d+ is left of 100$/m);
  expect(hostile?.failures[0]?.message).toContain('</script><script>alert(2)</script>\\u202e\\u0000');
  expect(hostile?.failures[0]?.text).toContain('<img src=x onerror=alert(1)>');
  expect(history?.failures[0]?.text).toContain('</script><script>alert(3)</script>\\u202e\\u0000');
  for (const { failures } of suites) for (const { text } of failures) expect(text).not.toContain(long);
});

test('an analysis: its statements as a table, and no stepper', () => {
  const { words, walked } = lookAt('analysis');
  const text = printed.get('analysis') ?? '';
  const statements = [...text.matchAll(/^ {3}(\S+:\d+) {2}(.*)$/gm)];
  expect(statements).toHaveLength(2);
  for (const [, place, sql] of statements) expect(words).toContain(`${place}\t${sql}`);
  expect(words.toLowerCase()).toContain(/^1\. (.*)$/m.exec(text)?.[1]?.toLowerCase() ?? 'no title');
  expect(walked).toEqual([]);
});

test('a trace: its operations stand on an axis of times, with what they have to do with the violation', () => {
  const { words, elements, walked } = lookAt('trace');
  const text = printed.get('trace') ?? '';
  expect(text).toContain('violation 1: mutual-exclusion');
  expect(words).toContain('mutual-exclusion on </script><script>alert(3)</script>\\u202e\\u0000, transactions ');
  for (const role of ['acquires the lock of t2', 'releases it']) {
    expect(text).toContain(`  ${role}: `);
    expect(words).toContain(role);
  }
  const times = walked.slice(1).map(({ current }) => current);
  expect(times).toHaveLength(6);
  expect(words).toMatch(/\n10\n[^]*\n12\n[^]*\n15\n[^]*\n25\n[^]*\n30-35\n[^]*\n40-45\n/);
  expect(words).toContain('Versions of </script><script>alert(3)</script>');
  expect(words).not.toContain(long);
  expect(elements).not.toContain('img');
});

test('a protocol: the steps of the text, and its variables as they change', () => {
  const text = printed.get('protocol') ?? '';
  const steps = [...text.matchAll(/^ *\d+ {2}(\S+) +(.*?)(?: {2,}.*)?$/gm)];
  const { walked, words } = lookAt('protocol');
  expect(steps.length).toBeGreaterThan(3);
  expect(walked.slice(1).map(({ line }) => line)).toEqual(
    steps.map(([, process, title], i) => `${i + 1} of ${steps.length} ${process}: ${title}`),
  );
  expect(words.toLowerCase()).toContain(/^violated after .*$/m.exec(text)?.[0] ?? 'no verdict');
  const changes = [...text.matchAll(/(\S+\.\w+) (\S+) -> (\S+?)(?:;|$)/gm)];
  const [, variable = '', before, after] = changes[0] ?? [];
  const values = walked.map(({ rows }) => rows.find(([name]) => name === variable)?.[1]);
  expect(values[0]).toBe(before);
  expect(values).toContain(after);
});
