import { inspect, isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { explore, exploreShared, exploreThread, formatExploration } from '../src/explore/index.ts';
import { program, type SessionHandle } from '../src/program/index.ts';
import { testProgram, formatResult, runCampaign } from '../src/campaign/index.ts';
import { conclude, exitCodeOf, gapText, noAnswers, type Evidence } from '../src/evidence/index.ts';

const reads = (s: SessionHandle) => s.read('x');
const writes = (s: SessionHandle) => s.write('x', 1);
const idle = (): number => 1;
const looks = ({ final }: { final: object }): boolean => typeof final === 'object';

function gaps(evidence: Evidence): string[] {
  const conclusion = conclude(evidence);
  return conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [conclusion.kind];
}

test('the evidence of sessions is counted', async () => {
  const tested = program({ sessions: { a: writes, b: reads }, invariant: looks });
  const { evidence } = await explore(tested);
  const each = {
    runs: 2,
    operations: 2,
    failedRuns: 0,
    failure: null,
    lostRuns: 0,
    loss: null,
    rolledBackRuns: 0,
    rolledBack: null,
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
  const tested = program({ sessions: { busy: writes, other: reads, idle }, invariant: looks });
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
  const tested = program({ sessions: { a: fails, b: writes }, invariant: looks });
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
    invariant: looks,
  });
  expect(gaps((await explore(tested)).evidence)).toEqual(['satisfied']);
  expect(gaps((await runCampaign(tested, { runs: 50 })).evidence)).toEqual(['satisfied']);
});

test('a session whose transaction an error rolls back in every run is named, also where it writes of the error', async () => {
  const broken = async (s: SessionHandle): Promise<void> => {
    await s
      .transaction(async (t) => {
        if (typeof (await t.read('x')) !== 'object') throw new Error('no account');
      })
      .catch(() => s.write('log', 1));
  };
  const at7 = async (s: SessionHandle): Promise<void> => {
    await s
      .transaction(async (t) => ((await t.read('x')) === 7 ? t.write('y', 1) : Promise.reject(new Error('not yet'))))
      .catch(() => s.write('log', 2));
  };
  const tested = program({
    initial: { x: 0 },
    sessions: { broken, at7, c: (s) => s.write('x', 7) },
    invariant: ({ final }) => final['x'] === 7,
  });
  const assumed = ['session "broken": its transaction was rolled back by Error: no account in every run'];
  const results = [
    await explore(tested),
    await exploreShared(tested, {}, [exploreThread(tested, {})]),
    await runCampaign(tested, { runs: 50 }),
  ];
  for (const { evidence } of results) expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed });
});

