import nodeCrypto, { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { fact, type Fact } from './fact.ts';
import { valueText } from './facts.ts';
import { requireFunctionOfReads } from './function-of-reads.ts';
import { program } from './program.ts';
import { Trial, watchSources, withTrials } from './sources.ts';

/** Runs a program of one session, whose only fact is what it returns. */
async function check(body: () => unknown): Promise<boolean> {
  const tested = program({ sessions: { a: async () => (await Promise.resolve(), body()) } });
  const run = async (whole: typeof tested): Promise<Fact[]> => [
    fact('the result', valueText(await whole.sessions[0]?.(undefined as never))),
  ];
  const repeat = (trial: Trial): Promise<Fact[]> => run(trial.around(tested));
  const first = await withTrials(() => repeat(new Trial()));
  return requireFunctionOfReads({ first, repeat, waitedOutside: [] });
}

const decisions: readonly (readonly [string, () => unknown])[] = [
  ['Math.random', () => Math.random() < 0.5],
  ['Math.random', () => Math.random() < 0.000_001],
  ['Math.random', () => Math.random() < 0.999_999],
  ['Math.random', () => (Math.random() < 0.5 ? 'left' : 'right')],
  ['Date.now', () => Date.now() > Date.UTC(2030, 0, 1)],
  ['new Date()', () => Date().slice(0, 3)],
  ['performance.now', () => performance.now() < 5_000_000],
  ['process.hrtime', () => process.hrtime()[0] < 5_000],
  ['process.hrtime.bigint', () => process.hrtime.bigint() < 5_000_000_000_000n],
  ['crypto.randomUUID', () => crypto.randomUUID() < '8'],
  ['crypto.randomUUID', () => randomUUID() < '8'],
  ['crypto.randomBytes', () => (randomBytes(1)[0] ?? 0) < 128],
  ['crypto.getRandomValues', () => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) < 128],
  ['crypto.randomInt', () => randomInt(2)],
];

test.each(decisions)('%s that decides is found every time: %s', async (source, body) => {
  for (let i = 0; i < 8; i += 1) await expect(check(body)).rejects.toThrow(`it called ${source} in session "a":`);
});

const values: readonly (() => unknown)[] = [
  () => Math.random(),
  () => Date.now(),
  () => new Date().toISOString(),
  () => Math.floor(Date.now() / 86_400_000),
  () => randomUUID(),
  () => randomBytes(16).toString('hex'),
  () => `order ${randomUUID()} of ${new Date().toISOString()}`,
  () => words.map(() => Math.random().toString(36).slice(2, 8)),
  () => new Set(words.map(() => Math.random().toString(36).slice(2, 8))).size === words.length,
  () => new Set(words.map(() => Math.floor(Math.random() * 1e9))).size === words.length,
  () =>
    new Set(words.map(() => 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replaceAll(/[xy]/g, digit))).size === words.length,
];
const words = [1, 2, 3, 4];
const digit = (): string => Math.floor(Math.random() * 16).toString(16);

test.each(values)('a value that is handed on decides nothing: %s', async (body) => {
  await expect(check(body)).resolves.toBe(true);
});

test('a source whose values change nothing does no harm, and one beside it is named alone', async () => {
  const log: unknown[] = [];
  const noting = (): number => log.push([Date.now(), new Date(), Math.random(), randomUUID()]);
  await expect(check(() => noting() > 0)).resolves.toBe(true);
  await expect(check(() => noting() > 0 && Math.random() < 0.5)).rejects.toThrow(
    'it called Math.random in session "a":',
  );
});

test('loops that wait for a moment or for a lucky draw end', async () => {
  const waiting = check(() => {
    const end = Date.now() + 20;
    while (Date.now() < end);
    while (Math.random() < 0.9);
    while (Math.random() > 0.1);
    return 'done';
  });
  await expect(waiting).resolves.toBe(true);
});

test('identifiers stay distinct', async () => {
  const counting = check(() => {
    const ids = Array.from({ length: 100 }, () => [randomUUID(), randomBytes(16).toString('hex')]).flat();
    return new Set(ids).size;
  });
  await expect(counting).resolves.toBe(true);
});

test.each(['low', 'high'] as const)('sessions that draw a ULID digit by digit get two: %s', async (side) => {
  const ulid = async (): Promise<string> =>
    await Promise.resolve(Array.from({ length: 16 }, () => crypto.getRandomValues(new Uint8Array(1))[0]).join());
  const { sessions } = new Trial(() => side).around(program({ sessions: { a: ulid, b: ulid } }));
  const [a, b] = await withTrials(() => Promise.all(sessions.map((body) => body(undefined as never))));
  expect(a).not.toBe(b);
});

test('what differs without a call outlives a run', async () => {
  let runs = 0;
  await expect(check(() => (runs += 1))).rejects.toThrow('the result was 1, then 2; something outlives a run');
  await expect(check(() => Date.now() > 0 && (runs += 1))).rejects.toThrow('something outlives a run');
});

test('a run has the same values each time, a part of the program its own, and a timer lets its time pass', async () => {
  const watch = watchSources();
  class Later extends Date {}
  const moments = async (): Promise<number[]> => {
    const [before, later] = [Date.now(), new Later().getTime()];
    const timer = await new Promise((resolve) => {
      const started = setTimeout(function (this: unknown) {
        resolve(this === started);
      }, 3);
    });
    expect(timer).toBe(true);
    return [before, later, Date.now(), Math.random(), nodeCrypto.randomInt(1_000_000)];
  };
  await withTrials(async () => {
    const tested = new Trial().around(
      program({ sessions: { a: () => moments(), b: () => moments() }, invariant: () => true }),
    );
    const [a, b] = tested.sessions.map((session) => session(undefined as never) as Promise<number[]>);
    const again = (await tested.sessions[0]?.(undefined as never)) as number[];
    expect(await a).toEqual(again);
    const [before = 0, later = 0, after = 0] = again;
    expect([later - before, after - later]).toEqual([3, 6]);
    watch.stop();
    expect(new Set([...((await a) ?? []), ...((await b) ?? [])]).size).toBe(10);
  });
});

test('what a program does not call is not forced', async () => {
  let others = 0;
  const ticking = setInterval(() => (others = Math.max(others, Date.now() - Date.UTC(2036, 0, 1))), 0);
  await check(async () => {
    await new Promise((resolve) => void setTimeout(resolve, 5));
    return Date.now() > 0;
  });
  clearInterval(ticking);
  expect(others).toBe(0);
  expect(new Date().constructor).toBe(Date);
  expect(Date.toString() + Math.random.toString()).not.toContain('trial');
});
