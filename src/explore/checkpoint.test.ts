/** An exploration that stops again and again, and continues each time from the checkpoint alone, finds what one that never stops finds. */
import { deserialize, serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { type Program, program, type SessionHandle } from '../program/index.ts';
import type { ExploreCheckpoint } from './checkpoint.ts';
import { explore } from './explore.ts';
import { exploreShared, exploreThread } from './sharing.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult } from './explore-result.ts';

/** MOIRAI_HEAVY=1: more places to stop. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

const increment = (session: SessionHandle): Promise<unknown> =>
  session.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1));
const twice = async (session: SessionHandle): Promise<void> => {
  await increment(session);
  await increment(session);
};
const copy = (session: SessionHandle, from: string, to: string): Promise<unknown> =>
  session.transaction(async (t) => {
    if ((await t.read(from)) === 0) await t.write(to, 1);
  });

/** New ones each time, as in another process. */
const programs = {
  'a counter': () =>
    program({
      initial: { n: 0 },
      sessions: { a: twice, b: increment, c: increment },
      invariant: ({ final }) => final['n'] === 4 || `an increment is lost: ${String(final['n'])}`,
    }),
  'write skew, with a mark': () =>
    program({
      initial: { x: 0, y: 0, z: 0 },
      sessions: {
        a: (s) => copy(s, 'x', 'y'),
        b: (s) => copy(s, 'y', 'x'),
        c: async (s) => {
          const [z, x] = [await s.read('z'), await s.read('x')];
          s.sometimes('c saw x', x === 1);
          return [z, x];
        },
      },
      invariant: ({ final }) => !(final['x'] === 1 && final['y'] === 1) || 'both were written',
    }),
  'a session that fails': () =>
    program({
      initial: { n: 0 },
      sessions: {
        a: twice,
        b: async (s) => {
          if ((await s.read<number>('n')) === 2) throw new Error('two');
          await increment(s);
        },
        'c d/e': async (s) => [await s.read('n'), await s.read('n')],
      },
      invariant: ({ results }) => results !== null,
    }),
  'nothing to find': () =>
    program({
      initial: { n: 0, m: null as null | { deep: number[] } },
      sessions: {
        a: twice,
        b: async (s) => [await s.read('n'), await s.read('m')],
        c: (s) => s.write('m', { deep: [1] }),
      },
      invariant: ({ results }) => results['b'] !== null,
    }),
} satisfies Record<string, () => Program>;
const levels: ConstrainingLevel[] = ['read-committed', 'causal', 'snapshot-isolation', 'serializable'];
const cases = (Object.keys(programs) as (keyof typeof programs)[]).flatMap((name) =>
  levels.map((level) => [name, level] as const),
);

/** What comes back from a file. */
const stored = (checkpoint: ExploreCheckpoint): ExploreCheckpoint =>
  deserialize(serialize(checkpoint)) as ExploreCheckpoint;

/** What must not depend on stops; of a token only what was chosen. */
function found(result: ExploreResult): object {
  const { histories, violations, runs, complete, marks, counterexamples, evidence } = result;
  const shown = counterexamples.map(({ message, anomaly, replay, history }) => ({ message, anomaly, replay, history }));
  return { histories, violations, runs, complete, marks, shown, evidence };
}

const kindsOf = ({ counterexamples }: ExploreResult): string[] =>
  counterexamples.map(({ message, anomaly }) => `${message}: ${anomaly}`);

interface Step {
  readonly result: ExploreResult;
  readonly checkpoint: ExploreCheckpoint;
}

async function step(tested: Program, resume: ExploreCheckpoint | null, options: ExploreOptions): Promise<Step> {
  let last: ExploreCheckpoint | null = null;
  const onCheckpoint = (checkpoint: ExploreCheckpoint): void => void (last = stored(checkpoint));
  const result = await explore(tested, { ...options, onCheckpoint, ...(resume === null ? {} : { resume }) });
  if (last === null) throw new Error('it gave no checkpoint');
  return { result, checkpoint: last };
}

/** Stops after every `every` histories. */
async function inPieces(make: () => Program, every: number, options: ExploreOptions): Promise<[ExploreResult, number]> {
  let resume: ExploreCheckpoint | null = null;
  for (let pieces = 1; ; pieces += 1) {
    const { result, checkpoint }: Step = await step(make(), resume, { ...options, historiesMax: every * pieces });
    if (result.complete) return [result, pieces];
    expect(result.stopped).toBe('histories');
    expect(result.histories).toBe(every * pieces);
    resume = checkpoint;
  }
}

/** Interrupts after so many turns of sessions, the next time after more. */
async function inTurns(make: () => Program, every: number, options: ExploreOptions): Promise<[ExploreResult, number]> {
  let resume: ExploreCheckpoint | null = null;
  for (let pieces = 1; ; pieces += 1) {
    const interruption = new AbortController();
    let turns = 0;
    // More each time: a piece that is too small for one run would be made again and again.
    const onTurn = (): void => void ((turns += 1) === every * pieces && interruption.abort());
    const { result, checkpoint }: Step = await step(make(), resume, {
      ...options,
      onTurn,
      signal: interruption.signal,
    });
    if (result.complete) return [result, pieces];
    expect(result.stopped).toBe('interrupted');
    resume = checkpoint;
  }
}

describe.each(cases)('%s at %s', (name, level) => {
  const make = programs[name];

  test.each(isHeavy ? [1, 2, 7] : [1, 7])('stopped after every %i histories', async (every) => {
    const whole = await explore(make(), { level });
    expect(whole.histories).toBeGreaterThan(2);
    const [result, pieces] = await inPieces(make, every, { level });
    expect(pieces).toBeGreaterThanOrEqual(Math.ceil(whole.histories / every));
    expect(found(result)).toEqual(found(whole));
  });

  test('interrupted in the middle of runs', async () => {
    const whole = await explore(make(), { level, reruns: true });
    const [result, pieces] = await inTurns(make, 10, { level, reruns: true });
    expect(pieces).toBeGreaterThan(1);
    expect(found(result)).toEqual(found(whole));
  });

  test('continued on threads, and threads continued on one', async () => {
    const whole = found(await explore(make(), { level }));
    const half = await step(make(), null, { level, historiesMax: 5 });
    const threads = [exploreThread(make(), { level }), exploreThread(make(), { level })];
    expect(found(await exploreShared(make(), { level, resume: half.checkpoint }, threads))).toEqual(whole);
    let last: ExploreCheckpoint | null = null;
    const onCheckpoint = (checkpoint: ExploreCheckpoint): void => void (last = stored(checkpoint));
    await exploreShared(make(), { level, historiesMax: 5, onCheckpoint }, threads);
    expect(found((await step(make(), last, { level })).result)).toEqual(whole);
  });

  test('a complete one is known as it was, without a run', async () => {
    const { result, checkpoint } = await step(make(), null, { level });
    expect(checkpoint.waiting).toEqual([]);
    const tested = make();
    const silent = { ...tested, sessions: tested.sessions.map(() => () => expect.unreachable()) };
    const again = await step(silent, checkpoint, { level });
    expect(found(again.result)).toEqual(found(result));
    expect(again.checkpoint).toEqual(checkpoint);
  });
});

test('threads that are interrupted with work under way lose none of it', async () => {
  const big = (): Program =>
    program({
      initial: { n: 0 },
      sessions: { a: twice, b: twice, c: increment },
      invariant: ({ final }) => final['n'] === 5 || 'an increment is lost',
    });
  const whole = await explore(big(), { level: 'read-committed' });
  expect(whole.histories).toBeGreaterThan(600);
  for (const stopAt of [2, 3, 5]) {
    const interruption = new AbortController();
    let jobs = 0;
    const work = exploreThread(big(), { level: 'read-committed' });
    const thread = async (job: Parameters<typeof work>[0]): ReturnType<typeof work> => {
      if ((jobs += 1) < stopAt) return work({ ...job, timeMs: 0 });
      interruption.abort();
      return new Promise<never>(() => {});
    };
    let last: ExploreCheckpoint | null = null;
    const onCheckpoint = (checkpoint: ExploreCheckpoint): void => void (last = stored(checkpoint));
    const options = { level: 'read-committed', signal: interruption.signal, onCheckpoint } as const;
    expect((await exploreShared(big(), options, [thread])).stopped).toBe('interrupted');
    const { result } = await step(big(), last, { level: 'read-committed' });
    // Of so many violations, which are kept depends on the order in which they are found.
    expect({ ...found(result), shown: kindsOf(result) }).toEqual({ ...found(whole), shown: kindsOf(whole) });
  }
});

test('checkpoints in between are as good as the last', async () => {
  const make = programs['a counter'];
  const whole = found(await explore(make(), {}));
  const all: ExploreCheckpoint[] = [];
  const slow = { ...make(), invariant: slowly(make()) };
  await explore(slow, { checkpointEveryMs: 0, onCheckpoint: (checkpoint) => all.push(stored(checkpoint)) });
  expect(all.length).toBeGreaterThan(3);
  for (const checkpoint of all) expect(found((await step(make(), checkpoint, {})).result)).toEqual(whole);
});

/** 5 ms a history. */
function slowly({ invariant }: Program): Program['invariant'] {
  return async (end) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return invariant(end);
  };
}