test('transactions that a session starts at the same time run one after another, which is assumed', async () => {
  const add = (s: SessionHandle) => s.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1));
  const tested = program({
    initial: { n: 0 },
    sessions: { a: (s) => Promise.all([add(s), add(s)]), b: (s) => s.read('n') },
    invariant: ({ final }) => final['n'] === 2,
  });
  const assumed = [
    'session "a" has one connection: transactions that it starts at the same time run one after another',
  ];
  const results = [
    await explore(tested),
    await exploreShared(tested, {}, [exploreThread(tested, {})]),
    await runCampaign(tested, { runs: 9 }),
  ];
  for (const { evidence } of results) expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed });
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
      invariant: looks,
    });
  };

  test('never overlap where no read has a choice', async () => {
    const { evidence } = await runCampaign(
      handedOver(writes, (s) => s.read('y')),
      { runs: 20 },
    );
    expect(gaps(evidence)).toEqual([
      'sessions "early", "late" never overlapped in any run; session "late" awaits something beside the store, such as another session or a lock ' +
        'in memory, which does not keep two servers apart: let the sessions run without it',
    ]);
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
  type Invariant = (end: { readonly final: any }) => unknown; // oxlint-disable-line no-explicit-any
  const tested = (invariant: Invariant, initial: Record<string, unknown> = { stock: 2 }) =>
    program({ initial, sessions: { ann: buy, ben: buy }, invariant: invariant as never });
  const atLevel = { level: 'serializable' } as const;
  const bothOf = async (it: ReturnType<typeof tested>): Promise<Evidence[]> => [
    (await explore(it, atLevel)).evidence,
    (await runCampaign(it, { ...atLevel, runs: 3 })).evidence,
  ];
  const gapOf = (key: string, similar: string): string =>
    `the invariant looks at the key "${key}", which no session read or wrote and which is not in "initial": did you mean "${similar}"? A key that must stay absent is null in "initial"`;
  const assumedOf = (key: string): string[] => [
    `the invariant looks at the key "${key}", which no run read or wrote: it tests that it is absent`,
  ];
  const left = (state: Record<string, number>): number => state['stok'] as number;

  test.each<[string, Invariant, string]>([
    ['with brackets', ({ final }) => !(final['stok'] < 0), 'stok'],
    ['with a dot', ({ final }) => !(final.stok < 0), 'stok'],
    ['of the end', (end) => !(end.final['stok'] < 0), 'stok'],
    ['destructured', ({ final: { stok } }) => !(stok < 0), 'stok'],
    [
      'destructured, with a default',
      ({ final }) => {
        const { stock, stocks = 0 } = final;
        return stock + stocks <= 2;
      },
      'stocks',
    ],
    ['by a helper', ({ final }) => !(left(final) < 0), 'stok'],
    ['looked for', ({ final }) => !('stok' in final), 'stok'],
    ['its own', ({ final }) => !Object.hasOwn(final, 'stok'), 'stok'],
    ['of a copy', ({ final }) => !({ ...final }.stok < 0), 'stok'],
    ['of a copy by JSON', ({ final }) => !(JSON.parse(JSON.stringify(final)).stok < 0), 'stok'],
    ['in capitals', ({ final }) => !(final.Stock < 0), 'Stock'],
    ['before a structured clone', ({ final }) => !final.stok && structuredClone(final).stock >= 0, 'stok'],
    ['shortened', ({ final }) => !(final.sto < 0), 'sto'],
  ])('misspelt, %s', async (_name, invariant, key) => {
    for (const evidence of await bothOf(tested(invariant))) expect(gaps(evidence)).toEqual([gapOf(key, 'stock')]);
  });

  test.each<[string, Invariant]>([
    ['tested to be absent', ({ final }) => final['stok'] === undefined],
    ['tested not to be null', ({ final }) => final.stok !== null && final.stock >= 0],
    ['of all objects', ({ final }) => final.hasOwnProperty('stock') && !final.toJSON && !final.then],
    ['right', ({ final }) => final.stock >= 0],
    ['counted', ({ final }) => Object.values(final).length > 1 && JSON.stringify({ ...final }) !== '{}'],
    [
      'compared',
      ({ final }) => {
        expect(final).toEqual({ ...final });
        expect(final).toMatchObject({ ...final });
        return isDeepStrictEqual(final, { ...final }) && final.stock >= 0;
      },
    ],
    ['printed', ({ final }) => /^\{ .*stock: .+ \}$/s.test(inspect(final))],
    ['copied, and asked for a method', ({ final }) => ({ ...final, stocks: () => final.stock >= 0 }).stocks()],
    ['copied, and asked for a part of a value', ({ final }) => ({ ...final }).log.stoc === 1],
    ['cloned', ({ final }) => structuredClone(final).stock === final.stock && final.stock >= 0],
  ])('%s', async (_name, invariant) => {
    for (const evidence of await bothOf(tested(invariant, { stock: 2, log: { stoc: 1 } })))
      expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: [] });
  });

  test.each<[string, Invariant, string]>([
    ['a forbidden state', ({ final }) => !final['conflict/ann'], 'conflict/ann'],
    ['an error', ({ final }) => (final['error'] ? String(final['error']) : true), 'error'],
    ['the empty key', ({ final }) => !final[''], ''],
    ['a mark of a key that exists', ({ final }) => !final['stock/negative'], 'stock/negative'],
  ])('that never was, %s, is assumed to be tested for absence', async (_name, invariant, key) => {
    for (const evidence of await bothOf(tested(invariant)))
      expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: assumedOf(key) });
  });

  test('the end of a series of numbered keys is no misspelling', async () => {
    const counts: Invariant = ({ final }) => {
      let length = 0;
      while (final[`log/${length}`]) length += 1;
      return length === 2;
    };
    for (const evidence of await bothOf(tested(counts, { stock: 2, 'log/0': 'a', 'log/1': 'b' })))
      expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: assumedOf('log/2') });
  });

  test('null in "initial" says that it is right', async () => {
    for (const evidence of await bothOf(tested(({ final }) => !final.stok, { stock: 2, stok: null })))
      expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: [] });
  });

  test('a key that some run wrote is none, also where threads made it', async () => {
    const selling = tested(({ final }) => !(final['sold-out'] && final.stock > 0), { stock: 1 });
    const shared = await exploreShared(selling, atLevel, [exploreThread(selling, atLevel)]);
    for (const evidence of [...(await bothOf(selling)), shared.evidence])
      expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: [] });
  });
});

