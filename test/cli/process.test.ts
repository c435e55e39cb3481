/** The built command line in processes of its own: users' modules, hanging sessions, what two processes print. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, build, root, runBuilt, runProcess, UserFolder } from '../support/cli.ts';
import { CommandProcess } from '../support/command-process.ts';

const folder = new UserFolder();
const cwd = folder.path;

beforeAll(async () => {
  folder.write({ ...good, ...bad, ...hanging });
  await build();
}, 120_000);
afterAll(() => folder.remove());

const cart = `
export default program({
  initial: { cart: ['lamp'] },
  sessions: {
    adder: (session) => session.transaction(async (t) => t.write('cart', [...(await t.read('cart')), 'book'])),
    remover: (session) => session.write('cart', []),
    reader: async (session) => [await session.read('cart'), await session.read('cart')],
  },
  invariant: ({ results }) => results.reader[0].length > 0 || !results.reader[1].includes('lamp') || 'the lamp came back',
});
`;
const imported = `import { program } from 'moirai';${cart}`;

/** Nothing of moirai is installed beside these. */
const good = {
  'cart.ts': `import { program, type Program } from 'moirai';\nimport type { History } from 'moirai/history';\nconst typed = (p: Program): Program => p;${cart}`,
  'cart.mts': imported,
  'cart.js': imported,
  'cart.mjs': `import { InputError } from 'moirai';\nimport { program } from 'moirai/program';\nimport { helper } from './helper.mjs';\nhelper(InputError);${cart}`,
  'helper.mjs': `import { program } from 'moirai';\nexport const helper = () => program;`,
  'cart.cjs': `const { program } = require('moirai');${cart.replace('export default', 'module.exports =')}`,
  'cart.cts': `import { program } from 'moirai';${cart.replace('export default', 'export =')}`,
  'module/package.json': '{"type":"module"}',
  'module/cart.ts': imported,
  'module/cart.js': imported,
  'commonjs/package.json': '{"type":"commonjs"}',
  'commonjs/cart.ts': `import { program } from 'moirai';\nimport { nothing } from './nothing';\nnothing();${cart}`,
  'commonjs/nothing.ts': 'export const nothing = (): void => {};',
  'commonjs/cart.js': `const { program } = require('moirai');${cart.replace('export default', 'module.exports =')}`,
  'chatty.mjs': `import { program } from 'moirai';
console.log('loaded');
setInterval(() => {}, 1_000);
export default program({ sessions: { a: async (session) => { console.log('a runs'); await session.write('x', 1); } } });`,
};

const throwing = (statement: string): string => `import { program } from 'moirai';
export default program({
  sessions: {
    a: async (session) => {
      await session.write('x', 1);
      ${statement}
    },
  },
});
`;
const bad = {
  'no-default.ts': 'export const program = 1;',
  'no-program.ts': 'export default 3;',
  'no-session.cjs': 'module.exports = { sessions: { a: 3 } };',
  'syntax.ts': throwing('const x = ;'),
  'syntax.js': throwing('const x = ;'),
  'syntax.mjs': throwing('const x = ;'),
  'syntax.cjs': 'module.exports = {\n  sessions: { a: async (s) => { const x = ; } },\n};\n',
  'imports-syntax.mjs': "import './syntax.mjs';\nexport default 3;\n",
  'wrong-name.ts': "import { programme } from 'moirai';\nexport default programme({});\n",
  'no-module.ts': "import x from './nowhere.ts';\nexport default x;\n",
  'throws-on-load.ts': 'const config: any = undefined;\n\nexport default config.port;\n',
  'throws.ts': throwing('(null as any).foo();'),
  'throws.js': throwing('null.foo();'),
  'not-json.ts': throwing("await session.write('y', { when: [new Date(0)] });"),
  'not-json-initial.ts':
    "import { program } from 'moirai';\n\nexport default program({ initial: { n: 1n }, sessions: { a: () => 1 } });\n",
  'random.ts': throwing("if (Math.random() < 0.5) await session.write('y', 1);"),
  'uncaught.ts': throwing("void Promise.reject(new Error('lost'));"),
  'late-uncaught.mjs': throwing(
    "setTimeout(() => { throw new Error('late'); }, 1); await new Promise((resolve) => setTimeout(resolve, 50));",
  ),
  'nested.ts': throwing("await session.transaction(async () => { await session.read('x'); });"),
  'text.txt': 'hello',
};