test('a history whose search gave up is still to be judged: a larger limit continues', async () => {
  const access = (reads: string[], write: string) => (s: SessionHandle) =>
    s.transaction(async (t) => {
      for (const key of reads) await t.read(key);
      await t.write(write, 1);
    });
  const make = (): Program =>
    program({
      initial: { x: 0, y: 0, z: 0 },
      sessions: {
        a: access(['x'], 'y'),
        b: access(['y'], 'x'),
        c: access(['x', 'y'], 'z'),
        d: access(['z'], 'x'),
        e: access(['x'], 'z'),
      },
      invariant: ({ results }) => results !== null,
    });
  const level = 'snapshot-isolation';
  const whole = await explore(make(), { level });
  let { result, checkpoint } = await step(make(), null, { level, stepsMax: 0 });
  expect(result).toMatchObject({ stopped: 'search', complete: false });
  for (let stepsMax = 1; !result.complete; stepsMax += 1) {
    ({ result, checkpoint } = await step(make(), checkpoint, { level, stepsMax }));
    if (!result.complete) expect(result.stopped).toBe('search');
  }
  expect(found(result)).toEqual(found(whole));
});

test('within a run: that run is still to be made', async () => {
  const make = programs['a counter'];
  const tested = make();
  let now: () => ExploreCheckpoint | null = () => null;
  const seen: ExploreCheckpoint[] = [];
  let judged = 0;
  const watching: Program = {
    ...tested,
    invariant: (end) => {
      const checkpoint = (judged += 1) % 7 === 0 ? now() : null;
      if (checkpoint !== null) seen.push(stored(checkpoint));
      return tested.invariant(end);
    },
  };
  await explore(watching, { onStart: (_soFar, checkpoint) => (now = checkpoint) });
  expect(seen.length).toBeGreaterThan(3);
  const whole = found(await explore(make(), {}));
  for (const checkpoint of seen) expect(found((await step(make(), checkpoint, {})).result)).toEqual(whole);
});