describe('an invariant that cannot fail', () => {
  type Invariant = (end: { readonly final: any; readonly results: any }) => boolean | Promise<boolean>; // oxlint-disable-line no-explicit-any
  const buy = (s: SessionHandle) =>
    s.transaction(async (t) => {
      const stock = await t.read<number>('stock');
      await t.write('stock', stock - 1);
      if (stock < 0) await t.write('audit', 'negative');
      return stock > 0;
    });
  const tested = (invariant: Invariant) =>
    program({
      initial: { stock: 2, order: { left: 1, lines: ['a'] }, paid: false },
      sessions: { ann: buy, ben: buy },
      invariant,
    });
  const assumedOf = async (invariant: Invariant): Promise<(readonly string[])[]> => {
    const { evidence } = await explore(tested(invariant), { level: 'serializable' });
    const campaign = await runCampaign(tested(invariant), { level: 'serializable', runs: 3 });
    return [evidence, campaign.evidence].map((each) => {
      const conclusion = conclude(each);
      return conclusion.kind === 'satisfied' ? conclusion.assumed : [conclusion.kind];
    });
  };
  const holdsAnyway = (where: string): string[] => [
    `the invariant looks at what it should, although it holds whatever is changed in ${where}`,
  ];
  const ofFinal = 'the final state';
  const ofResults = 'what sessions return';

  test.each<[string, Invariant, string]>([
    ['a part of a number', ({ final }) => !(final.stock.left < 0), ofFinal],
    ['a part that a record has not', ({ final }) => !(final.order.lft < 0), ofFinal],
    ['a number and a text', ({ final }) => final.stock !== '9', ofFinal],
    ['a part of what sessions return', ({ results }) => !(results.ann.ok === false), ofResults],
    [
      'one or the other',
      ({ final, results }) => final.stock.left !== 1 || results.ann.ok,
      `${ofFinal} or ${ofResults}`,
    ],
    ['nothing of a list that always has a length', ({ final }) => final.order.lines.length >= 0, ofFinal],
    ['what it awaits', async ({ final }) => !((await Promise.resolve(final.stock)).left < 0), ofFinal],
    ['copies', ({ final }) => !(structuredClone(final).order.lft < 0), ofFinal],
  ])('is named: it compares %s', async (_what, invariant, where) => {
    for (const assumed of await assumedOf(invariant)) expect(assumed).toEqual(holdsAnyway(where));
  });

  test.each<[string, Invariant]>([
    ['a bound', ({ final }) => final.stock >= 0],
    ['a number that no run had', ({ final }) => final.stock !== 4711],
    ['a part', ({ final }) => !(final.order.left > 1)],
    ['a list', ({ final }) => new Set(final.order.lines).size === final.order.lines.length],
    ['a flag', ({ final }) => !final.paid],
    ['what sessions return', ({ results }) => results.ann || results.ben],
    ['an expectation', ({ final }) => (expect(final.stock).toBeGreaterThanOrEqual(0), true)],
    ['what it awaits', async ({ final }) => (await Promise.resolve(final.stock)) >= 0],
    ['what is written outside', ({ final }) => seen.push(final.stock) > 0],
    [
      'what a circle may never end',
      ({ final }) => {
        let at = 'stock';
        while (at === 'stock') at = String(final[at]);
        return true;
      },
    ],
    ['how many lines there may be', ({ final }) => final.order.lines.length <= 50],
    ['how long a text may be', ({ final }) => final.order.lines.every((line: string) => line.length <= 40)],
    ['how long it may be at most', ({ final }) => final.order.lines.every((line: string) => line.length < 9_999)],
    ['a constant of its module', ({ final }) => final.paid !== never],
    ['what a helper follows in a circle', ({ final }) => chainOf(final.order) === 0],
  ])('is none where it compares %s', async (_what, invariant) => {
    for (const assumed of await assumedOf(invariant)) expect(assumed).toEqual([]);
  });
  const seen: number[] = [];
  const never = ['oversold'].join('');
  /** Ends for every state that the sessions reach. */
  const chainOf = (order: { readonly left: number }): number => {
    let links = 0;
    while (order.left !== 1) links += 1;
    return links;
  };

  test.each<[string, Invariant]>([
    ['nothing', () => true],
    ['what is written outside', () => seen.push(1) > 0],
  ])('that asks for neither the final state nor results is named: %s', async (_what, invariant) => {
    const clause = 'the invariant looks at neither the final state nor what sessions return';
    for (const assumed of await assumedOf(invariant)) expect(assumed).toEqual([clause]);
  });

  test('over what sessions return, who return nothing, is named', async () => {
    const sell = async (s: SessionHandle): Promise<void> => void (await buy(s));
    const invariant: Invariant = ({ results }) => Object.values<any>(results).every((each) => !each || each.n <= 2); // oxlint-disable-line no-explicit-any
    const { evidence } = await runCampaign(
      { ...tested(invariant), sessions: [sell, sell] },
      { level: 'serializable', runs: 3 },
    );
    const clause =
      'the invariant looks only at what sessions return, and they returned nothing in the runs that were looked at';
    expect(conclude(evidence)).toMatchObject({ kind: 'satisfied', assumed: [clause] });
  });

  test('a key that the text of a session names, and that no run wrote, is named', async () => {
    const clause = 'the invariant looks at the key "audit", which no run read or wrote: it tests that it is absent';
    for (const assumed of await assumedOf(({ final }) => !final.audit)) expect(assumed).toEqual([clause]);
  });
});