const slow = (statement: string): string => `import { program } from 'moirai';
export default program({
  sessions: {
    quick: async (session) => session.read('x'),
    slow: async (session) => { await session.read('y'); ${statement} },
  },
});
`;
const hanging = {
  'never.ts': slow('await new Promise(() => {});'),
  'reads.ts': slow("while ((await session.read('y')) === null);"),
  'loop.ts': slow("await session.transaction(async (t) => { await t.write('z', 1); while (true); });"),
  'microtasks.js': slow('while (true) await null;'),
  'loop-in-invariant.js': `import { program } from 'moirai';
export default program({ sessions: { a: async (session) => session.read('x') }, invariant: () => { for (;;); } });`,
  'loop-on-load.js': 'export const x = 1;\nfor (;;);\n',
  'await-on-load.mjs': 'await new Promise(() => {});\nexport default 3;\n',
};

/** As nanoid and uuid do it: for Node.js a pool of random bytes that outlives a run, for browsers a draw for each identifier. */
const identifiers = {
  'index.js': `import { randomFillSync } from 'node:crypto';
const pool = Buffer.alloc(1_024);
let drawn = pool.length;
const draw = () => {
  if (drawn === pool.length) drawn = randomFillSync(pool).length - 1_024;
  drawn += 16;
  return pool.toString('hex', drawn - 16, drawn);
};
export { draw as nanoid, draw as v4 };`,
  'browser.js': `const draw = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
export { draw as nanoid, draw as v4 };`,
};
const packages = {
  nanoid: { browser: './browser.js', default: './index.js' },
  uuid: { node: './index.js', default: './browser.js' },
  another: { browser: './browser.js', default: './index.js' },
};

test.each([
  ['nanoid', 'nanoid', 0],
  ['uuid', 'v4', 0],
  ['another', 'v4', 3],
])('identifiers of %s, which keeps a pool of random bytes for all runs', async (name, draw, code) => {
  const files = Object.entries(packages).flatMap(([each, entry]) => [
    [`node_modules/${each}/package.json`, JSON.stringify({ name: each, type: 'module', exports: { '.': entry } })],
    ...Object.entries(identifiers).map(([file, text]) => [`node_modules/${each}/${file}`, text]),
  ]);
  folder.write(Object.fromEntries(files) as Record<string, string>);
  folder.write({
    'ids.mjs': `import { program } from 'moirai';
import { ${draw} as draw } from '${name}';
const session = (s) => s.transaction(async (t) => t.write(\`n\`, [...(await t.read('n')), draw(), draw()]));
export default program({ initial: { n: [] }, sessions: { a: session, b: session },
  invariant: ({ final }) => new Set(final.n).size === 4 || 'lost or the same' });`,
  });
  const ended = await runBuilt(['explore', 'ids.mjs', '--level', 'serializable'], { cwd });
  expect(ended).toMatchObject({ code });
  expect(code === 0 ? ended.out : ended.err).toContain(
    code === 0 ? 'with other values of crypto.getRandomValues in session "b"' : 'a pool of random bytes',
  );
});

describe('a program is found in', () => {
  const names = Object.keys(good).filter((name) => /cart\.\w+$/.test(name));
  test.concurrent.each(names)('%s', async (name) => {
    const { code, out, err } = await runBuilt(['test', name, '--runs', '100'], { cwd });
    // On a busy machine the progress is told.
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^(?:[a-z-]+: \d+ of 100 runs\n)*$/) });
    expect(out).toContain('the lamp came back');
  });
});

