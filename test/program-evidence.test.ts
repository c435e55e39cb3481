import { describe, expect, test } from 'vitest';
import { explore, program, type SessionHandle, testProgram } from '../src/index.ts';
import { formatResult, runCampaign } from '../src/campaign/index.ts';
import { conclude, exitCodeOf, gapText, noAnswers, type Evidence } from '../src/evidence/index.ts';
import { exploreShared, exploreThread, formatExploration } from '../src/explore/index.ts';

const reads = (s: SessionHandle) => s.read('x');
const writes = (s: SessionHandle) => s.write('x', 1);
const idle = (): number => 1;

function gaps(evidence: Evidence): string[] {
  const conclusion = conclude(evidence);
  return conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [conclusion.kind];
}

test('the evidence of sessions is counted', async () => {
  const tested = program({ sessions: { a: writes, b: reads }, invariant: () => true });
  const { evidence } = await explore(tested);
  const each = {
    runs: 2,
    operations: 2,
    failedRuns: 0,
    failure: null,
    lostRuns: 0,
    loss: null,
    overlapped: true,
    answers: noAnswers,
  };
  expect(evidence).toMatchObject({
    violations: 0,
    cut: [],
    assumed: [],
    sessions: [
      { name: 'a', ...each },
      { name: 'b', ...each },
    ],
  });
  const campaign = await runCampaign(tested, { runs: 5 });
  expect(campaign.evidence.sessions[1]).toEqual({ ...each, name: 'b', runs: 5, operations: 5 });
  expect(exitCodeOf(conclude(evidence))).toBe(0);
});

test('a session that sends no operation makes the verdict unknown, by name', async () => {
  const tested = program({ sessions: { busy: writes, other: reads, idle }, invariant: () => true });
  const found = await explore(tested);
  expect(gaps(found.evidence)).toEqual(['session "idle" sent no operation']);
  expect(formatExploration(found)).toMatch(
    /^unknown at causal: session "idle" sent no operation; all 2 histories satisfy/,
  );
  const shared = await exploreShared(tested, {}, [exploreThread(tested, {})]);
  expect(gaps(shared.evidence)).toEqual(['session "idle" sent no operation']);
  const result = await runCampaign(tested, { runs: 5 });
  expect(formatResult(result)).toMatch(
    /^unknown at causal: session "idle" sent no operation\nthe invariant held in 5 runs\n/,
  );
  await expect(testProgram(tested, { runs: 5 })).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('session "idle" sent no operation') as unknown,
  });
});

test('a program that never touches the store is at fault', async () => {
  const tested = program({ sessions: { a: idle, b: idle }, invariant: ({ results }) => results.a === results.b });
  const atFault = { kind: 'at-fault', code: 'program/store-unused' };
  expect(conclude((await explore(tested)).evidence)).toMatchObject(atFault);
  expect(conclude((await runCampaign(tested)).evidence)).toMatchObject(atFault);
  await expect(testProgram(tested)).rejects.toMatchObject({ code: 'program/store-unused' });
});

test('a session that fails in every run, and swallows the error, makes the verdict unknown', async () => {
  const fails = async (s: SessionHandle): Promise<void> => {
    const body = async (): Promise<never> => Promise.reject(new Error('no funds'));
    await s.transaction(async (t) => (await t.read('x'), body())).catch(() => null);
  };
  const tested = program({ sessions: { a: fails, b: writes }, invariant: () => true });
  const gap = ['session "a" failed in every run: Error: no funds'];
  expect(gaps((await explore(tested)).evidence)).toEqual(gap);
  expect(gaps((await runCampaign(tested, { runs: 9 })).evidence)).toEqual(gap);
});

test('one that is rolled back by itself, or only in some runs, is fine', async () => {
  const tested = program({
    sessions: {
      a: (s) => s.transaction(async (t) => (await t.read('x'), t.abort())),
      b: async (s) => {
        await s
          .transaction(async (t) => ((await t.read('x')) === 1 ? Promise.reject(new Error('late')) : null))
          .catch(() => null);
      },
      c: writes,
    },
    invariant: () => true,
  });
  expect(gaps((await explore(tested)).evidence)).toEqual(['satisfied']);
  expect(gaps((await runCampaign(tested, { runs: 50 })).evidence)).toEqual(['satisfied']);
});

