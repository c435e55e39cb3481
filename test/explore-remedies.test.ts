/**
 * `moirai explore --remedies`: a remedy does what the same change does in the program's own code, at every engine level; and what is said of remedies
 * that do not help, that the database refuses, and that were not explored to the end.
 */
import { describe, expect, test } from 'vitest';
import transfer from '../examples/sql-transfer.ts';
import { parseProfile } from '../src/database/index.ts';
import { exploreRemedies, exploreSql, type ExploreSqlResult, formatRemedies } from '../src/explore/sql/index.ts';
import { type SqlConnection, sqlProgram } from '../src/program/index.ts';
import { everyEngineLevel, onMysql, onPostgres } from '../src/sql-program/engines.test-support.ts';
import { runHere } from './support/cli.ts';
import { mistakes, programOf } from './support/engine-mistakes.ts';

function mistake(name: string) {
  const found = mistakes.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no mistake is called ${name}`);
  return found;
}

const countsOf = ({ schedules, histories, outcomes, invariantBroken, notRetried, complete }: ExploreSqlResult) => ({
  schedules,
  histories,
  outcomes,
  invariantBroken,
  notRetried,
  complete,
});

/** SELECTs of the mistakes that have a fix with FOR UPDATE. */
const reads: Readonly<Record<string, readonly string[]>> = {
  'lost update': ['SELECT n FROM t WHERE id = 1'],
  'write skew': ['SELECT id FROM t WHERE n = 1'],
  // Of the two rows by one text: literals do not tell statements apart.
  'read skew': ['SELECT n FROM t WHERE id = 7'],
  'check, then insert': ["SELECT name FROM t WHERE name = 'whoever'"],
  'job queue': ['SELECT id FROM t WHERE n = 0 ORDER BY id LIMIT 1'],
};

describe.each(everyEngineLevel)('on %s, %s', (engine, isolation) => {
  const profile = parseProfile({ engine, isolation });

  test.each(Object.entries(reads))(
    '%s: a locked read is the same as FOR UPDATE in its text',
    async (name, lockedReads) => {
      const fixed = await exploreSql(
        programOf(mistake(`${name}, FOR UPDATE`), engine, () => {}),
        { profile },
      );
      const locked = await exploreSql(
        programOf(mistake(name), engine, () => {}),
        { profile, lockedReads },
      );
      expect(countsOf(locked)).toEqual(countsOf(fixed));
    },
  );

  test('check, then insert: the unique index does what a unique key of the schema does', async () => {
    const program = programOf(mistake('check, then insert'), engine, () => {});
    const keyed = programOf(mistake('check, then insert, unique key'), engine, () => {});
    const broken = await exploreSql(program, { profile });
    const tried = await exploreRemedies(program, broken, {});
    if (broken.invariantBroken === 0) {
      expect(tried).toEqual([]);
      return;
    }
    const { schedules, invariantBroken } = await exploreSql(keyed, { profile });
    expect(tried[0]).toMatchObject({
      remedy: { kind: 'unique', table: 't', columns: ['name'] },
      holds: true,
      schedules,
      invariantBroken,
    });
  });
});

test('the cheapest that holds comes first, and levels say which errors the program has to retry', async () => {
  const profile = parseProfile({});
  const tried = await exploreRemedies(transfer, await exploreSql(transfer, { profile }), {});
  expect(formatRemedies(tried)).toBe(
    `remedy                                              schedules  invariant broken  errors to handle  complete
FOR UPDATE: SELECT ... FROM accounts WHERE id = $1          4                 0  0                 yes
repeatable read                                             6                 0  4 (40001)         yes
serializable                                                6                 0  4 (40001)         yes
the cheapest that holds in all 4 schedules: FOR UPDATE: SELECT ... FROM accounts
  WHERE id = $1`,
  );
});

/** An event for one more guest. */
const rsvp = (dialect: 'postgres' | 'mysql', locksEvent: boolean) => {
  const join = async (sql: (text: string) => Promise<unknown>, count: () => Promise<number>): Promise<void> => {
    await sql('BEGIN');
    if (locksEvent) await sql('SELECT seats FROM events WHERE id = 1');
    if ((await count()) < 2) await sql('INSERT INTO guests (event_id) VALUES (1)');
    await sql('COMMIT');
  };
  const counting = 'SELECT count(*) AS n FROM guests WHERE event_id = 1';
  const onServer = {
    postgres: async (c: SqlConnection): Promise<number> =>
      onPostgres(c, async (client) => {
        const count = async (): Promise<number> => Number((await client.query(counting)).rows[0].n);
        if (c.name === 'invariant') return count();
        await join((text) => client.query(text), count);
        return 0;
      }),
    mysql: async (c: SqlConnection): Promise<number> =>
      onMysql(c, async (client) => {
        // A list of rows, whose column is a number.
        const count = async (): Promise<number> => Number(((await client.query(counting))[0] as { n: number }[])[0]?.n);
        if (c.name === 'invariant') return count();
        await join((text) => client.query(text), count);
        return 0;
      }),
  }[dialect];
  return sqlProgram({
    dialect,
    schema: [
      'CREATE TABLE events (id int PRIMARY KEY, seats int)',
      'CREATE TABLE guests (event_id int)',
      'INSERT INTO events VALUES (1, 2)',
      'INSERT INTO guests VALUES (1)',
    ],
    sessions: { ann: onServer, ben: onServer },
    invariant: async (end) => (await onServer(end)) <= 2 || 'more guests than seats',
  });
};

test('PostgreSQL refuses FOR UPDATE on an aggregate, and its own words say so; the row of the event can be locked', async () => {
  const program = rsvp('postgres', true);
  const tried = await exploreRemedies(program, await exploreSql(program, { profile: parseProfile({}) }), {});
  expect(tried[0]).toMatchObject({
    remedy: { kind: 'lock', statements: ['SELECT seats FROM events WHERE id = 1'] },
    holds: true,
    notHandled: 0,
  });
  const refused = tried.filter(({ kind }) => kind === 'refused');
  expect(refused).toMatchObject([{ remedy: { statements: ['SELECT count(*) AS n FROM guests WHERE event_id = 1'] } }]);
  expect(formatRemedies(refused, { width: 400 })).toMatch(
    /refused: FOR UPDATE: SELECT \.\.\. FROM guests [^]*FOR UPDATE is not allowed with aggregate functions/,
  );
  expect(formatRemedies(refused)).toContain('none of these remedies makes the invariant hold in all schedules');
});

test('MySQL takes FOR UPDATE on an aggregate', async () => {
  const program = rsvp('mysql', false);
  const result = await exploreSql(program, { profile: parseProfile({ engine: 'mysql' }) });
  expect(await exploreRemedies(program, result, {})).toContainEqual(
    expect.objectContaining({
      remedy: { kind: 'lock', statements: ['SELECT count(*) AS n FROM guests WHERE event_id = 1'] },
      holds: true,
    }),
  );
});

test('no unique index is suggested that refuses what the program may insert one after another, or that stands for a range', async () => {
  const uniqueFor = async (where: string, max: number) => {
    const signUp = (c: SqlConnection): Promise<number> =>
      onPostgres(c, async (client) => {
        await client.query('BEGIN');
        const { rows } = await client.query(`SELECT n FROM t WHERE ${where}`);
        if (rows.length < max) await client.query('INSERT INTO t VALUES (1)');
        await client.query('COMMIT');
        return rows.length;
      });
    const program = sqlProgram({
      dialect: 'postgres',
      schema: 'CREATE TABLE t (n int)',
      sessions: { ann: signUp, ben: signUp },
      invariant: ({ results }) => results.ann !== results.ben || 'both saw none',
    });
    const tried = await exploreRemedies(program, await exploreSql(program, { profile: parseProfile({}) }), {});
    return tried.filter(({ remedy }) => remedy.kind === 'unique');
  };
  expect(await uniqueFor('n = 1', 2)).toMatchObject([
    { kind: 'refused', reason: 'it refuses rows also when the sessions run one after another' },
  ]);
  expect(await uniqueFor('n > 0', 1)).toEqual([]);
  expect(await uniqueFor('n = 1', 1)).toMatchObject([{ kind: 'explored', holds: true, errors: ['23505'] }]);
});

test('a remedy of which not every schedule was run does not hold', async () => {
  const result = await exploreSql(transfer, { profile: parseProfile({}) });
  const tried = await exploreRemedies(transfer, result, { schedulesMax: 2 });
  expect(tried.map(({ kind }) => kind)).toEqual(['explored', 'explored', 'explored']);
  for (const each of tried) expect(each).toMatchObject({ holds: false, complete: false, schedules: 2 });
  expect(formatRemedies(tried)).toMatch(/^none of these remedies[^]*^unknown: FOR UPDATE: [^]*stopped after so many/m);
});

test('after an interruption none is suggested', async () => {
  const result = await exploreSql(transfer, { profile: parseProfile({}) });
  const tried = await exploreRemedies(transfer, result, { signal: AbortSignal.abort() });
  expect(tried.map(({ kind }) => kind)).toEqual(['not explored', 'not explored', 'not explored']);
  expect(formatRemedies(tried)).toContain('not explored: serializable: interrupted');
});

describe('the command', () => {
  const files = { 'transfer.ts': transfer };

  test('prints them below what it found, with the exit code of the program as it is', async () => {
    const { code, out } = await runHere(['explore', 'transfer.ts', '--remedies'], files);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^4 of 6 schedules violate [^]*\n\nremedy +schedules [^]*\nthe cheapest that holds in all 4 schedules: FOR/,
    );
  });

  test('--json has them', async () => {
    const { out } = await runHere(['explore', 'transfer.ts', '--remedies', '--json'], files);
    const { remedies, report } = JSON.parse(out) as { remedies: object[]; report: { tables: { title: string }[] } };
    expect(remedies).toMatchObject([
      {
        remedy: { kind: 'lock', statements: ['SELECT balance FROM accounts WHERE id = $1'] },
        schedules: 4,
        holds: true,
      },
      { remedy: { kind: 'level', isolation: 'repeatable read' }, notHandled: 4, errors: ['40001'], holds: true },
      { remedy: { kind: 'level', isolation: 'serializable' }, notHandled: 4, errors: ['40001'], holds: true },
    ]);
    expect(report.tables.map(({ title }) => title)).toContain('Remedies');
  });

  test('where the program holds there is nothing to mend', async () => {
    const held = await runHere(['explore', 'held.ts', '--remedies', '--json'], {
      'held.ts': programOf(mistake('lost update, FOR UPDATE'), 'postgres', () => {}),
    });
    expect([held.code, JSON.parse(held.out)]).toMatchObject([0, { remedies: [] }]);
  });

  test.each([
    [['--level', 'causal']],
    [['--isolation', 'all']],
    [['--replay', '2.0.00000000']],
    [['--estimate']],
    [['--dot']],
  ])('--remedies with %j is refused', async (args) => {
    const { code, err } = await runHere(['explore', 'transfer.ts', '--remedies', ...args], files);
    expect([code, err]).toEqual([3, expect.stringContaining('[option/remedies]')]);
  });
});
