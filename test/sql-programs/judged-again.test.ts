/** An invariant of a SQL program that holds whatever its statements return is named; one that compares what they return is not. */
import type mysql from 'mysql2/promise';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { conclude, noEvidence } from '../../src/evidence/index.ts';
import { type SqlConnection, type SqlEnd, sqlProgram } from '../../src/program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import { exploreSqlPart, exploreSqlShared, type SqlThread } from '../../src/explore/sql/explore-sql-shared.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';

const schema = `
  CREATE TABLE accounts (id int PRIMARY KEY, n int, balance numeric(10, 2), total bigint, state varchar(9), at timestamp);
  CREATE TABLE orders (id int PRIMARY KEY, account int, paid boolean);
  INSERT INTO accounts VALUES (1, 0, 100.00, 9, 'open', '2026-01-01'), (2, 5, 0.00, 7, 'open', '2026-01-02');
  INSERT INTO orders VALUES (1, 1, true);
`;
const ofPostgres = `
  CREATE TABLE docs (id int PRIMARY KEY, doc jsonb, tags text[], kind uuid);
  INSERT INTO docs VALUES (1, '{"lines": ["a"], "left": 2}', '{a,b}', '11111111-1111-4111-8111-111111111111');
`;

const holdsAnyway = (where: string): string[] => [
  `the invariant looks at what it should, although it holds whatever is changed in ${where}`,
];
const inFinal = holdsAnyway('the final state');
const inResults = holdsAnyway('what sessions return');
const nothing = ['the invariant looks at neither the final state nor what sessions return'];

/** Judgements with changed answers, where all of them hold. */
const FEW = 20;
/** The answer must not depend on how fast the machine is. */
const judging = { judgementsMax: FEW, timeMaxMs: Infinity };

/** Clauses on the invariant alone. */
function assumedOf(evidence: Parameters<typeof conclude>[0]): readonly string[] {
  const conclusion = conclude(evidence);
  if (conclusion.kind !== 'satisfied') return [conclusion.kind];
  return conclusion.assumed.filter((clause) => /^the invariant looks (?:at|only at what) /.test(clause));
}

type Row = any; // oxlint-disable-line no-explicit-any
type Query = (sql: string, parameters?: readonly unknown[]) => Promise<Row[]>;
type Invariant = (query: Query, end: SqlEnd<Row>) => Row;

const add = 'UPDATE accounts SET n = n + 1 WHERE id = 1';
/** Sessions read what invariants look at. */
const read = (tables: string): string => `SELECT 1 FROM ${tables}`;

/** Sessions that add one each, and return how many rows they changed. @param reads whether they read what invariants look at */
function onPg(invariant: Invariant, reads = true) {
  const session = (c: SqlConnection): Promise<unknown> =>
    onPostgres(c, async (client) => {
      if (reads) await client.query(read('orders, docs'));
      return { changed: (await client.query(add)).rowCount };
    });
  const made = sqlProgram({
    dialect: 'postgres',
    schema: `${schema}${ofPostgres}`,
    sessions: { a: session, b: session },
    invariant: (end) =>
      onPostgres(end, (client: pg.Client) =>
        invariant(async (sql, parameters = []) => (await client.query(sql, [...parameters])).rows, end),
      ),
  });
  return { ...made, invariantText: String(invariant) };
}

async function ofCampaign(invariant: Invariant, judgementsMax = 150, timeMaxMs = Infinity): Promise<readonly string[]> {
  const { evidence } = await runSqlCampaign(onPg(invariant), {
    profile: parseProfile({ engine: 'postgres' }),
    runs: 1,
    judging: { judgementsMax, timeMaxMs },
  });
  return assumedOf(evidence);
}

describe('an invariant that cannot fail is named: it compares', () => {
  test.each<[string, Invariant, readonly string[]]>([
    [
      'columns that are misspelt, and a number and a text',
      async (q) => {
        const rows = await q('SELECT * FROM accounts');
        const none = await q('SELECT * FROM orders WHERE id < 0');
        return !(rows[0].balence < 0) && rows[0].total !== 8 && [...rows, ...none].every((r) => r.nn !== 7);
      },
      inFinal,
    ],
    ['a part of what sessions return', (_q, { results }) => results.a.chnged !== 2, inResults],
    [
      'both',
      async (q, { results }) => (await q('SELECT n FROM accounts'))[0].m !== 1 || results.a.m !== 1,
      holdsAnyway('the final state or what sessions return'),
    ],
    ['nothing', () => true, nothing],
    ['nothing of the database', async (q) => (await q('SELECT 1'))[0] !== 1, nothing],
  ])('%s', async (_what, invariant, said) => {
    expect(await ofCampaign(invariant, FEW)).toEqual(said);
  });
});