describe('bad input is one line on standard error and exit code 3', () => {
  // TypeScript has loader hooks, which stay in a process: JavaScript is loaded without them.
  const together = { typescript: new CommandProcess(), javascript: new CommandProcess() };
  afterAll(async () => {
    await together.typescript.stop();
    await together.javascript.stop();
  });
  const run = (name: string): Promise<Ended> => {
    if (name.includes('uncaught')) return runBuilt(['test', name], { cwd });
    return together[name.endsWith('ts') ? 'typescript' : 'javascript'].run(['test', name], cwd);
  };
  test.concurrent.each([
    ['nowhere.ts', /^nowhere\.ts: there is no such file \[program\/missing-file\]$/],
    ['module', /^module: this is no file \[program\/missing-file\]$/],
    ['text.txt', /^text\.txt: .* \[program\/file-type\]$/],
    ['no-default.ts', /^no-default\.ts: the module has no default export; .* \[program\/no-default\]$/],
    ['no-program.ts', /^no-program\.ts: a program is not an object \[program\/shape\]$/],
    ['no-session.cjs', /^no-session\.cjs: session "a" is not a function \[program\/shape\]$/],
    ['syntax.ts', /^syntax\.ts:6:17: Unexpected ";" \[program\/syntax\]$/],
    ['syntax.js', /^syntax\.js:6:17: Unexpected token ';' \[program\/syntax\]$/],
    ['syntax.mjs', /^syntax\.mjs:6:17: Unexpected token ';' \[program\/syntax\]$/],
    ['syntax.cjs', /^syntax\.cjs:2:43: Unexpected token ';' \[program\/syntax\]$/],
    ['imports-syntax.mjs', /^syntax\.mjs:6:17: Unexpected token ';' \[program\/syntax\]$/],
    ['wrong-name.ts', /^wrong-name\.ts:1:10: .*'programme' \[program\/syntax\]$/],
    ['no-module.ts', /^no-module\.ts: the module cannot be loaded: .*nowhere\.ts.* \[program\/load\]$/],
    ['throws-on-load.ts', /^throws-on-load\.ts:3:\d+: the module cannot be loaded: TypeError: .* \[program\/load\]$/],
    [
      'throws.ts',
      /^throws\.ts:6:\d+: session "a" threw outside a transaction: TypeError: .* \[program\/session-threw\]$/,
    ],
    [
      'throws.js',
      /^throws\.js:6:\d+: session "a" threw outside a transaction: TypeError: .* \[program\/session-threw\]$/,
    ],
    [
      'not-json.ts',
      /^not-json\.ts:6:\d+: write of y: a Date at \.when\[0\] is not a value that JSON can carry \[history\/value\]$/,
    ],
    [
      'not-json-initial.ts',
      /^not-json-initial\.ts:3:\d+: the initial value of n: the bigint 1n .* \[history\/value\]$/,
    ],
    ['random.ts', /^random\.ts: .* it called Math\.random in session "a".* \[program\/nondeterministic\]$/],
    [
      'uncaught.ts',
      /^uncaught\.ts:6:\d+: a promise was rejected and nothing awaits it: Error: lost \[program\/uncaught\]$/,
    ],
    [
      'late-uncaught.mjs',
      /^late-uncaught\.mjs:6:\d+: an error that nothing catches: Error: late \[program\/uncaught\]$/,
    ],
    [
      'nested.ts',
      /^nested\.ts: session "a" waits for a transaction inside its own .* \[program\/nested-transaction\]$/,
    ],
  ])('%s', async (name, line) => {
    const { code, out, err } = await run(name);
    expect(err.trimEnd()).toMatch(line);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 3, out: '' });
  });

  test('with --debug, the stack of the cause follows', async () => {
    const { code, err } = await runBuilt(['test', 'throws.ts', '--debug'], { cwd });
    expect(code).toBe(3);
    expect(err).toMatch(/^throws\.ts:6:\d+: [^\n]*\n[^]*caused by [^]*at .*throws\.ts:6:/);
  });

  test('a folder that is no history', async () => {
    const empty = new UserFolder();
    empty.write({ 'notes.md': '' });
    const { code, err } = await runBuilt(['check', '.'], { cwd: empty.path });
    empty.remove();
    expect({ code, err }).toEqual({ code: 3, err: '.: there is no history in this folder [history/missing-file]\n' });
  });
});

