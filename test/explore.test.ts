/** explore lists every history of the level, each once, and nothing else. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import bankTransfer from '../examples/bank-transfer.ts';
import cart from '../examples/cart.ts';
import courseware from '../examples/courseware.ts';
import { clients } from '../examples/pldi2023/applications.ts';
import retryLoop from '../examples/retry-loop.ts';
import shoppingCart from '../examples/shopping-cart.ts';
import twitter from '../examples/twitter.ts';
import { seeded } from '../src/base/index.ts';
import { explore } from '../src/explore/index.ts';
import { formatHistory } from '../src/history/index.ts';
import { constrainingLevels, type ConstrainingLevel } from '../src/isolation/index.ts';
import { drawing, MockDatabase } from '../src/mockdb/index.ts';
import { type Program, runProgram } from '../src/program/index.ts';
import { historiesByDefinition } from './support/brute-force.ts';
import { listed } from './support/explored.ts';
import { knownCounts, levelsOfCounts } from './support/known-counts.ts';
import { smallProgram, smallText } from './support/small-program.ts';

/** MOIRAI_HEAVY=1 counts the large ones too, and draws more random programs. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const heavy = (count: number): number[] => (isHeavy ? [count] : []);

/** The distinct histories of so many random runs, as texts. */
async function shownAtRandom(tested: Program, level: ConstrainingLevel, runs: number): Promise<Set<string>> {
  const shown = new Set<string>();
  const database = new MockDatabase({ level, initial: tested.initial, sessionNames: tested.sessionNames });
  for (let run = 0; run < runs; run += 1) {
    const decisions = drawing({ chooser: seeded(4, run) });
    database.reset(decisions);
    await runProgram(tested, database, { nextSession: decisions.session });
    shown.add(formatHistory(database.history()));
  }
  return shown;
}

/** First: with a mistake in the swaps the larger programs take for ever. */
test('two reads of writes of others: each combination once', async () => {
  const found = await listed(smallProgram('rx ry || wx || wy'), 'causal');
  expect(found.length).toBe(4);
  expect(new Set(found).size).toBe(4);
});

test.each(knownCounts)('known counts of histories: %s', async (_name, tested, expected) => {
  const found = await Promise.all(levelsOfCounts.map(async (level) => (await explore(tested, { level })).histories));
  expect(found).toEqual(expected);
});

describe('client programs of the evaluation of PLDI 2023', () => {
  const levels = ['causal', 'prefix', 'snapshot-isolation', 'serializable', 'read-atomic', 'read-committed'] as const;
  const expected: readonly (readonly [string, readonly number[]])[] = [
    ['courseware 1', [216, 209, 138, 72, 893, ...heavy(11_751)]],
    ['courseware 2', [46, 45, 45, 34, 106, 588]],
    ['courseware 4', [69, 69, 17, 17, 88, 2_392]],
    ['shopping cart 1', [444, 223, 114, 81, 2_340, ...heavy(317_520)]],
    ...heavy(73_192).map((count) => ['shopping cart 4', [count]] as const),
    ['twitter 1', [36, 34, 18, 18, 44]],
  ];
  test.each(expected)('%s', { timeout: 600_000 }, async (name, counts) => {
    const found: number[] = [];
    for (const level of levels.slice(0, counts.length)) {
      found.push((await explore(clients[name] as Program, { level })).histories);
    }
    expect(found).toEqual(counts);
  });
});

test('the clients of Wikipedia and TPC-C: no history twice, no run in vain, none that random testing shows is missing', async () => {
  for (const [name, count] of [
    ['wikipedia 1', 126],
    ['tpc-c 1', 396],
    ['tpc-c 2', 126],
  ] as const) {
    const tested = clients[name] as Program;
    const all = await listed(tested, 'causal');
    expect(all.length).toBe(count);
    expect(new Set(all).size).toBe(count);
    const shown = await shownAtRandom(tested, 'causal', 300);
    expect(all).toEqual(expect.arrayContaining([...shown]));
    expect(shown.size).toBeGreaterThan(10);
  }
});

const numRuns = isHeavy ? 20_000 : 100;