describe('memory that sessions of keys share', () => {
  const looksAt = (session: string): string =>
    `the sessions run in one process, where session "${session}" looks at memory that another changes`;

  test('is named by test where a session does something else after the same reads', async () => {
    let isBusy = false;
    const session = async (s: SessionHandle): Promise<string> => {
      await s.read('x');
      if (isBusy) return 'busy';
      isBusy = true;
      await s.transaction(async (t) => t.write('x', 1));
      isBusy = false;
      return 'done';
    };
    const tested = program({ initial: { x: 0 }, sessions: { a: session, b: session }, invariant: looks });
    const { evidence } = await runCampaign(tested, { runs: 50 });
    expect(conclude(evidence)).toEqual({ kind: 'satisfied', assumed: [looksAt('a'), looksAt('b')] });
  });

  test('is seen in a run in which the last session goes first', async () => {
    let hasBegun = false;
    const a = async (s: SessionHandle): Promise<void> => {
      hasBegun = false;
      await s.read('x');
      hasBegun = true;
      await s.write('x', 1);
    };
    const b = async (s: SessionHandle): Promise<void> => {
      await s.read('y');
      await s.write(hasBegun ? 'y' : 'z', 1);
    };
    const tested = program({ initial: { x: 0, y: 0 }, sessions: { a, b }, invariant: looks });
    const { evidence } = await runCampaign(tested, { runs: 1 });
    expect(evidence.assumed).toEqual([looksAt('b')]);
  });

  test('is looked for in vain where a session reads until something comes', async () => {
    const a = async (s: SessionHandle): Promise<void> => {
      while ((await s.read('x')) !== 1);
    };
    const tested = program({ initial: { x: 0 }, sessions: { a, b: writes }, invariant: looks });
    const { timeout, evidence } = await runCampaign(tested, { runs: 5, timeoutMs: 600_000 });
    expect({ timeout, assumed: evidence.assumed }).toEqual({ timeout: null, assumed: [] });
  });

  test('is none where a transaction counts its attempts', async () => {
    const session = async (s: SessionHandle): Promise<number> => {
      let attempts = 0;
      await s.transaction(async (t) => {
        attempts += 1;
        await t.write('x', ((await t.read<number>('x')) ?? 0) + attempts);
      });
      return attempts;
    };
    const tested = program({ initial: { x: 0 }, sessions: { a: session, b: session }, invariant: looks });
    const { evidence } = await runCampaign(tested, { runs: 100, level: 'snapshot-isolation', abortRate: 0.3 });
    expect(evidence.assumed).toEqual([]);
  });
});