test('more histories than it may list now: it stops before the next', async () => {
  const make = programs['a counter'];
  const { checkpoint } = await step(make(), null, { historiesMax: 9 });
  const { result } = await step(make(), checkpoint, { historiesMax: 4 });
  expect(result).toMatchObject({ histories: 9, stopped: 'histories', complete: false });
});

describe('refused', () => {
  const make = programs['a counter'];
  const refusal = (text: string): object =>
    expect.objectContaining({ code: 'explore/checkpoint', message: expect.stringContaining(text) });

  test.each<[string, () => Program, ExploreOptions, string]>([
    ['another level', make, { level: 'serializable' }, 'it is of level causal, and --level is serializable'],
    ['another base', make, { base: 'any' }, 'it is of base causal, and --base is any'],
    ['other runs', make, { reruns: true }, 'it was written without --rerun'],
    ['another program', programs['nothing to find'], {}, 'other sessions or another initial state'],
    [
      'another initial state',
      () => program({ initial: { n: 1 }, sessions: { a: twice, b: increment, c: increment }, invariant: () => true }),
      {},
      'other sessions or another initial state',
    ],
  ])('%s', async (_name, other, options, text) => {
    const { checkpoint } = await step(make(), null, { historiesMax: 3 });
    await expect(step(other(), checkpoint, options)).rejects.toThrow(refusal(text));
    const threads = [exploreThread(other(), options)];
    await expect(exploreShared(other(), { ...options, resume: checkpoint }, threads)).rejects.toThrow(refusal(text));
  });

  test.each<ExploreOptions>([{ failsFast: true }, { replay: 'a/0:_' }])('with %j', async (options) => {
    await expect(explore(make(), { ...options, onCheckpoint: () => {} })).rejects.toMatchObject({
      code: 'option/checkpoint',
    });
  });
});