describe('the histories are those of brute force, without a duplicate', () => {
  test.each(constrainingLevels)('%s', { timeout: 3_600_000 }, async (level) => {
    await fc.assert(
      fc.asyncProperty(smallText, async (text) => {
        const tested = smallProgram(text);
        const found = await listed(tested, level, { samplesFirst: 0 });
        expect(new Set(found).size).toBe(found.length);
        expect(found.toSorted()).toEqual([...(await historiesByDefinition(tested, level))].toSorted());
        expect(await listed(tested, level, { reruns: true })).toEqual(found);
      }),
      { numRuns },
    );
  });

  test('mixed levels', { timeout: 3_600_000 }, async () => {
    const levels = fc.array(fc.constantFrom(...constrainingLevels), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(smallText, levels, async (text, chosen) => {
        const tested = smallProgram(text, (session, index) => chosen[(session * 3 + index) % 8] ?? 'causal');
        const found = await listed(tested, 'causal', { samplesFirst: 0 });
        expect(new Set(found).size).toBe(found.length);
        expect(found.toSorted()).toEqual([...(await historiesByDefinition(tested, 'causal'))].toSorted());
      }),
      { numRuns },
    );
  });
});

test('at the levels that are explored directly, no run is in vain', async () => {
  for (const level of ['read-committed', 'read-atomic', 'causal'] as const) {
    const { runs, histories } = await explore(smallProgram('[rx wy];[ry wx] || [rx wy];[ry wx] || [rx wy]'), { level });
    expect(runs).toBe(histories);
  }
});

describe('whatever random testing shows, explore lists', () => {
  const retried: Program = { ...retryLoop, conflicts: 'retry' };
  const examples = { cart, bankTransfer, courseware, twitter, shoppingCart, retried, ...smallClients() };
  test.each(Object.entries(examples))('%s', { timeout: 60_000 }, async (_name, tested) => {
    for (const level of ['causal', 'prefix', 'snapshot-isolation', 'serializable'] as const) {
      const all = new Set(await listed(tested, level));
      for (const shown of await shownAtRandom(tested, level, isHeavy ? 5_000 : 100)) expect(all).toContain(shown);
    }
  });
});

/** Clients of the evaluation with fewer than 1,100 causal histories. */
function smallClients(): Record<string, Program> {
  const names = [
    'courseware 1',
    'courseware 2',
    'courseware 4',
    'courseware 5',
    'shopping cart 1',
    'twitter 1',
    'twitter 2',
    'twitter 3',
  ];
  names.push('wikipedia 1', 'wikipedia 2', 'wikipedia 4', 'wikipedia 5', 'tpc-c 1', 'tpc-c 2', 'tpc-c 3');
  return Object.fromEntries(names.map((name) => [name, clients[name] as Program]));
}

test('the base level changes the runs, not the histories', async () => {
  const bases = ['any', 'read-committed', 'read-atomic'] as const;
  let inVain = 0;
  await fc.assert(
    fc.asyncProperty(
      smallText,
      fc.constantFrom(...constrainingLevels),
      fc.constantFrom(...bases),
      async (text, level, base) => {
        const tested = smallProgram(text);
        const found = await listed(tested, level, { base, samplesFirst: 0 });
        expect(new Set(found).size).toBe(found.length);
        expect(found.toSorted()).toEqual((await listed(tested, level)).toSorted());
        const [most, least] = [await explore(tested, { level, base }), await explore(tested, { level })];
        expect(most.runs).toBeGreaterThanOrEqual(least.runs);
        inVain += most.runs - least.runs;
      },
    ),
    { numRuns: isHeavy ? 5_000 : 120 },
  );
  expect(inVain).toBeGreaterThan(100);
});

test('what is remembered of sessions may be little: then they run again', async () => {
  const client = clients['courseware 4'] as Program;
  let sessionsRun = 0;
  const tested: Program = {
    ...client,
    sessions: client.sessions.map((body) => (s) => {
      sessionsRun += 1;
      return body(s);
    }),
  };
  const all = await listed(client, 'causal');
  const counts: number[] = [];
  for (const rememberedMax of [0, 100, 200_000]) {
    sessionsRun = 0;
    expect(await listed(tested, 'causal', { rememberedMax, samplesFirst: 0 })).toEqual(all);
    counts.push(sessionsRun);
  }
  const [nothing = 0, little = 0, everything = 0] = counts;
  expect(nothing).toBe((all.length + 2) * client.sessions.length); // the first run is repeated, and one has the last session first
  expect(little).toBeLessThan(nothing);
  expect(everything).toBeLessThan(little);
});