describe('sessions that wait for each other', () => {
  /** `late` begins when `early` has ended. */
  const handedOver = (early: (s: SessionHandle) => unknown, late: (s: SessionHandle) => unknown) => {
    let done: () => void = () => {};
    let ended = Promise.resolve();
    return program({
      sessions: {
        early: async (s) => {
          ended = new Promise((resolve) => (done = resolve));
          await early(s);
          done();
        },
        late: async (s) => {
          await Promise.resolve();
          await ended;
          return late(s);
        },
      },
      invariant: () => true,
    });
  };

  test('never overlap where no read has a choice', async () => {
    const { evidence } = await runCampaign(
      handedOver(writes, (s) => s.read('y')),
      { runs: 20 },
    );
    expect(gaps(evidence)).toEqual(['sessions "early", "late" never overlapped in any run']);
  });

  test('overlap in which write a read sees: a stale read is possible', async () => {
    const { evidence, distinctStates } = await runCampaign(handedOver(writes, reads), { runs: 50 });
    expect(distinctStates).toBe(2);
    expect(gaps(evidence)).toEqual(['satisfied']);
    expect(evidence.assumed).toEqual([
      'what session "late" awaits beside the store (another session, a timer, a socket, a file) comes as it does here',
    ]);
  });
});

describe('a key that the invariant alone knows', () => {
  const buy = (s: SessionHandle) =>
    s.transaction(async (t) => {
      const stock = await t.read<number>('stock');
      if (stock > 0) await t.write('stock', stock - 1);
      else await t.write(['sold', 'out'].join('-'), true);
    });
  interface Final {
    readonly stock: number;
    readonly stok: number;
    readonly error: unknown;
    readonly 'sold-out': boolean;
  }
  type Invariant = (end: { readonly final: Final }) => boolean;
  const tested = (invariant: Invariant, stock = 2) =>
    program({ initial: { stock }, sessions: { ann: buy, ben: buy }, invariant: invariant as never });
  const gapOf = (key: string): string =>
    `the invariant looks at the key "${key}", which no session read or wrote and which is not in "initial"`;

  test.each<[string, Invariant, string[]]>([
    ['misspelt', ({ final }) => !(final['stok'] < 0), [gapOf('stok')]],
    ['misspelt, with a dot', ({ final }) => !(final.stok < 0), [gapOf('stok')]],
    ['misspelt, of the end', (end) => !(end.final['stok'] < 0), [gapOf('stok')]],
    ['tested to be absent', ({ final }) => final['error'] === undefined, ['satisfied']],
    ['tested not to be null', ({ final }) => final.error !== null || final.stock >= 0, ['satisfied']],
    ['of all objects', ({ final }) => final.hasOwnProperty('stock'), ['satisfied']],
    ['right', ({ final }) => final.stock >= 0, ['satisfied']],
  ])('%s', async (_name, invariant, expected) => {
    const atLevel = { level: 'serializable' } as const;
    expect(gaps((await explore(tested(invariant), atLevel)).evidence)).toEqual(expected);
    expect(gaps((await runCampaign(tested(invariant), { ...atLevel, runs: 3 })).evidence)).toEqual(expected);
  });

  test('a key that some run wrote is none, also where threads made it', async () => {
    const selling = tested(({ final }) => !(final['sold-out'] && final.stock > 0), 1);
    const atLevel = { level: 'serializable' } as const;
    expect(gaps((await explore(selling, atLevel)).evidence)).toEqual(['satisfied']);
    expect(gaps((await exploreShared(selling, atLevel, [exploreThread(selling, atLevel)])).evidence)).toEqual([
      'satisfied',
    ]);
    expect(gaps((await runCampaign(selling, { ...atLevel, runs: 3 })).evidence)).toEqual(['satisfied']);
  });
});

test('without an invariant, the verdict says that only errors were looked for', async () => {
  const tested = program({ sessions: { a: writes, b: reads } });
  const assumed = 'the program has no invariant: only errors of its sessions were looked for';
  expect(formatExploration(await explore(tested))).toContain(assumed);
  expect(formatResult(await runCampaign(tested, { runs: 5 }))).toContain(assumed);
});