test('an invariant over what sessions return, who return nothing, is named', async () => {
  const session = (c: SqlConnection): Promise<unknown> =>
    onPostgres(c, async (client) => {
      await client.query(add);
    });
  const silent = sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: { a: session, b: session },
    invariant: ({ results }: SqlEnd<Row>) => Object.values<Row>(results).every((each) => !each || each.n <= 2),
  });
  const { evidence } = await runSqlCampaign(silent, { profile: parseProfile({ engine: 'postgres' }), runs: 1 });
  expect(assumedOf(evidence)).toEqual([
    'the invariant looks only at what sessions return, and they returned nothing in the runs that were looked at',
  ]);
});

describe('an invariant is none where it compares', () => {
  test.each<[string, Invariant]>([
    ['a bound', async (q) => (await q('SELECT balance FROM accounts')).every((r) => Number(r.balance) >= 0)],
    ['a text of a numeric', async (q) => (await q('SELECT balance FROM accounts'))[0].balance === '100.00'],
    ['a bigint as a text', async (q) => BigInt((await q('SELECT total FROM accounts'))[0].total) < 10n],
    ['a count', async (q) => (await q('SELECT count(*) AS c FROM accounts'))[0].c !== '3'],
    ['a count that is cast', async (q) => (await q('SELECT count(*)::int AS c FROM accounts'))[0].c <= 2],
    ['a sum of several rows', async (q) => (await q('SELECT n FROM accounts')).reduce((s, r) => s + r.n, 0) <= 7],
    ['that there is no row', async (q) => (await q('SELECT 1 FROM accounts WHERE n < 0')).length === 0],
    ['rows that are not there', async (q) => (await q('SELECT n FROM accounts WHERE n < 0')).every((r) => r.n > -9)],
    ['how many there are', async (q) => (await q('SELECT id FROM accounts')).length <= 50],
    ['how many differ', async (q) => new Set((await q('SELECT id FROM accounts')).map((r) => r.id)).size < 60],
    ['EXISTS', async (q) => !(await q('SELECT EXISTS (SELECT 1 FROM accounts WHERE n < 0) AS bad'))[0].bad],
    [
      'a join',
      async (q) =>
        (await q('SELECT a.n FROM accounts a JOIN orders o ON o.account = a.id WHERE NOT o.paid')).length < 1,
    ],
    ['one state', async (q) => (await q('SELECT state FROM accounts')).every((r) => r.state !== 'gone')],
    [
      'one column where another is so',
      async (q) => (await q('SELECT state, n FROM accounts')).every((r) => r.state !== 'gone' || r.n >= 0),
    ],
    [
      'one column where another is so, in a few rows of many columns',
      async (q) => (await q('SELECT * FROM accounts')).every((r) => r.state !== 'gone' || r.balance === '0.00'),
    ],
    [
      'one of four columns where the others are so',
      async (q) =>
        (await q('SELECT * FROM accounts a JOIN orders o USING (id)')).every(
          (r) => !(r.state === 'sent' && r.n === 4711 && !r.paid && r.balance === '12.50'),
        ),
    ],
    ['how long a text is', async (q) => (await q('SELECT state FROM accounts'))[0].state.length <= 40],
    ['how long it is at most', async (q) => (await q('SELECT state FROM accounts'))[0].state.length < 9_999],
    ['NULL', async (q) => (await q('SELECT state FROM accounts'))[0].state !== null],
    ['a date', async (q) => (await q('SELECT at FROM accounts'))[0].at.getTime() < Date.parse('2027-01-01')],
    [
      'two dates',
      async (q) => {
        const [x, y] = await q('SELECT at FROM accounts ORDER BY id');
        return x.at <= y.at;
      },
    ],
    ['JSON', async (q) => (await q('SELECT doc FROM docs'))[0].doc.lines.length <= 2],
    ['a part of JSON', async (q) => (await q("SELECT doc->>'left' AS l FROM docs"))[0].l !== '1'],
    ['an array', async (q) => (await q('SELECT tags FROM docs'))[0].tags.length <= 2],
    ['a uuid', async (q) => (await q('SELECT kind FROM docs'))[0].kind.startsWith('1111')],
    ['a boolean', async (q) => (await q('SELECT paid FROM orders'))[0].paid === true],
    [
      'the second of two statements',
      async (q) => {
        await q('SELECT n FROM accounts');
        return (await q('SELECT n FROM orders o, accounts'))[0].n < 99;
      },
    ],
    [
      'a row that another one names',
      async (q) => {
        const [{ id }] = await q('SELECT id FROM accounts');
        const [r] = await q('SELECT n FROM accounts WHERE id = $1', [id]);
        return r !== undefined && r.n < 99;
      },
    ],
    ['an expectation', async (q) => (expect(await q('SELECT id FROM orders')).toEqual([{ id: 1 }]), true)],
    ['what sessions return', (_q, { results }) => results.a.changed + results.b.changed === 2],
    ['results with rows', async (q, { results }) => (await q('SELECT n FROM accounts'))[0].n >= results.a.changed],
    ['one result where another is so', (_q, { results }) => results.a.changed === 1 || results.b.changed !== 0],
    [
      'what is in no table',
      async (q) => (await q('SELECT n FROM accounts')).length + (await q('SELECT pg_try_advisory_lock(1)')).length >= 0,
    ],
    [
      'an error that it expects',
      async (q) => {
        await q('SELECT n FROM accounts');
        return q('INSERT INTO accounts VALUES (1)').then(
          () => false,
          () => true,
        );
      },
    ],
    ['what is written outside', async (q) => seen.push(...(await q('SELECT n FROM accounts'))) > 0],
  ])('%s', async (_what, invariant) => {
    expect(await ofCampaign(invariant)).toEqual([]);
  });
  const seen: unknown[] = [];

  test('a constant that only the sessions and the schema speak of', async () => {
    const gone = ['op', 'en'].join('');
    const isGone = (state: string): boolean => state === gone;
    const invariant: Invariant = async (q) => !isGone((await q('SELECT state FROM accounts WHERE id = 7'))[0]?.state);
    expect(await ofCampaign(invariant)).toEqual([]);
  });
});

