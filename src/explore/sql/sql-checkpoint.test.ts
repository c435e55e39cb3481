/** An exploration of a SQL program that stops again and again, and continues each time from the checkpoint alone, finds what one that never stops finds. */
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../program/index.ts';
import { countingProgram } from '../../sql-program/counting-program.test-support.ts';
import { onPostgres } from '../../sql-program/engines.test-support.ts';
import { exploreSql, type ExploreSqlOptions, type ExploreSqlResult, type SqlCheckpoint } from './index.ts';
import { parseProfile, type Profile } from '../../database/index.ts';
import { programOf, randomSessions } from '../../sql-program/random-sql-programs.test-support.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const seed = Number(process.env['MOIRAI_SEED'] ?? 5);

/** What comes back from a file. */
const stored = (checkpoint: SqlCheckpoint): SqlCheckpoint => deserialize(serialize(checkpoint)) as SqlCheckpoint;

interface Piece {
  readonly result: ExploreSqlResult;
  readonly checkpoint: SqlCheckpoint;
}

async function piece(program: SqlProgram, resume: SqlCheckpoint | null, options: ExploreSqlOptions): Promise<Piece> {
  let last: SqlCheckpoint | null = null;
  const onCheckpoint = (checkpoint: SqlCheckpoint): void => void (last = stored(checkpoint));
  const result = await exploreSql(program, { ...options, onCheckpoint, ...(resume === null ? {} : { resume }) });
  if (last === null) throw new Error('it gave no checkpoint');
  return { result, checkpoint: last };
}

/** What must not depend on stops, with the digests of all histories and outcomes. */
function found({ result, checkpoint }: Piece): object {
  const { estimate: _, ...rest } = result;
  const { histories, outcomes } = checkpoint.found;
  return { ...rest, histories: histories.toSorted(), outcomes: outcomes.toSorted() };
}

/** Stops after every `every` schedules. */
async function inPieces(make: () => SqlProgram, every: number, profile: Profile): Promise<[Piece, number]> {
  let resume: SqlCheckpoint | null = null;
  for (let pieces = 1; ; pieces += 1) {
    const made: Piece = await piece(make(), resume, { profile, schedulesMax: every * pieces });
    if (made.result.complete) return [made, pieces];
    expect(made.result).toMatchObject({ stopped: 'schedules', schedules: every * pieces });
    resume = made.checkpoint;
  }
}

/** Interrupts while the last session of the so manieth run of a piece is connected; the next time later, so that it comes to an end. */
async function inRuns(make: () => SqlProgram, profile: Profile): Promise<[Piece, number]> {
  let resume: SqlCheckpoint | null = null;
  for (let pieces = 1; ; pieces += 1) {
    const interruption = new AbortController();
    let runs = 0;
    const tested = make();
    const interrupting: SqlProgram['sessions'][number] = (connection) => {
      if ((runs += 1) === 4 * pieces - 1) interruption.abort();
      return tested.sessions.at(-1)?.(connection);
    };
    const program: SqlProgram = { ...tested, sessions: [...tested.sessions.slice(0, -1), interrupting] };
    const made: Piece = await piece(program, resume, { profile, signal: interruption.signal });
    if (made.result.complete) return [made, pieces];
    expect(made.result.stopped).toBe('interrupted');
    resume = made.checkpoint;
  }
}

const doctors = (): SqlProgram => {
  const leave =
    (name: string) =>
    (connection: SqlConnection): Promise<void> =>
      onPostgres(connection, async (client) => {
        await client.query('BEGIN');
        const { rows } = await client.query<{ n: string }>('SELECT count(*) AS n FROM doctors WHERE is_there');
        connection.sometimes('both are there', rows[0]?.n === '2');
        if (rows[0]?.n === '2') await client.query('UPDATE doctors SET is_there = false WHERE name = $1', [name]);
        await client.query('COMMIT');
      });
  return sqlProgram({
    dialect: 'postgres',
    schema:
      "CREATE TABLE doctors (name text PRIMARY KEY, is_there bool); INSERT INTO doctors VALUES ('ann', true), ('bob', true)",
    sessions: { ann: leave('ann'), bob: leave('bob') },
    invariant: (end) =>
      onPostgres(end, async (client) => {
        const { rows } = await client.query<{ n: string }>('SELECT count(*) AS n FROM doctors WHERE is_there');
        return rows[0]?.n !== '0' || 'nobody is there';
      }),
  });
};

const cases = [
  ['a counter', 'read committed', 13, () => countingProgram({ a: 2, b: 1 })],
  ['a counter', 'serializable', 7, () => countingProgram({ a: 1, b: 1 })],
  ['write skew', 'repeatable read', 1, doctors],
  ['write skew', 'serializable', 13, doctors],
] as const;

describe.each(cases)('%s at %s', (_name, isolation, every, make) => {
  const profile = parseProfile({ engine: 'postgres', isolation });
  let whole: Piece;

  beforeAll(async () => {
    whole = await piece(make(), null, { profile });
  });

  test(`stopped after every ${every} schedules`, async () => {
    expect(whole.result.complete).toBe(true);
    const [made, pieces] = await inPieces(make, every, profile);
    expect(pieces).toBe(Math.ceil(whole.result.schedules / every));
    expect(found(made)).toEqual(found(whole));
  });

  test('interrupted in the middle of runs', async () => {
    const [made, pieces] = await inRuns(make, profile);
    expect(pieces).toBeGreaterThan(1);
    expect(found(made)).toEqual(found(whole));
  });
});

