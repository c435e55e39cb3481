/**
 * Every order of statements on real servers: exploring finds the outcomes that brute force finds, with the reduction and without. Programs are drawn
 * as in the explorer's own tests: a few of each server; with MOIRAI_HEAVY=1 thirty.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { forEveryChoiceAsync } from '../src/base/index.ts';
import { defaultIsolation, engineLevels } from '../src/database/index.ts';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import {
  exploreOn,
  type ExploredOn,
  type ExploreOnOptions,
  type RealServer,
  verdictOfExplored,
} from '../src/replay/index.ts';
import type { Arrival } from '../src/replay/granted.ts';
import { Scratch } from '../src/replay/scratch.ts';
import { runOnServer } from '../src/replay/server-run.ts';
import type { IsolationName } from '../src/sql/index.ts';
import { programOf, type Sessions, smallSessions } from '../src/sql-program/random-sql-programs.test-support.ts';
import { runHere } from './support/cli.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { counter, mysqlSpeech, onCall, postgresSpeech } from './support/replayed-programs.ts';
import { localServer } from './support/replaying.ts';
import { startedOrSkipped } from './support/server-process.ts';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

const onPostgres: RealServer = { ...localServer, dialect: 'postgres', port: postgres?.port ?? 0, user: 'postgres' };
const onMariadb: RealServer = { ...localServer, dialect: 'mysql', port: mariadb?.port ?? 0, user: 'root' };
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

interface Found extends ExploredOn {
  readonly seen: ReadonlySet<string>;
}

async function explored(
  program: SqlProgram,
  server: RealServer,
  reduces: boolean,
  options: Partial<ExploreOnOptions> = {},
): Promise<Found> {
  const seen = new Set<string>();
  const result = await exploreOn(program, {
    server,
    isolation: null,
    search: { kind: 'every', reduces, schedulesMax: null },
    timeMaxMs: Infinity,
    timeoutMs: 30_000,
    failsFast: false,
    signal: undefined,
    onRun: ({ outcome }) => seen.add(outcome),
    ...options,
  });
  return { ...result, seen };
}

/** Each order by itself: at every turn each of the sessions that could go. */
async function bruteForce(
  program: SqlProgram,
  server: RealServer,
  isolation: IsolationName,
): Promise<{ readonly seen: ReadonlySet<string>; readonly orders: number }> {
  const seen = new Set<string>();
  let orders = 0;
  await Scratch.use(server, async (scratch) => {
    const options = { server, scratch, isolation, timeoutMs: 30_000, signal: undefined };
    await forEveryChoiceAsync(async (chooser) => {
      const choose = (arrived: readonly Arrival[]): Arrival => arrived[chooser.choose(arrived.length)] as Arrival;
      const order = { kind: 'chosen', choose, onAnswer: () => {}, onEnd: () => {} } as const;
      seen.add((await runOnServer(program, order, options)).outcome);
      orders += 1;
    });
  });
  return { seen, orders };
}

/** In how many orders can the statements of these sessions be granted, where none waits? Each session ends with a ROLLBACK. */
function countOrders(sessions: Sessions): number {
  let [orders, taken] = [1, 0];
  for (const actions of sessions) {
    const steps = actions.reduce((sum, { kind }) => sum + (kind === 'if' ? 2 : 1), 1);
    for (let step = 1; step <= steps; step += 1) {
      taken += 1;
      orders = (orders * taken) / step;
    }
  }
  return orders;
}

describe.each([
  ['PostgreSQL', onPostgres, postgres, postgresSpeech],
  ['MariaDB', onMariadb, mariadb, mysqlSpeech],
] as const)('%s', (_title, server, started, speech) => {
  test.skipIf(started === undefined)('a lost update: every order of two sessions, and those that differ', async () => {
    const all = await explored(counter(speech, ''), server, false);
    const reduced = await explored(counter(speech, ''), server, true);
    // Of the 70 orders of four statements each, those in which an UPDATE waits have fewer.
    const { orders, seen } = await bruteForce(counter(speech, ''), server, defaultIsolation[server.dialect]);
    expect(all).toMatchObject({ schedules: orders, repetitions: 0, stopped: null, assumed: null });
    expect([all.seen, reduced.seen]).toEqual([seen, seen]);
    expect(reduced).toMatchObject({ stopped: null, failures: [{ message: 'n is 1' }] });
    expect(reduced.schedules).toBeLessThan(all.schedules / 2);
    expect(reduced.failures[0]?.statements.at(-1)).toMatchObject({ session: 'invariant', answer: '(1)' });
    expect((await explored(counter(speech, ' FOR UPDATE'), server, true)).failures).toEqual([]);
  });

  test.skipIf(started === undefined)('a write skew is found below serializable', async () => {
    const at = (isolation: IsolationName) => explored(onCall(speech), server, true, { isolation });
    expect((await at('repeatable read')).failures.map(({ message }) => message)).toContain('no doctor is on call');
    const messages = (await at('serializable')).failures.map(({ message }) => message);
    expect(messages).not.toContain('no doctor is on call');
  });

  const isolations = engineLevels[server.dialect];
  const programs = fc
    .sample(
      smallSessions(server.dialect).filter((sessions) => countOrders(sessions) <= (isHeavy ? 150 : 21)),
      { seed: 21, numRuns: isHeavy ? 30 : 4 },
    )
    .map((sessions, at) => [isolations[at % isolations.length] as IsolationName, sessions] as const);

  test.skipIf(started === undefined).each(programs)(
    '%s: the outcomes of %j are those of every order',
    async (isolation, sessions) => {
      const program = programOf(server.dialect, sessions);
      const { seen, orders } = await bruteForce(program, server, isolation);
      const all = await explored(program, server, false, { isolation });
      expect([all.stopped, all.schedules, all.seen]).toEqual([null, orders, seen]);
      const reduced = await explored(program, server, true, { isolation });
      expect([reduced.stopped, reduced.seen]).toEqual([null, seen]);
      expect(reduced.schedules).toBeLessThanOrEqual(orders);
    },
  );
});