describe('what does not end, ends with exit code 2 and one line', () => {
  const limit = ['--timeout', '0.2'];
  test.concurrent.each([
    ['never.ts', 'session "slow" did not end within 0.2 s; its last operation: read of y'],
    ['reads.ts', 'session "slow" did not end within 0.2 s; its last operation: read of y'],
    ['loop.ts', 'session "slow" did not end within 0.2 s; its last operation: write of z'],
    ['microtasks.js', 'session "slow" did not end within 0.2 s; its last operation: read of y'],
    ['loop-in-invariant.js', 'the invariant did not end within 0.2 s'],
    ['await-on-load.mjs', 'await-on-load.mjs: the module did not load within 5 s'],
  ])('%s', async (name, line) => {
    const { code, out, err } = await runBuilt(['test', name, ...limit], { cwd });
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: `${line}\n` });
  });

  test.concurrent('a protocol that computes for ever while it loads', async () => {
    const err = 'loop-on-load.js: the module did not load within 5 s\n';
    expect(await runBuilt(['protocol', 'loop-on-load.js', ...limit], { cwd })).toMatchObject({ code: 2, out: '', err });
  });
});

test('two processes print the same for the same seed, byte by byte, and a replay does the run again', async () => {
  const args = ['test', 'cart.ts', '--seed', '42', '--runs', '300'];
  const [first, second, json] = await Promise.all([
    runBuilt(args, { cwd }),
    runBuilt(args, { cwd, env: { TZ: 'Asia/Tokyo', LANG: 'ja_JP.UTF-8' } }),
    runBuilt([...args, '--json'], { cwd }),
  ]);
  expect(second).toEqual(first);
  expect(first?.err).toBe('');
  const { command } = JSON.parse(json?.out ?? '') as { command: string };
  expect(first?.out).toContain(`\nreplay: ${command}\n`);
  const replayed = await runBuilt(command.split(' ').slice(1), { cwd });
  expect(replayed).toMatchObject({ code: 1, err: '' });
  expect(sessionsOf(replayed)).toBe(sessionsOf(first));
});

test('what a program prints goes to standard error, and what it leaves open does not keep the process', async () => {
  const { code, out, err } = await runBuilt(['test', 'chatty.mjs', '--json', '--runs', '3'], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ runs: 3, violations: 0 });
  expect(err).toMatch(/^loaded\n(?:a runs\n)+$/);
});

test('a history comes from standard input', async () => {
  const { code, out } = await runBuilt(['check', '-', '--level', 'serializable', '--json'], {
    input: 'r x _, w x 1\nr x _, w x 2\n',
  });
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ file: '-', strongest: 'prefix' });
});

test('a reader that has enough is no failure', async () => {
  const command = `'${process.execPath}' '${root}dist/cli/main.js' test cart.ts --level all --runs 50 | head -n 1`;
  const { code, out, err } = await runProcess('/bin/sh', ['-c', command], { cwd });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^level /);
});

test('a violation that was printed is the exit code, also where its reader has had enough', async () => {
  const trace = `'${root}examples/traces/write-skew.trace.jsonl' --engine postgres --isolation serializable`;
  const command = `( '${process.execPath}' '${root}dist/cli/main.js' verify ${trace}; echo "exit $?" >&2 ) | head -c 1`;
  const { out, err } = await runProcess('/bin/sh', ['-c', command], { cwd });
  expect(out).toBe('v');
  expect(err).toBe('exit 1\n');
});

test('the demo finds the bug at causal and not at serializable', async () => {
  const { code, out, err } = await runBuilt(['demo']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/violated in \d+ of 1,000 runs at causal: a deleted item came back/);
  expect(out).toContain('passed 1,000 runs at serializable');
  expect(out).toContain('all 12 histories satisfy the invariant at serializable: a proof for this program');
});

test('the version is that of the package', async () => {
  expect((await runBuilt(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

function sessionsOf({ out }: Ended): string {
  return out.split('\n\n')[1] ?? '';
}
