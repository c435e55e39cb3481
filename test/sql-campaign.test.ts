/** SQL programs through real drivers in process: what is found at which level, and that a run is a function of its decisions. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import transfer from '../examples/sql-transfer.ts';
import { oltpProgram, workloads } from '../examples/oltp/program.ts';
import { check } from '../src/isolation/index.ts';
import { sqlProgram, type SqlConnection, type SqlProgram } from '../src/program/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { runSqlCampaign, testSqlProgram } from '../src/campaign/sql/index.ts';

const profile = parseProfile;

describe('two withdrawals that look before they take', () => {
  test('lose money at read committed, and the failing run is the same run again', async () => {
    const found = await runSqlCampaign(transfer, { profile: profile({ engine: 'postgres' }), runs: 20 });
    expect(found.violations).toBeGreaterThan(0);
    expect(found.violations).toBeLessThan(20);
    const { failure } = found;
    expect(failure?.message).toBe('120 was taken and 30 is left of 100');
    expect(failure?.statements.map(({ waitedFor }) => waitedFor)).toContain('row lock on accounts 1');
    const again = await runSqlCampaign(transfer, {
      profile: profile({ engine: 'postgres' }),
      replay: failure?.replay ?? '',
    });
    expect(again.failure?.statements).toEqual(failure?.statements);
    expect(again.failure?.history).toEqual(failure?.history);
  });

  test('are told to try again at serializable', async () => {
    const { failure } = await runSqlCampaign(transfer, {
      profile: profile({ engine: 'postgres', isolation: 'serializable' }),
      runs: 20,
    });
    expect(failure?.message).toContain('could not serialize access');
  });

  test('the same seed draws the same runs', async () => {
    const run = () => runSqlCampaign(transfer, { profile: profile({ level: 'causal' }), runs: 30, seed: 5 });
    const [one, two] = [await run(), await run()];
    expect(two.violations).toBe(one.violations);
    expect(two.failure?.replay).toBe(one.failure?.replay);
  });

  test('as an assertion of a test suite', async () => {
    await expect(testSqlProgram(transfer, { runs: 20 })).rejects.toThrow(
      /120 was taken[\s\S]*replay: '2\.[0-9a-z]+\.[0-9a-z]{8}-[0-9a-z]{7}'/,
    );
  });
});

describe('recorded histories are at the level that they ran at', () => {
  test.each([
    [{ level: 'read-committed', granularity: 'cell' }, 'read-committed'],
    [{ level: 'causal', granularity: 'row' }, 'causal'],
    [{ level: 'snapshot-isolation' }, 'snapshot-isolation'],
    [{ level: 'serializable' }, 'serializable'],
    [{ engine: 'postgres', isolation: 'repeatable read' }, 'snapshot-isolation'],
    [{ engine: 'postgres', isolation: 'serializable' }, 'serializable'],
    [{ engine: 'mysql', isolation: 'serializable' }, 'serializable'],
  ] as const)('%o', async (options, level) => {
    const chosen = profile(options);
    for (let seed = 0; seed < 4; seed += 1) {
      const base = oltpProgram(workloads.smallbank, { dialect: chosen.dialect, sessions: 3, transactions: 3, seed });
      const failing = { ...base, invariant: () => 'show me' };
      const { failure } = await runSqlCampaign(failing, { profile: chosen, runs: 1, seed });
      expect(failure?.history.transactions.length).toBeGreaterThan(3);
      if (failure !== null) expect(check(failure.history, level).kind).toBe('satisfied');
    }
  });
});

describe('none of the assertions is ever broken at serializable', () => {
  test.each([
    ['tpcc', { engine: 'postgres', isolation: 'serializable' }],
    ['voter', { engine: 'postgres', isolation: 'serializable' }],
    ['wikipedia', { engine: 'mysql', isolation: 'serializable' }],
    ['voter', { level: 'serializable' }],
    ['smallbank', { level: 'serializable' }],
  ] as const)('%s %o', async (workload, options) => {
    const chosen = profile(options);
    for (let seed = 0; seed < 5; seed += 1) {
      const program = oltpProgram(workloads[workload], {
        dialect: chosen.dialect,
        sessions: 3,
        transactions: 3,
        seed,
      });
      expect((await runSqlCampaign(program, { profile: chosen, runs: 2, seed })).failure?.message).toBeUndefined();
    }
  });
});

test('a schema that fails is the program’s fault, and says how', async () => {
  const broken = sqlProgram({ dialect: 'postgres', schema: 'create tabel t (id int)', sessions: { a: () => null } });
  await expect(runSqlCampaign(broken, { profile: profile({}) })).rejects.toMatchObject({ code: 'program/schema' });
});

test('an invariant that asks for the result of another session is at fault, one that copies the results is not', async () => {
  const judged = (invariant: SqlProgram['invariant']) =>
    runSqlCampaign({ ...transfer, invariant }, { profile: profile({ engine: 'postgres' }), runs: 1 });
  const [one = '', two = ''] = transfer.sessionNames;
  await expect(judged(({ results }) => !results['nobody'])).rejects.toMatchObject({
    code: 'program/session-name',
    message: `the invariant looks at the result of session "nobody"; the sessions are "${one}", "${two}"`,
  });
  const { violations, runs } = await judged(({ results }) => one in structuredClone(results));
  expect({ violations, runs }).toEqual({ violations: 0, runs: 1 });
});

test('a program of the other dialect is refused', async () => {
  await expect(runSqlCampaign(transfer, { profile: profile({ engine: 'mysql' }) })).rejects.toMatchObject({
    code: 'program/dialect',
  });
});

test('a session that waits for ever is a timeout with its name', async () => {
  const stuck = async ({ connect }: SqlConnection): Promise<void> => {
    const client = new pg.Client({ user: 'x', stream: connect });
    await client.connect();
    await new Promise(() => {});
  };
  const program = sqlProgram({ dialect: 'postgres', schema: [], sessions: { free: () => 1, stuck } });
  const { timeout } = await runSqlCampaign(program, { profile: profile({}), runs: 3, timeoutMs: 1_000 });
  expect(timeout).toBe('session "stuck"');
});

test('a failure that does not come again with the same decisions is refused', async () => {
  let judged = 0;
  const program = sqlProgram({
    dialect: 'postgres',
    schema: [],
    sessions: { a: () => null },
    invariant: () => (judged += 1) > 1,
  });
  await expect(runSqlCampaign(program, { profile: profile({}), runs: 3 })).rejects.toMatchObject({
    code: 'program/nondeterministic',
  });
});
