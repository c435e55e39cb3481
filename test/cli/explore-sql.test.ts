/** `moirai explore` for SQL programs, in this process: verdicts, exit codes, --json, replay. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import transfer from '../../examples/sql-transfer.ts';
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import { exploreSql } from '../../src/explore/sql/index.ts';
import { parseProfile, accessKey } from '../../src/database/index.ts';
import { exploreSqlOnThreads } from '../../src/cli/explore/explore-sql-threads.ts';
import { onPostgres } from '../../src/sql-program/engines.test-support.ts';
import apart, { reading } from '../support/apart-by-index.ts';
import { root, runHere, UserFolder } from '../support/cli.ts';
import { KeptInMemory } from '../support/kept-in-memory.ts';
import threeSessions from '../support/three-sessions.ts';

const add = (c: SqlConnection) => onPostgres(c, (client) => client.query('UPDATE counters SET n = n + 1'));

const files = {
  'transfer.ts': transfer,
  'atomic.ts': sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE counters (n int); INSERT INTO counters VALUES (0)',
    sessions: { a: add, b: add },
    invariant: async (end) => {
      const { rows } = await onPostgres(end, (client) => client.query('SELECT n FROM counters'));
      end.sometimes('counted', true);
      return rows[0].n === 2;
    },
  }),
  'apart.ts': apart,
  'stuck.ts': sqlProgram({ dialect: 'postgres', schema: [], sessions: { a: () => new Promise(() => {}) } }),
};

test('every schedule satisfies the invariant: 0', async () => {
  expect(await runHere(['explore', 'atomic.ts', '--engine', 'postgres'], files)).toEqual({
    code: 0,
    out: `all 4 schedules satisfy the invariant on PostgreSQL, read committed: whatever
  the timing of statements, this program holds
distinct histories 2, distinct outcomes 1
sometimes "counted"  in 4 schedules
`,
    err: '',
  });
});

test('each kind of failure with a run, and a command that shows it again', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--isolation', 'read committed'], files);
  expect(code).toBe(1);
  expect(out).toMatch(/^4 of 6 schedules violate the invariant on PostgreSQL, read committed\ndistinct histories 4, /);
  expect(out).toContain('\n1. 120 was taken and 50 is left of 100 (2 schedules)\n');
  const token = /replay: moirai explore transfer\.ts --isolation 'read committed' --replay (?<token>\S+)/.exec(out);
  const args = ['--isolation', 'read committed', '--replay', token?.groups?.['token'] ?? ''];
  const again = await runHere(['explore', 'transfer.ts', ...args], files);
  expect(again.code).toBe(1);
  expect(again.out).toMatch(
    /^still fails, by the recorded steps\n1 of 1 schedule violates[^]*120 was taken and 50 is left of 100/,
  );
  // A token is the same run for `moirai test`.
  const tested = await runHere(['test', 'transfer.ts', ...args], files);
  expect(tested.out).toContain('120 was taken and 50 is left of 100');
});

test('as JSON', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--json'], files);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    engine: 'postgres',
    level: 'read committed',
    verdict: 'violated',
    schedules: 6,
    histories: 4,
    complete: true,
    failures: [{ schedules: 2, anomaly: 'lost-update' }, { schedules: 2 }],
  });
});

describe('--plans all', { timeout: 60_000 }, () => {
  const args = ['explore', 'apart.ts', '--isolation', 'serializable'];

  test('finds what the likely paths do not show; the command and the kept file replay it', async () => {
    const likely = await runHere([...args, '--json'], files);
    expect(likely.code).toBe(0);
    expect(JSON.parse(likely.out)).toMatchObject({ plans: 1, verdict: 'satisfied', failures: [] });
    const kept = new KeptInMemory();
    const { code, out } = await runHere([...args, '--plans', 'all', '--max-violations', '1'], files, {
      failures: kept,
    });
    expect(code).toBe(1);
    expect(out).toContain('\ncombinations of access paths 4, distinct histories ');
    expect(out).toContain('\nwith jobs read as a whole by: SELECT n FROM jobs WHERE owner = $1\n');
    const [, command = ''] = /\nreplay: moirai (?<command>.*)\n/.exec(out) ?? [];
    const again = await runHere(command.split(' '), files);
    expect(again).toMatchObject({ code: 1, out: expect.stringMatching(/^still fails, by the recorded steps\n/) });
    const replayed = await runHere(['replay', kept.only], { ...files, ...kept.inputs() });
    expect(replayed).toMatchObject({ code: 1, out: expect.stringMatching(/^still fails, by the recorded steps\n/) });
  });

  test('as JSON', async () => {
    const { code, out } = await runHere([...args, '--plans', 'all', '--json'], files);
    expect(code).toBe(1);
    const plan = ['jobs read as a whole by: SELECT n FROM jobs WHERE owner = $1'];
    expect(JSON.parse(out)).toMatchObject({
      plans: 4,
      verdict: 'violated',
      assumed: [],
      failures: [{ plan }, { plan }],
    });
  });

  test('threads find what one finds, by the paths that they are given', { timeout: 300_000 }, async () => {
    const file = fileURLToPath(new URL('../support/apart-by-index.ts', import.meta.url));
    const ways = { [accessKey({ table: 'jobs', statement: reading })]: 1 };
    const given = { profile: parseProfile({ engine: 'postgres', isolation: 'serializable' }), ways };
    const { histories, outcomes, failures } = await exploreSql(apart, given);
    expect(failures).toHaveLength(2);
    const shared = await exploreSqlOnThreads(file, apart, { ...given, schedulesAlone: 5 }, 2);
    expect(shared).toMatchObject({ complete: true, stopped: null, histories, outcomes });
    const found = (kinds: typeof failures) => new Map(kinds.map(({ message, plan }) => [message, plan]));
    expect(found(shared.failures)).toEqual(found(failures));
  });

  test('where no path matters, it is one exploration', async () => {
    const { code, out } = await runHere(['explore', 'atomic.ts', '--plans', 'all', '--json'], files);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ plans: 1, verdict: 'satisfied', schedules: 4 });
  });
});

test('what is not known: 2', async () => {
  const stopped = await runHere(['explore', 'atomic.ts', '--max-histories', '1'], files);
  expect(stopped.code).toBe(2);
  expect(stopped.out).toContain('stopped by --max-histories');
  const stuck = await runHere(['explore', 'stuck.ts', '--timeout', '0.1'], files);
  expect(stuck.code).toBe(2);
  expect(stuck.out).toContain('session "a" did not end in time');
});

test('every level of the engine as one table', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--isolation', 'all'], files);
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    expect.stringMatching(/^level +schedules +histories +outcomes +invariant broken +error not retried +complete$/),
    expect.stringMatching(/^PostgreSQL, read committed +\d+ +4 +4 +4 +0 +yes$/),
    expect.stringMatching(/^PostgreSQL, repeatable read +6 +\d+ +\d+ +0 +4 +yes$/),
    expect.stringMatching(/^PostgreSQL, serializable +\d+ +\d+ +\d+ +0 +\d+ +yes$/),
    'the weakest level at which the invariant holds in all schedules: PostgreSQL,',
    '  repeatable read',
    'PostgreSQL, repeatable read: 4 of 6 schedules end with an error that is not',
    '  retried',
    expect.stringMatching(/^PostgreSQL, serializable: \d+ of \d+ schedules end with an error that is not retried$/),
    '',
  ]);
  const cut = await runHere(['explore', 'atomic.ts', '--isolation', 'all', '--max-histories', '1'], files);
  expect(cut.out).toContain('\nat no level is the invariant known to hold in all schedules\n');
  const safe = await runHere(['explore', 'atomic.ts', '--isolation', 'all'], files);
  expect(safe.out.replaceAll('\n  ', ' ')).toContain(
    'stricter is not safer here: PostgreSQL, repeatable read: 2 of 4 schedules end with an error that is not retried\n',
  );
  const all = await runHere(['explore', 'atomic.ts', '--level', 'all', '--json'], files);
  expect(all.code).toBe(1);
  // Nobody tries again, so above read committed one of the two fails.
  expect(JSON.parse(all.out)).toMatchObject([
    { engine: 'postgres', level: 'read committed', verdict: 'satisfied', marks: { counted: 4 }, failures: [] },
    { engine: 'postgres', level: 'repeatable read', verdict: 'violated' },
    { engine: 'postgres', level: 'serializable', verdict: 'violated' },
  ]);
  const [, { failures }] = JSON.parse(all.out) as [unknown, { failures: { command: string }[] }];
  const command = failures[0]?.command ?? '';
  expect(command).toMatch(/^moirai explore atomic\.ts --isolation 'repeatable read' --replay \S+$/);
  const args = ['explore', 'atomic.ts', '--isolation', 'repeatable read', '--replay', command.split(' ').at(-1) ?? ''];
  expect((await runHere(args, files)).out).toContain('could not serialize access');
});

test('an estimate, and nothing is explored', async () => {
  const { code, out, err } = await runHere(['explore', 'transfer.ts', '--estimate'], files);
  expect({ code, err }).toEqual({ code: 2, err: '' });
  // 24 schedules without reduction (test/sql-programs/explore-sql.test.ts), and each probe knows only its own way.
  expect(out).toMatch(
    /^PostgreSQL, read committed: about 2\d schedules if nothing is left out \(\+- [\d.]+; up to \d+ decisions each; 100 random probes\)\nunknown: only an estimate was asked for\n$/,
  );
  const json = await runHere(['explore', 'transfer.ts', '--estimate', '--json'], files);
  expect(JSON.parse(json.out)).toMatchObject({ engine: 'postgres', verdict: 'unknown', estimate: { probes: 100 } });
});

test('the failures as graphs', async () => {
  const { code, out } = await runHere(['explore', 'transfer.ts', '--dot'], files);
  expect(code).toBe(1);
  expect(out.match(/^digraph /gm)).toHaveLength(2);
  expect(out).toMatch(
    /^digraph "transfer\.ts: lost-update on PostgreSQL, read committed: 120 was taken and \d+ is left of 100" \{\n/,
  );
  expect(out).toMatch(/ -> t\d \[label="rw accounts\/1"\];/);
  const { out: mermaid } = await runHere(['explore', 'transfer.ts', '--mermaid'], files);
  expect(mermaid).toMatch(/-->\|"wr accounts\/1"\|/);
});

const profile = parseProfile({ engine: 'postgres' });

test('what is wrong with the module of a thread is an error of the input', { timeout: 300_000 }, async () => {
  const file = fileURLToPath(new URL('../../examples/cart.ts', import.meta.url));
  const options = { profile, schedulesAlone: 5 };
  await expect(exploreSqlOnThreads(file, threeSessions, options, 1)).rejects.toMatchObject({ code: 'program/sql' });
});

test.each([
  [['--level', 'all', '--isolation', 'serializable'], 'option/level'],
  [['--isolation', 'all', '--level', 'causal'], 'option/isolation'],
  [['--isolation', 'all', '--replay', '2.0.00000000'], 'option/replay'],
  [['--engine', 'mysql'], 'program/dialect'],
  [['--engine', 'mysql', '--isolation', 'all'], 'program/dialect'],
  [['--engine', 'postgres', '--level', 'causal'], 'option/engine'],
  [['--jobs', '2', '--replay', '2.0.00000000'], 'option/jobs'],
  [['--max-steps', '7'], 'option/max-steps'],
  [['--rerun'], 'option/rerun'],
  [['--plans', 'all', '--replay', '2.0.00000000'], 'option/plans'],
  [['--plans', 'all', '--level', 'causal'], 'option/plans'],
])('%j is refused', async (options, code) => {
  const { code: exit, err } = await runHere(['explore', 'atomic.ts', ...options], files);
  expect(exit).toBe(3);
  expect(err).toContain(`[${code}]`);
});

describe('--checkpoint and --resume', () => {
  const folder = new UserFolder();
  afterAll(() => folder.remove());
  const module = join(root, 'examples/sql-transfer.ts');
  const saved = join(folder.path, 'transfer.checkpoint');
  const explore = async (...args: string[]) => runHere(['explore', module, ...args], { [module]: transfer });

  test('an exploration that was stopped continues to what one without a stop says', async () => {
    const stopped = await explore('--max-histories', '2', '--checkpoint', saved);
    expect(stopped.code).toBe(1);
    expect(stopped.out).toMatch(/^1 of 2 schedules .*\(stopped\n  by --max-histories\)\n/);
    const resumed = await explore('--resume', saved, '--checkpoint', saved);
    expect(resumed).toEqual(await explore());
    const again = await explore('--resume', saved);
    expect(again).toEqual({
      ...resumed,
      err: `${saved}: the exploration was complete when this was written: nothing is left to run\n`,
    });
  });

  test('damage is refused, and another level', async () => {
    const bytes = readFileSync(saved);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
    const damaged = join(folder.path, 'damaged.checkpoint');
    writeFileSync(damaged, bytes);
    const refused = { code: 3, out: '' };
    expect(await explore('--resume', damaged)).toMatchObject({
      ...refused,
      err: expect.stringContaining('is damaged'),
    });
    expect(await explore('--resume', saved, '--isolation', 'serializable')).toMatchObject({
      ...refused,
      err: expect.stringContaining('this is the database PostgreSQL, serializable [explore/checkpoint]'),
    });
  });

  test('of all levels, on two threads', async () => {
    const file = join(folder.path, 'levels.checkpoint');
    const all = ['--isolation', 'all', '--jobs', '2', '--json'];
    const stopped = await explore(...all, '--max-histories', '3', '--checkpoint', file);
    expect(JSON.parse(stopped.out)).toMatchObject([{ stopped: 'histories', histories: 3 }, {}, {}]);
    const resumed = await explore(...all, '--resume', file, '--checkpoint', file);
    const levels = [6, 6, 6].map((schedules) => ({ schedules, histories: 4, outcomes: 4, complete: true }));
    expect(JSON.parse(resumed.out)).toMatchObject(levels);
    const again = await explore(...all, '--resume', file);
    expect(JSON.parse(again.out)).toMatchObject(levels);
    expect(again.err).toContain('nothing is left to run');
    for (const other of [[], ['--engine', 'mysql', '--isolation', 'all'], ['--plans', 'all']])
      expect((await explore('--resume', file, ...other)).err).toContain('[explore/checkpoint]');
  });

  test.each([['the first violation', ['--fail-fast'], '--fail-fast ends with the first']])(
    'not with %s',
    async (_name, args, text) => {
      const { code, err } = await explore('--checkpoint', join(folder.path, 'none'), ...args);
      expect(code).toBe(3);
      expect(err).toContain(text);
    },
  );
});