describe('a result of a session that there is not', () => {
  const named = (invariant: (end: { readonly results: Record<string, unknown> }) => boolean) =>
    program({ sessions: { ann: reads, bob: writes }, invariant });

  test.each([
    ['', named(({ results }) => !(results['anne'] && results['bob']))],
    [', destructured', named(({ results: { anne = 0 } }) => anne !== 1)],
  ])('is the fault of the program%s', async (_how, tested) => {
    const fault = {
      code: 'program/session-name',
      message: 'the invariant looks at the result of session "anne"; the sessions are "ann", "bob"',
    };
    await expect(explore(tested)).rejects.toMatchObject(fault);
    await expect(runCampaign(tested, { runs: 3 })).rejects.toMatchObject(fault);
  });

  test('what any object is asked is none', async () => {
    const tested = named(({ results }) => {
      expect(results).toEqual({ ...results });
      expect(structuredClone(results)).toStrictEqual(results);
      return !('anne' in results) && isDeepStrictEqual(results, { ...results }) && !results['toJSON'];
    });
    expect(gaps((await explore(tested)).evidence)).toEqual(['satisfied']);
  });
});

test('a plain read after the last error of a session commits nothing', async () => {
  const adds = async (s: SessionHandle): Promise<unknown> => {
    await s
      .transaction(async (t) => {
        const cart = await t.read<{ items: string[] }>('cart');
        await t.write('cart', [...cart.items, 'lamp']);
      })
      .catch(() => null);
    return s.read('cart');
  };
  const tested = program({ initial: { cart: [] }, sessions: { a: adds, b: writes }, invariant: looks });
  const failed = [expect.stringMatching(/^session "a" failed in every run: TypeError: /)];
  expect(gaps((await explore(tested)).evidence)).toEqual(failed);
  expect(gaps((await runCampaign(tested, { runs: 9 })).evidence)).toEqual(failed);
});

test('one that commits a write beside its error has not failed', async () => {
  const tries = async (s: SessionHandle): Promise<unknown> => {
    await s.write('tries', 1);
    await s.transaction(() => Promise.reject(new Error('refused'))).catch(() => null);
    return s.read('x');
  };
  const tested = program({ sessions: { a: tries, b: writes }, invariant: looks });
  expect(gaps((await explore(tested)).evidence)).toEqual(['satisfied']);
});

test('without an invariant, the verdict says that only errors were looked for', async () => {
  const tested = program({ sessions: { a: writes, b: reads } });
  const assumed = 'the program has no invariant: only errors of its sessions were looked for';
  expect(formatExploration(await explore(tested))).toContain(assumed);
  expect(formatResult(await runCampaign(tested, { runs: 5 }))).toContain(assumed);
});
