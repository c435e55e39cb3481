/**
 * What moirai writes is whole or says so: disks that are full, two writers, damage, as users meet them. A disk is full where `ulimit -f` says so: a write beyond
 * it fails as one beyond the disk's end does, and that needs no rights; /dev/full fails the first write.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runBuilt, runProcess, UserFolder } from './support/cli.ts';

const main = join(root, 'dist/cli/main.js');
const folder = new UserFolder();
const children = new Set<ChildProcess>();
const inFolder = (name: string): string => join(folder.path, name);
const moirai = (...args: string[]): Promise<Ended> => runBuilt(args, { cwd: folder.path });

beforeAll(build, 120_000);
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => folder.remove());

/** On a disk on which no file can be larger. Sizes count in blocks of 512 bytes, POSIX says. */
function onDiskOf(blocks: number, ...args: string[]): Promise<Ended> {
  return runProcess('sh', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath, main, ...args], {
    cwd: folder.path,
  });
}

interface Running {
  /** What it says when it listens. */
  readonly said: string;
  readonly end: (signal: NodeJS.Signals) => Promise<Ended>;
}

/** Starts a command that runs until it is interrupted. */
async function started(blocks: number, isUp: RegExp, ...args: string[]): Promise<Running> {
  const limited = ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath, main, ...args];
  const child = spawn('sh', limited, { cwd: folder.path });
  children.add(child);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (err += text));
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  await expect.poll(() => out + err, { timeout: 60_000 }).toMatch(isUp);
  return {
    said: out + err,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

const large = 2 ** 20;
const portOf = (text: string): number => Number(/127\.0\.0\.1:(\d+)/.exec(text)?.[1]);

async function serve(...args: string[]): Promise<Running & { readonly port: number; readonly url: string }> {
  const running = await started(large, /Ctrl-C ends it/, 'serve', '--port', '0', '--window-ms', '0', ...args);
  const port = portOf(running.said);
  return { ...running, port, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
}

const record = async (blocks: number, upstream: number, ...args: string[]): Promise<Running> =>
  started(blocks, /clients connect to/, 'record', '--upstream', `postgres://127.0.0.1:${upstream}`, ...args);

/** Commits that a client was told of. */
async function work(port: number, statements: number): Promise<number> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('create table if not exists t (id int primary key, n int)');
  let done = 0;
  for (; done < statements; done += 1)
    await client.query('insert into t values ($1, 1) on conflict (id) do update set n = t.n + 1', [done % 7]);
  await client.end();
  return done;
}

const verify = (trace: string): Promise<Ended> =>
  moirai('verify', trace, '--engine', 'postgres', '--isolation', 'read committed');

describe('a recorder', () => {
  test('whose disk gets full: clients are unharmed, exit code 3, and the trace is no proof', async () => {
    const { port } = await serve();
    const recorder = await record(8, port, '--out', 'full.trace.jsonl');
    expect(await work(portOf(recorder.said), 100)).toBe(100);
    const { code, err } = await recorder.end('SIGTERM');
    const why = 'it is larger than a file may be (EFBIG)';
    expect(err).toContain(`the trace cannot be written: ${why}; nothing more is recorded\n`);
    expect(err.trimEnd().split('\n').at(-1)).toBe(`full.trace.jsonl: the trace is not whole: ${why} [record/output]`);
    expect(code).toBe(3);
    expect(statSync(inFolder('full.trace.jsonl')).size).toBe(4_096);
    expect(existsSync(inFolder('full.trace.jsonl.lock'))).toBe(false);
    const verified = await verify('full.trace.jsonl');
    expect(verified.out).toMatch(/^unknown: the trace ends without its last mark: /);
    expect(verified.code).toBe(2);
  });

  test('whose disk is full: exit code 3, with what the operating system says', async () => {
    const { port } = await serve();
    const recorder = await record(large, port, '--out', '/dev/full');
    await work(portOf(recorder.said), 3);
    const { code, err } = await recorder.end('SIGINT');
    expect(err).toContain('/dev/full: the trace is not whole: the disk is full (ENOSPC) [record/output]');
    expect(code).toBe(3);
  });

  test('on a file that another one writes: exit code 3, and the first trace is whole', async () => {
    const { port } = await serve();
    const first = await record(large, port, '--out', 'one.trace.jsonl');
    await work(portOf(first.said), 3);
    const second = await moirai('record', '--upstream', `postgres://127.0.0.1:${port}`, '--out', 'one.trace.jsonl');
    expect(second.err).toMatch(
      /^one\.trace\.jsonl: process \d+ on .+ is writing it; if that is not so, delete .+\.lock \[file\/locked\]\n$/,
    );
    expect(second.code).toBe(3);
    expect((await first.end('SIGTERM')).code).toBe(0);
    expect((await verify('one.trace.jsonl')).out).not.toContain('last mark');
  });

  test('that was killed leaves a lock that the next one takes over', async () => {
    const { port } = await serve();
    const killed = await record(large, port, '--out', 'again.trace.jsonl');
    await killed.end('SIGKILL');
    expect(existsSync(inFolder('again.trace.jsonl.lock'))).toBe(true);
    const next = await record(large, port, '--out', 'again.trace.jsonl');
    expect((await next.end('SIGTERM')).code).toBe(0);
    expect(existsSync(inFolder('again.trace.jsonl.lock'))).toBe(false);
  });

  test('a workload: the same, after its counts', async () => {
    const { url } = await serve();
    const options = ['--url', url, '--clients', '2', '--seconds', '1', '--scale', '0.01', '--json'];
    const cut = await onDiskOf(8, 'workload', 'blindw-rw', ...options, '--trace', 'cut.trace.jsonl');
    expect(JSON.parse(cut.out)).toMatchObject({ committed: expect.any(Number) });
    expect(cut.err).toContain('cut.trace.jsonl: the trace is not whole: it is larger than a file may be (EFBIG)');
    expect(cut.code).toBe(3);
    expect((await verify('cut.trace.jsonl')).code).toBe(2);
    const nowhere = await moirai('workload', 'blindw-rw', ...options, '--trace', 'none/cut.trace.jsonl');
    expect(nowhere).toMatchObject({ code: 3, out: '', err: expect.stringContaining('there is no such folder') });
  });
});

describe('an application with moirai/record', () => {
  const project = new UserFolder();
  beforeAll(() => {
    mkdirSync(join(project.path, 'node_modules'));
    symlinkSync(root, join(project.path, 'node_modules/moirai'), 'dir');
  });
  afterAll(() => project.remove());

  const run = (trace: string, code: string): Promise<Ended> => {
    project.write({ 'app.mjs': code });
    const env = { MOIRAI_TRACE: trace };
    return runProcess(process.execPath, ['--import', 'moirai/record', 'app.mjs'], { cwd: project.path, env });
  };
  const app = `await new Promise((resolve) => setTimeout(resolve, 400)); console.log('done'); process.exitCode = 7;`;

  test('whose disk is full keeps its output and exit code, and is told', async () => {
    const { code, out, err } = await run('/dev/full', app);
    expect([code, out]).toEqual([7, 'done\n']);
    expect(err).toContain('moirai: the trace cannot be written: the disk is full (ENOSPC); nothing more is recorded\n');
    expect(err).toContain('moirai: /dev/full: the trace is not whole: the disk is full (ENOSPC) [record/output]\n');
  });

  test('that starts another with the same file: the other runs unrecorded, and is told', async () => {
    const child = `import { spawnSync } from 'node:child_process';
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'moirai/record', '-e', "console.log('child')"], { encoding: 'utf8' });
      console.log(status, stdout.trim(), /process \\d+ is not recorded: .*file\\/locked.*%p in MOIRAI_TRACE/.test(stderr));`;
    const { code, out, err } = await run('both.trace.jsonl', child);
    expect([code, out, err]).toEqual([0, '0 child true\n', '']);
    expect(readFileSync(join(project.path, 'both.trace.jsonl'), 'utf8')).toMatch(
      /^\{"moirai":"trace".*\n\{"moirai":"mark","time":null,"crc32":"[0-9a-f]{8}"\}\n$/,
    );
  });
});

describe('moirai serve', () => {
  test('is refused at its start where what it decides cannot be written', async () => {
    for (const option of ['--choices', '--record'])
      for (const path of ['/', 'none/run.jsonl']) {
        const { code, out, err } = await moirai('serve', '--port', '0', option, path);
        expect([code, out]).toEqual([3, '']);
        expect(err).toMatch(/^.+: it cannot be written: .+ \[file\/output\]\n$/);
      }
  });

  test('on a full disk: exit code 3, and the history of the last time is still there', async () => {
    writeFileSync(inFolder('run.history.jsonl'), 'the last one\n');
    const options = [
      'serve',
      '--port',
      '0',
      '--window-ms',
      '0',
      '--record',
      'run.history.jsonl',
      '--choices',
      'run.choices',
    ];
    const running = await started(4, /Ctrl-C ends it/, ...options);
    await work(portOf(running.said), 100);
    const { code, err } = await running.end('SIGTERM');
    expect(err).toContain('it cannot be written: it is larger than a file may be (EFBIG) [file/output]');
    expect(code).toBe(3);
    expect(readFileSync(inFolder('run.history.jsonl'), 'utf8')).toBe('the last one\n');
    expect(readdirSync(folder.path).filter((name) => /partial|lock/.test(name))).toEqual([]);
  });
});

describe('a checkpoint', () => {
  const example = join(root, 'examples/protocols/two-phase-locking.ts');
  const search = (...args: string[]): string[] => ['protocol', 'mine.ts', '--level', 'serializable', '--json', ...args];
  const stopped = (states: number, name: string): string[] =>
    search('--transactions', '2', '--states-max', String(states), '--checkpoint', name);

  beforeAll(() => folder.write({ 'mine.ts': readFileSync(example, 'utf8') }));

  test('that does not fit on the disk leaves the one before, from which the search continues', async () => {
    expect((await moirai(...stopped(5_000, 'days.checkpoint'))).code).toBe(2);
    const before = readFileSync(inFolder('days.checkpoint'));
    const more = search('--transactions', '2', '--states-max', '40000', '--checkpoint', 'days.checkpoint');
    const full = await onDiskOf(256, ...more, '--resume', 'days.checkpoint');
    expect(JSON.parse(full.out)).toMatchObject({ verdict: 'unknown', reason: 'states-limit' });
    expect(full.err).toContain(
      'days.checkpoint: it cannot be written: it is larger than a file may be (EFBIG) [file/output]',
    );
    expect(full.code).toBe(3);
    expect(readFileSync(inFolder('days.checkpoint')).equals(before)).toBe(true);
    expect(existsSync(inFolder('days.checkpoint.partial'))).toBe(false);
    const resumed = await moirai(...search('--transactions', '2', '--no-eventually', '--resume', 'days.checkpoint'));
    expect(JSON.parse(resumed.out)).toMatchObject({ states: 49_884, verdict: 'satisfied', complete: true });
  });

  test('of a protocol that was edited since, and one that lost its last pages', async () => {
    expect((await moirai(...stopped(5_000, 'edited.checkpoint'))).code).toBe(2);
    const text = readFileSync(example, 'utf8');
    folder.write({ 'mine.ts': text.replace('bug === 1', 'bug === 0') });
    const edited = await moirai(...search('--transactions', '2', '--resume', 'edited.checkpoint'));
    folder.write({ 'mine.ts': text });
    expect(edited.err).toBe(
      'edited.checkpoint: the protocol was edited since the checkpoint was written: mine.ts; start a new search [protocol/checkpoint]\n',
    );
    const bytes = readFileSync(inFolder('edited.checkpoint'));
    bytes.fill(0, bytes.length - 3 * 4_096);
    writeFileSync(inFolder('edited.checkpoint'), bytes);
    const damaged = await moirai(...search('--transactions', '2', '--resume', 'edited.checkpoint'));
    expect(damaged.err).toMatch(/^edited\.checkpoint: the checkpoint is damaged: .* \[protocol\/checkpoint\]\n$/);
    expect([edited.code, edited.out, damaged.code, damaged.out]).toEqual([3, '', 3, '']);
  });
});

describe('a checkpoint of explore', () => {
  const program = `import { program } from 'moirai';
const add = (s) => s.transaction(async (t) => t.write('n', (await t.read('n')) + 1));
const twice = async (s) => { await add(s); await add(s); };
export default program({ initial: { n: 0 }, sessions: { a: twice, b: twice, c: twice },
  invariant: ({ final }) => final.n === 6 || 'lost' });
`;
  const explore = (...args: string[]): string[] => ['explore', 'program.mjs', '--json', ...args];

  beforeAll(() => folder.write({ 'program.mjs': program }));

  test('that does not fit on the disk leaves the one before, and the verdict is printed', async () => {
    const save = ['--checkpoint', 'kept.checkpoint'];
    expect((await moirai(...explore('--max-histories', '20', ...save))).code).toBe(1);
    const before = readFileSync(inFolder('kept.checkpoint'));
    const more = explore('--max-histories', '400', ...save, '--resume', 'kept.checkpoint');
    const full = await onDiskOf(Math.ceil(before.length / 512), ...more);
    expect(JSON.parse(full.out)).toMatchObject({ verdict: 'violated', histories: 400, stopped: 'histories' });
    expect(full.err).toBe(
      'kept.checkpoint: it cannot be written: it is larger than a file may be (EFBIG) [file/output]\n',
    );
    expect(full.code).toBe(3);
    expect(readFileSync(inFolder('kept.checkpoint')).equals(before)).toBe(true);
    expect(existsSync(inFolder('kept.checkpoint.partial'))).toBe(false);
    const resumed = await moirai(...explore('--max-histories', '30', '--resume', 'kept.checkpoint'));
    expect(JSON.parse(resumed.out)).toMatchObject({ histories: 30 });
  });

  test('of a program that was edited, of another level, of the other tool, and one with another last page', async () => {
    expect((await moirai(...explore('--max-histories', '20', '--checkpoint', 'a.checkpoint'))).code).toBe(1);
    const resume = ['--resume', 'a.checkpoint'];
    folder.write({ 'program.mjs': program.replace('=== 6', '=== 7') });
    const edited = await moirai(...explore(...resume));
    folder.write({ 'program.mjs': program });
    expect(edited.err).toBe(
      'a.checkpoint: the program was edited since the checkpoint was written: program.mjs; start a new search [explore/checkpoint]\n',
    );
    const level = await moirai(...explore(...resume, '--level', 'serializable'));
    expect(level.err).toBe(
      'a.checkpoint: the checkpoint does not continue this exploration: it is of level causal, and --level is serializable [explore/checkpoint]\n',
    );
    folder.write({ 'mine.ts': readFileSync(join(root, 'examples/protocols/two-phase-locking.ts'), 'utf8') });
    const other = await moirai('protocol', 'mine.ts', '--level', 'serializable', ...resume);
    expect(other.err).toBe('a.checkpoint: this is a checkpoint of moirai explore [protocol/checkpoint]\n');
    const bytes = readFileSync(inFolder('a.checkpoint'));
    bytes.fill(0, bytes.length - 512);
    writeFileSync(inFolder('a.checkpoint'), bytes);
    const damaged = await moirai(...explore(...resume));
    expect(damaged.err).toMatch(/^a\.checkpoint: the checkpoint is damaged: .* \[explore\/checkpoint\]\n$/);
    for (const { code, out } of [edited, level, other, damaged]) expect([code, out]).toEqual([3, '']);
  });

  test('has one exploration at a time: a second is refused until the first has ended or was killed', async () => {
    // Its first run waits for an interruption.
    folder.write({
      'waits.mjs': program.replace(
        'const add',
        "process.stderr.write('begun\\n');\nfor (const end = Date.now() + 600_000; Date.now() < end; ) await new Promise((go) => setTimeout(go, 50));\nconst add",
      ),
    });
    const first = ['explore', 'waits.mjs', '--checkpoint', 'held.checkpoint'];
    const refused =
      /^held\.checkpoint: process \d+ on .+ is writing it; if that is not so, delete .+\.lock \[file\/locked\]\n$/;
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const running = await started(large, /begun/, ...first);
      const second = await moirai(...explore('--checkpoint', 'held.checkpoint'));
      expect(second).toMatchObject({ code: 3, out: '', err: expect.stringMatching(refused) });
      await running.end(signal);
      expect(existsSync(inFolder('held.checkpoint.lock'))).toBe(signal === 'SIGKILL');
    }
    expect((await moirai(...explore('--max-histories', '20', '--checkpoint', 'held.checkpoint'))).code).toBe(1);
    expect(existsSync(inFolder('held.checkpoint.lock'))).toBe(false);
  });

  test('of an exploration that was complete says so', async () => {
    const whole = await moirai(...explore('--level', 'serializable', '--checkpoint', 'whole.checkpoint'));
    const again = await moirai(...explore('--level', 'serializable', '--resume', 'whole.checkpoint'));
    expect(again.err).toBe(
      'whole.checkpoint: the exploration was complete when this was written: nothing is left to run\n',
    );
    expect([again.out, again.code]).toEqual([whole.out, whole.code]);
  });

  test.each([
    ['a folder that is not there', ['--checkpoint', 'none/a.checkpoint'], 'there is no such folder'],
    ['standard output', ['--checkpoint', '-'], 'needs a file that can be read again'],
    [
      'several levels',
      ['--checkpoint', 'b.checkpoint', '--level', 'all'],
      'a checkpoint of a program of keys is of one level',
    ],
    ['the first violation', ['--checkpoint', 'b.checkpoint', '--fail-fast'], '--fail-fast ends with the first'],
    ['a replay', ['--resume', 'b.checkpoint', '--replay', 'x'], '--replay is one history'],
    ['no file', ['--resume', 'b.checkpoint'], 'the checkpoint cannot be read: ENOENT'],
  ])('%s is refused before the search', async (_name, args, text) => {
    const { code, out, err } = await moirai(...explore(...args));
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain(text);
    expect(existsSync(inFolder('b.checkpoint'))).toBe(false);
  });
});

test('a history that is converted on a full disk leaves the one before', async () => {
  const transactions = Array.from({ length: 500 }, (_, i) => `{"session":"a","operations":[["w","x",${i}]]}\n`);
  folder.write({ 'in.history.jsonl': transactions.join(''), 'out.moirai': 'the one before' });
  const { code, err } = await onDiskOf(2, 'convert', 'in.history.jsonl', 'out.moirai');
  expect([code, err]).toEqual([3, expect.stringContaining('out.moirai: it cannot be written')]);
  expect(readFileSync(inFolder('out.moirai'), 'utf8')).toBe('the one before');
});

test('a report that does not fit on the disk: exit code 3', async () => {
  folder.write({ 'small.history': 'w x 1\nr x 1\n' });
  const command = `"${process.execPath}" "${main}" check small.history > /dev/full`;
  const { code, err } = await runProcess('sh', ['-c', command], { cwd: folder.path });
  expect([code, err]).toEqual([3, 'standard output cannot be written: the disk is full (ENOSPC) [file/output]\n']);
});
