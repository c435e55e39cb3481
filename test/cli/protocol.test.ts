import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runBuilt, UserFolder } from '../support/cli.ts';
import { CommandProcess } from '../support/command-process.ts';

const folder = new UserFolder();
const locking = join(root, 'examples/protocols/two-phase-locking.ts');
const bug = [locking, '--transactions', '3', '--resources', '2', '--bug', '1', '--level', 'serializable'];

/** One command of each exit code has a process of its own. */
const alone = (...args: string[]): Promise<Ended> => runBuilt(['protocol', ...args], { cwd: folder.path });

const together = new CommandProcess();
const protocol = (...args: string[]): Promise<Ended> => together.run(['protocol', ...args], folder.path);

beforeAll(async () => {
  folder.write({
    'throwing.ts': userProtocol(`throw new Error('boom');`),
    'empty.ts': 'export const nothing = 1;\n',
    'other.ts': 'export default { name: 1 };\n',
    'counting.ts': counting,
    'vacuous.ts': lostUpdate(
      "['before']",
      `({ at, before }: any) => at === 'DONE' ? [{ kind: 'read', key: 'x', value: before }] : null`,
    ),
    'silent.ts': lostUpdate("['at']", '() => null'),
    'flag.ts': userProtocol('')
      .replace("start: 'go',", "start: 'go', variables: { f: flag } as never,")
      .replace('{ named', '{ flag, named'),
  });
  await build();
}, 120_000);
afterAll(async () => {
  await together.stop();
  folder.remove();
});

function userProtocol(body: string): string {
  return `import { namedSet, processes, protocol } from 'moirai/protocol';
export default protocol({
  name: 'mine',
  parameters: { size: 2 },
  define: ({ size }) => ({
    processes: [processes(namedSet('p', size), { start: 'go', steps: { go: { do: () => { ${body} } } } })],
  }),
});
`;
}

/** Its processes count until their third step, which leaves the range. */
const counting = userProtocol('self.n += 1;')
  .replace('do: () =>', 'do: (self) =>')
  .replace("start: 'go',", "start: 'go', variables: { n: range(0, 2) },")
  .replace('protocol }', 'protocol, range }');

/** Two clients that both read x = 0 and write. */
function lostUpdate(from: string, operations: string): string {
  return `import { namedSet, observe, processes, protocol, range } from 'moirai/protocol';
export default protocol({
  name: 'lost update',
  parameters: { clients: 2 },
  define: ({ clients }) => {
    const client = processes(namedSet('c', clients), {
      start: 'RUN',
      variables: { before: range(0, 1) },
      steps: { RUN: { do: (self) => { self.at = 'DONE'; } }, DONE: [] },
    });
    return {
      processes: [client],
      observe: observe({ of: client, from: ${from}, initial: { x: 0 }, operations: ${operations} }),
    };
  },
});
`;
}

test('a protocol that is right: exit code 0', async () => {
  const { code, out } = await alone(locking, '--level', 'serializable', '--no-eventually');
  expect(out).toContain('49,884 distinct states');
  expect(code).toBe(0);
});

test('threads count the same', async () => {
  const threads = ['--jobs', '2', '--level', 'serializable,snapshot-isolation', '--no-eventually'];
  const { code, out } = await protocol(locking, '--json', ...threads);
  const expected = { states: 49_884, generated: 201_013, depth: 37, verdict: 'satisfied', complete: true, trace: null };
  expect(JSON.parse(out)).toMatchObject(expected);
  expect(code).toBe(0);
});

test('a violation: exit code 1, the trace in four forms, and a history that check refutes', async () => {
  const files = ['--svg', 't.svg', '--mermaid', 't.mmd', '--itf', 't.itf.json', '--history', 't.history.jsonl'];
  const { code, out } = await alone(...bug, '--json', ...files);
  const { verdict, trace, observed } = JSON.parse(out) as { verdict: string; trace: unknown[]; observed: string };
  expect({ code, verdict, steps: trace.length }).toEqual({ code: 1, verdict: 'violated', steps: 19 });
  expect(observed).toContain('r r1');
  const read = (name: string): string => readFileSync(join(folder.path, name), 'utf8');
  expect(read('t.svg')).toMatch(/^<svg /);
  expect(read('t.mmd')).toMatch(/^sequenceDiagram\n/);
  expect(JSON.parse(read('t.itf.json'))).toHaveProperty('states.length', 20);
  const checked = await together.run(['check', '--level', 'serializable', 't.history.jsonl'], folder.path);
  expect(checked.code).toBe(1);
});