describe('an invariant is not judged again where', () => {
  const judgementsOf = async (invariant: Invariant): Promise<number> => {
    let judgements = 0;
    const tested = onPg(invariant);
    const counted = { ...tested, invariant: (end: SqlEnd) => ((judgements += 1), tested.invariant(end)) };
    const profile = parseProfile({ engine: 'postgres' });
    const { runs, evidence } = await runSqlCampaign(counted, { profile, runs: 2 });
    expect({ runs, assumed: assumedOf(evidence) }).toEqual({ runs: 2, assumed: [] });
    return judgements;
  };
  const lists: unknown[] = [];
  const never = ['oversold'].join('');

  // The first run is made twice, and one more where the invariant has no effects.
  test.each<[string, Invariant]>([
    ['it writes to what outlives it', async (q) => lists.push(await q('SELECT n FROM accounts')) > 0],
    [
      'it compares with a constant of its module',
      async (q) => (await q('SELECT state FROM accounts'))[0].state !== never,
    ],
  ])('%s', async (_what, invariant) => {
    expect(await judgementsOf(invariant)).toBeLessThanOrEqual(6);
  });
});

test('without time to judge it again, an invariant that cannot fail is not named', async () => {
  const misspelt: Invariant = async (q) => (await q('SELECT n FROM accounts'))[0].m !== 1;
  expect(await ofCampaign(misspelt, FEW)).toEqual(inFinal);
  expect(await ofCampaign(misspelt, FEW, 0)).toEqual([]);
});