describe.skipIf(postgres === undefined)('the commands', () => {
  const files = { 'counter.ts': counter(postgresSpeech, ''), 'fixed.ts': counter(postgresSpeech, ' FOR UPDATE') };
  const on = ['--on', `postgres://postgres@127.0.0.1:${onPostgres.port}`];

  test('explore shows the first failing schedule of each message: exit code 1', async () => {
    const { code, out, err } = await runHere(['explore', 'counter.ts', ...on], files);
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(
      /^violated on PostgreSQL [\d.]+, read committed: \d+ of \d+ schedules fail\n\nin \d+ schedules: n is 1$/m,
    );
    expect(out).toMatch(/^invariant {2}SELECT n FROM t WHERE id = 1 +\(1\)$/m);
    expect(out).toMatch(/^assumed: statements conflict where one writes/m);
  });

  test('explore, as JSON: exit code 0, and 2 where there are more', async () => {
    const fixed = await runHere(['explore', 'fixed.ts', ...on, '--no-reduction', '--json'], files);
    expect(fixed.code).toBe(0);
    expect(JSON.parse(fixed.out)).toMatchObject({ verdict: 'satisfied', complete: true, violations: 0, assumed: null });
    const cut = await runHere(['explore', 'fixed.ts', ...on, '--max-histories', '2', '--json'], files);
    expect([cut.code, JSON.parse(cut.out)]).toEqual([2, expect.objectContaining({ verdict: 'unknown', schedules: 2 })]);
  });

  test('orders are drawn by moirai test, and a seed runs the failing one again', async () => {
    const first = await runHere(['test', 'counter.ts', ...on, '--runs', '50', '--json'], files);
    expect(first.code).toBe(1);
    const { failures } = JSON.parse(first.out) as { failures: readonly { seed: number; statements: unknown }[] };
    const [failure] = failures;
    const again = await runHere(
      ['test', 'counter.ts', ...on, '--runs', '1', '--seed', `${failure?.seed}`, '--json'],
      files,
    );
    expect(JSON.parse(again.out)).toMatchObject({ schedules: 1, failures: [{ statements: failure?.statements }] });
    const fixed = await runHere(['test', 'fixed.ts', ...on, '--runs', '5'], files);
    expect([fixed.code, fixed.out]).toEqual([
      0,
      expect.stringMatching(/5\s+random\s+schedules\s+satisfy\s+the\s+invariant/),
    ]);
  });

  test.each([
    [['explore', 'counter.ts', ...on, '--jobs', '2'], 'option/jobs'],
    [['explore', 'counter.ts', ...on, '--level', 'causal'], 'option/level'],
    [['explore', 'counter.ts', ...on, '--isolation', 'all'], 'option/isolation'],
    [['explore', 'counter.ts', '--no-reduction'], 'option/reduction'],
    [['test', 'counter.ts', ...on, '--engine', 'postgres'], 'option/engine'],
  ])('refuse %j', async (args, code) => {
    const ended = await runHere(args, files);
    expect([ended.code, ended.err]).toEqual([3, expect.stringContaining(`[${code}]`)]);
  });
});

test.skipIf(postgres === undefined)(
  'nothing green is said of a statement that always fails, or of a silent session',
  async () => {
    const send = (sql: string) => (connection: SqlConnection) =>
      postgresSpeech.withClient(connection, async (query) => void (await query(sql).catch(() => {})));
    const programWith = (second: (connection: SqlConnection) => unknown): SqlProgram =>
      sqlProgram({
        ...counter(postgresSpeech, ''),
        sessions: { a: send('SELECT 1'), b: second },
        invariant: () => true,
      });
    const misspelt = await explored(programWith(send('SELEKT 1')), onPostgres, true);
    expect(misspelt.missing).toBe('a statement failed in every schedule: session "b": SELEKT 1');
    expect(verdictOfExplored(misspelt)).toBe('unknown');
    const silent = await explored(
      programWith(() => 0),
      onPostgres,
      true,
    );
    expect([silent.missing, verdictOfExplored(silent)]).toEqual(['session "b" sent no statement', 'unknown']);
  },
);

test.skipIf(postgres === undefined)('an interruption and a limit of time end with what is known', async () => {
  const end = new AbortController();
  const interrupted = explored(counter(postgresSpeech, ' FOR UPDATE'), onPostgres, false, {
    signal: end.signal,
    onRun: () => end.abort(),
  });
  expect(await interrupted).toMatchObject({ schedules: 1, stopped: 'interrupted' });
  const late = await explored(counter(postgresSpeech, ' FOR UPDATE'), onPostgres, false, { timeMaxMs: 0 });
  expect(late).toMatchObject({ schedules: 0, stopped: 'the time is over' });
});