test('what each read sees at a level is continued as well', async () => {
  const profile = parseProfile({ dialect: 'postgres', level: 'causal' });
  const make = (): SqlProgram => countingProgram({ a: 1, b: 1 });
  const whole = await piece(make(), null, { profile });
  const [made] = await inPieces(make, 5, profile);
  expect(found(made)).toEqual(found(whole));
});

test('random programs, on both engines', { timeout: isHeavy ? 3_600_000 : 120_000 }, async () => {
  const dialects = ['postgres', 'mysql'] as const;
  const enough = isHeavy ? Infinity : 3;
  let compared = 0;
  const property = fc.asyncProperty(
    fc.constantFrom(...dialects).chain((dialect) => fc.tuple(fc.constant(dialect), randomSessions(dialect))),
    fc.constantFrom('repeatable read', 'serializable'),
    fc.integer({ min: 3, max: 9 }),
    async ([dialect, sessions], isolation, every) => {
      if (compared === enough) return;
      const profile = parseProfile({ engine: dialect, isolation });
      const whole = await piece(programOf(dialect, sessions), null, { profile, schedulesMax: isHeavy ? 300 : 12 });
      if (!whole.result.complete || whole.result.schedules < 3) return;
      compared += 1;
      const [made] = await inPieces(() => programOf(dialect, sessions), every, profile);
      expect(found(made)).toEqual(found(whole));
    },
  );
  await fc.assert(property, { seed, numRuns: isHeavy ? 400 : 30 });
  expect(compared).toBeGreaterThan(2);
});

test('a complete one is known as it was: nothing is explored', async () => {
  const profile = parseProfile({ engine: 'postgres' });
  const make = (): SqlProgram => countingProgram({ a: 1, b: 1 });
  const whole = await piece(make(), null, { profile });
  expect(whole.checkpoint.position).toBeNull();
  let runs = 0;
  const again = await piece(make(), whole.checkpoint, { profile, onRun: () => void (runs += 1) });
  expect(runs).toBe(0);
  expect(found(again)).toEqual(found(whole));
  expect(again.checkpoint).toEqual(whole.checkpoint);
});

test('within a run: that run is still to be made', async () => {
  const profile = parseProfile({ engine: 'postgres' });
  const make = (): SqlProgram => countingProgram({ a: 1, b: 1 });
  const tested = make();
  let now: (() => SqlCheckpoint) | undefined;
  const seen: SqlCheckpoint[] = [];
  const watching: SqlProgram = {
    ...tested,
    invariant: (end) => {
      if (now !== undefined) seen.push(stored(now()));
      return tested.invariant(end);
    },
  };
  await exploreSql(watching, { profile, onStart: (_soFar, _underWay, standing) => (now = standing) });
  const distinct = new Map(seen.map((each) => [each.found.schedules, each]));
  expect(distinct.size).toBe(7);
  const whole = found(await piece(make(), null, { profile }));
  for (const checkpoint of distinct.values())
    expect(found(await piece(make(), checkpoint, { profile }))).toEqual(whole);
});

test('checkpoints in between are as good as the last', async () => {
  const profile = parseProfile({ engine: 'postgres' });
  const make = (): SqlProgram => countingProgram({ a: 1, b: 1 });
  const all: SqlCheckpoint[] = [];
  const onCheckpoint = (checkpoint: SqlCheckpoint): void => void all.push(stored(checkpoint));
  await exploreSql(make(), { profile, checkpointEveryMs: 0, onCheckpoint });
  expect(all.length).toBe(7);
  const whole = found(await piece(make(), null, { profile }));
  for (const checkpoint of all) expect(found(await piece(make(), checkpoint, { profile }))).toEqual(whole);
});

describe('refused', () => {
  const make = (): SqlProgram => countingProgram({ a: 1, b: 1 });
  const profile = parseProfile({ engine: 'postgres' });
  const stopped = async (): Promise<SqlCheckpoint> =>
    (await piece(make(), null, { profile, schedulesMax: 3 })).checkpoint;

  test.each<[string, () => SqlProgram, ExploreSqlOptions, string]>([
    [
      'another level',
      make,
      { profile: parseProfile({ engine: 'postgres', isolation: 'serializable' }) },
      'this is the database PostgreSQL, serializable',
    ],
    ['other sessions', () => countingProgram({ a: 1, c: 1 }), { profile }, 'other sessions or another schema'],
    ['without the reduction', make, { profile, reduces: false }, 'with other options'],
  ])('%s', async (_name, other, options, text) => {
    await expect(piece(other(), await stopped(), options)).rejects.toMatchObject({
      code: 'explore/checkpoint',
      message: expect.stringContaining(text),
    });
  });

  test('a program that takes another turn now', async () => {
    const checkpoint = (await piece(countingProgram({ a: 2, b: 1 }), null, { profile, schedulesMax: 9 })).checkpoint;
    await expect(piece(countingProgram({ a: 1, b: 1 }), checkpoint, { profile })).rejects.toMatchObject({
      code: 'explore/checkpoint',
      message: expect.stringContaining('the program does not do the same'),
    });
  });

  test.each([{ failsFast: true }, { replay: '2.0001.aaaabbbb' }])('with %j', async (options) => {
    await expect(exploreSql(make(), { profile, onCheckpoint: () => {}, ...options })).rejects.toMatchObject({
      code: 'option/checkpoint',
    });
  });
});
