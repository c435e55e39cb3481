import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Fact, requireFunctionOfReads } from './function-of-reads.ts';
import { program } from './program.ts';
import type { Trial } from './sources.ts';

/** Runs a program of one session, whose only fact is what it returns. */
async function check(body: () => unknown): Promise<boolean> {
  const tested = program({ sessions: { a: async () => (await Promise.resolve(), body()) } });
  const run = async (whole: typeof tested): Promise<Fact[]> => [
    ['the result', String(await whole.sessions[0]?.(undefined as never))],
  ];
  const repeat = (trial: Trial): Promise<Fact[]> => run(trial.around(tested));
  return requireFunctionOfReads({ first: await run(tested), repeat, waitedOutside: [] });
}

const sources: readonly (readonly [string, () => unknown])[] = [
  ['Math.random', () => Math.random() < 0.5],
  ['Math.random', () => Math.random() < 0.000_001],
  ['Math.random', () => Math.random() < 0.999_999],
  ['Date.now', () => Date.now() > Date.UTC(2030, 0, 1)],
  ['Date.now', () => Math.floor(Date.now() / 86_400_000)],
  ['new Date()', () => new Date().getFullYear()],
  ['new Date()', () => Date().slice(0, 3)],
  ['performance.now', () => performance.now() < 5_000_000],
  ['process.hrtime.bigint', () => process.hrtime.bigint() < 5_000_000_000_000n],
  ['crypto.randomUUID', () => crypto.randomUUID() < '8'],
  ['crypto.randomUUID', () => randomUUID() < '8'],
  ['crypto.randomBytes', () => (randomBytes(1)[0] ?? 0) < 128],
  ['crypto.getRandomValues', () => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) < 128],
  ['crypto.randomInt', () => randomInt(2)],
];

test.each(sources)('%s that decides is found every time: %s', async (source, body) => {
  for (let i = 0; i < 8; i += 1) await expect(check(body)).rejects.toThrow(`it called ${source} in session "a":`);
});

test('a source whose values change nothing does no harm, and one beside it is named alone', async () => {
  const log: unknown[] = [];
  const noting = (): number => log.push([Date.now(), new Date(), Math.random(), randomUUID()]);
  await expect(check(() => noting() > 0)).resolves.toBe(true);
  await expect(check(() => noting() > 0 && randomInt(2))).rejects.toThrow('it called crypto.randomInt in session "a":');
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
  const counting = check(() => new Set(Array.from({ length: 100 }, () => randomUUID())).size);
  await expect(counting).resolves.toBe(true);
});

test('what differs without a call outlives a run', async () => {
  let runs = 0;
  await expect(check(() => (runs += 1))).rejects.toThrow('the result was 1, then 2; something outlives a run');
  await expect(check(() => Date.now() > 0 && (runs += 1))).rejects.toThrow('something outlives a run');
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
