import { expect, test } from 'vitest';
import { shareJobs } from './share-jobs.ts';

/** Doubles a number, one microtask later for each of its units. */
async function double(job: number): Promise<number> {
  for (let i = 0; i < job; i += 1) await Promise.resolve();
  return 2 * job;
}

test.each([1, 2, 5])('%i workers do each job once', async (count) => {
  const waiting = [5, 1, 4, 2, 3];
  const made = new Map<number, number>();
  const workers = Array.from({ length: count }, () => double);
  const left = await shareJobs(workers, {
    next: () => waiting.shift() ?? null,
    done: (job, answer) => void made.set(job, answer),
  });
  expect(left).toEqual([]);
  expect([...made].toSorted(([a], [b]) => a - b)).toEqual([1, 2, 3, 4, 5].map((job) => [job, 2 * job]));
});

test('a job that comes of another is given to a worker that found none', async () => {
  const waiting = [3];
  let [underWay, most] = [0, 0];
  const worker = async (job: number): Promise<number> => {
    most = Math.max(most, (underWay += 1));
    await double(job);
    underWay -= 1;
    return job;
  };
  const order: number[] = [];
  await shareJobs([worker, worker], {
    next: () => waiting.shift() ?? null,
    done: (job) => {
      order.push(job);
      if (job === 3) waiting.push(2, 1);
    },
  });
  expect(order).toEqual([3, 1, 2]);
  expect(most).toBe(2);
});

test('it fails as its first worker does, and what others bring is then ignored', async () => {
  const waiting = [1, 2];
  const done: number[] = [];
  const fails = (job: number): Promise<number> => (job === 1 ? Promise.reject(new Error('gone')) : double(job));
  const sharing = shareJobs([fails, fails], {
    next: () => waiting.shift() ?? null,
    done: (job) => void done.push(job),
  });
  await expect(sharing).rejects.toThrow('gone');
  await double(10);
  expect(done).toEqual([]);
});

test('a job that does not end is returned once the work is interrupted', async () => {
  const waiting = ['ends', 'hangs'];
  const interruption = new AbortController();
  const done: string[] = [];
  const worker = (job: string): Promise<string> =>
    job === 'ends' ? Promise.resolve(job) : new Promise(() => interruption.abort());
  const jobs = { next: () => waiting.shift() ?? null, done: (job: string) => void done.push(job) };
  const left = await shareJobs([worker, worker], jobs, { deadlineMs: Infinity, signal: interruption.signal });
  expect({ left, done }).toEqual({ left: ['hangs'], done: ['ends'] });
});

test('without a worker no job can be done', async () => {
  const sharing = shareJobs([], { next: () => null, done: () => {} });
  await expect(sharing).rejects.toMatchObject({ code: 'option/threads' });
});