test('a budget: exit code 2, and a checkpoint from which the search continues', async () => {
  const stopped = await alone(locking, '--states-max', '10000', '--checkpoint', 'search.checkpoint');
  expect(stopped).toMatchObject({ code: 2, out: expect.stringContaining('unknown: states-limit reached') });
  const { code, out } = await protocol(locking, '--no-eventually', '--resume', 'search.checkpoint');
  expect(out).toContain('49,884 distinct states');
  expect(code).toBe(0);
});

test('a time that is spent in the middle of a level: exit code 2', async () => {
  const large = [locking, '--transactions', '3', '--resources', '3', '--jobs', '2', '--timeout', '1', '--json'];
  const { code, out } = await alone(...large);
  expect(JSON.parse(out)).toMatchObject({ verdict: 'unknown', reason: 'time-limit', complete: false, trace: null });
  expect(code).toBe(2);
});

describe('what is wrong is one line, with exit code 3', () => {
  test.each<[string, string[], string]>([
    ['a step that throws', ['throwing.ts'], 'mine: p1 at go, step go throws Error: boom [protocol/throws]'],
    ['the same on two threads', ['throwing.ts', '--jobs', '2'], 'step go throws Error: boom [protocol/throws]'],
    ['a variable that observe does not name', ['vacuous.ts', '--level', 'serializable'], 'vacuous.ts:13:'],
    [
      'the same on two threads',
      ['vacuous.ts', '--level', 'serializable', '--jobs', '2'],
      'operations of observe: it reads at of c, which from does not name; from names before [protocol/observe]',
    ],
    [
      'flag instead of flag()',
      ['flag.ts'],
      'variable f of p is a function, which is no kind of value: write flag(...)',
    ],
    ['no default export', ['empty.ts'], 'export default protocol({ ... }) [program/no-default]'],
    ['no protocol', ['other.ts'], 'the default export is no protocol'],
    ['a parameter that there is not', [locking, '--sizes', '3'], 'parameters: transactions, resources, bug'],
    ['a parameter without a number', [locking, '--resources', 'many'], '--resources should be a parameter'],
    ['an unknown level', [locking, '--level', 'best'], 'unknown level of commit tests "best"'],
    ['a level of a protocol that is not observed', ['throwing.ts', '--level', 'serializable'], '[protocol/observe]'],
    ['a checkpoint that is none', [locking, '--resume', 'empty.ts'], 'empty.ts: this is no checkpoint of moirai'],
    ['threads and depth first', [locking, '--jobs', '2', '--order', 'depth-first'], '[option/jobs]'],
  ])('%s', async (name, args, what) => {
    const { code, out, err } = await (name === 'a step that throws' ? alone : protocol)(...args);
    expect(err).toContain(what);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 3, out: '' });
  });
});

test.each([[[]], [['--jobs', '2']]])('a level of transactions that no state observed: exit code 2 %j', async (jobs) => {
  const { code, out } = await protocol('silent.ts', '--level', 'serializable', ...jobs);
  expect(out).toContain('unknown: 0 transactions were ever observed');
  expect(code).toBe(2);
  const json = JSON.parse((await protocol('silent.ts', '--level', 'serializable', '--json', ...jobs)).out) as object;
  expect(json).toMatchObject({ verdict: 'unknown', gaps: ['0 transactions were ever observed'], observedMost: 0 });
});

test.each([[[]], [['--jobs', '2']], [['--simulate', '5']]])(
  'a step that leaves a range is told with its place and the steps before it %j',
  async (options) => {
    const { code, out, err } = await protocol('counting.ts', ...options);
    expect(err).toMatch(
      /^(?:depth .*\n)*the steps that lead there:\n1  p\d  go  p\d.n 0 -> 1\n2 .*\ncounting.ts:6:\d+: mine: p\d at go, step go: 3 is not an integer from 0 to 2 \[protocol\/value\]\n$/s,
    );
    expect({ code, out }).toEqual({ code: 3, out: '' });
  },
);

test('the example of --help is in the package', async () => {
  const { out } = await protocol('--help');
  const [example = ''] = /examples\/\S+\.ts/.exec(out) ?? [];
  expect(example).toBe('examples/protocols/two-phase-locking.ts');
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  expect(packed.files.map(({ path }) => path)).toContain(example);
});