test('while it is judged again, the verdict is that of the runs', async () => {
  const profile = parseProfile({ engine: 'postgres' });
  const tested = onPg(async (q) => (await q('SELECT n FROM accounts'))[0].m !== 1);
  const conclusions: unknown[] = [];
  let soFar = (): { readonly evidence: Parameters<typeof conclude>[0] } => ({ evidence: noEvidence });
  const telling = {
    ...tested,
    invariant: (end: SqlEnd) => (conclusions.push(conclude(soFar().evidence)), tested.invariant(end)),
  };
  const onStart = (tell: typeof soFar): void => void (soFar = tell);
  const clause = 'the invariant was not judged again on changed values: that did not end';
  const green = { kind: 'satisfied', assumed: expect.arrayContaining([clause]) as unknown };
  await runSqlCampaign(telling, { profile, runs: 1, judging: { judgementsMax: 1 }, onStart });
  expect(conclusions.at(-1)).toEqual(green);
  await exploreSql(telling, { profile, judging: { judgementsMax: 1 }, onStart });
  expect(conclusions.at(-1)).toEqual(green);
});

describe('MySQL', () => {
  const program = (invariant: (query: Query) => Promise<boolean>) => {
    const session = (c: SqlConnection): Promise<unknown> =>
      onMysql(c, async (client) => {
        await client.query(read('small'));
        await client.query(add);
      });
    const made = sqlProgram({
      dialect: 'mysql',
      schema: `${schema} CREATE TABLE small (t tinyint, u int unsigned, y year, b binary(2), e enum('x', 'y'), j json, d date);
        INSERT INTO small VALUES (1, 2, 2026, 'ab', 'x', '{"left": 1}', '2026-01-01')`,
      sessions: { a: session, b: session },
      invariant: (end) =>
        onMysql(end, (client: mysql.Connection) =>
          invariant(async (sql) => (await client.execute<mysql.RowDataPacket[]>(sql))[0]),
        ),
    });
    return { ...made, invariantText: String(invariant) };
  };
  test.each<[string, (query: Query) => Promise<boolean>, readonly string[]]>([
    ['a misspelt column of many types', async (q) => (await q('SELECT * FROM small'))[0].z !== 1, inFinal],
    ['a count', async (q) => (await q('SELECT COUNT(*) AS c FROM accounts'))[0].c === 2, []],
    ['narrow integers', async (q) => (await q('SELECT t, u FROM small'))[0].t < 100, []],
    ['unsigned integers', async (q) => (await q('SELECT u FROM small'))[0].u < 100, []],
    ['a year', async (q) => (await q('SELECT y FROM small'))[0].y === 2026, []],
    ['bytes', async (q) => (await q('SELECT b FROM small'))[0].b.toString() === 'ab', []],
    ['an enum', async (q) => (await q('SELECT e FROM small'))[0].e !== 'y', []],
    ['JSON', async (q) => (await q('SELECT j FROM small'))[0].j.left >= 0, []],
    ['a date', async (q) => (await q('SELECT d FROM small'))[0].d.getFullYear() === 2026, []],
  ])('%s', async (_what, invariant, said) => {
    const { evidence } = await runSqlCampaign(program(invariant), {
      profile: parseProfile({ engine: 'mysql' }),
      runs: 1,
      judging,
    });
    expect(assumedOf(evidence)).toEqual(said);
  });
});

describe('explore', () => {
  const profile = parseProfile({ engine: 'postgres' });
  const misspelt = onPg(async (q) => (await q('SELECT * FROM accounts'))[0].balence !== 9, false);
  const right = onPg(async (q) => (await q('SELECT n FROM accounts'))[0].n === 2);

  test('names none that can fail', async () => {
    expect(assumedOf((await exploreSql(right, { profile })).evidence)).toEqual([]);
  });

  test('judges again once where threads share the work', async () => {
    let judgements = 0;
    const counted = {
      ...misspelt,
      invariant: (end: SqlEnd) => ((judgements += 1), misspelt.invariant(end)),
    };
    const thread: SqlThread = (job, onProgress) => exploreSqlPart(counted, { profile }, job, onProgress);
    const { evidence } = await exploreSqlShared(counted, { profile, schedulesAlone: 1, judging }, [thread]);
    expect(assumedOf(evidence)).toEqual(inFinal);
    expect(judgements).toBeLessThan(120);
  });

  test('where it finds a violation, it judges nothing again', async () => {
    let held = 0;
    const wrong = onPg(async (q) => (await q('SELECT n FROM accounts'))[0].n === 7);
    const counted = { ...wrong, invariant: (end: SqlEnd) => ((held += 1), wrong.invariant(end)) };
    await exploreSql(counted, { profile, failsFast: true });
    expect(held).toBeLessThan(10);
  });
});
