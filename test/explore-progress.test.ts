/** How many histories to expect, before and while they are explored; several threads find what one finds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { clients } from '../examples/pldi2023/applications.ts';
import { forEveryChoiceAsync } from '../src/base/index.ts';
import {
  estimateHistories,
  explore,
  type ExploreJob,
  type ExplorePart,
  type ExploreProgress,
  exploreShared,
  exploreThread,
} from '../src/explore/index.ts';
import type { Program } from '../src/program/index.ts';
import { withInvariant } from './support/explored.ts';
import { smallProgram } from './support/small-program.ts';

test('the estimate is right on average: every draw, weighted by its chance, gives the exact number', async () => {
  const tested = smallProgram('[rx wy];[ry wx] || [rx wy];[ry wx] || [rx wy]');
  for (const level of ['causal', 'serializable'] as const) {
    const { runs, histories } = await explore(tested, { level });
    let expected = 0;
    let atLevel = 0;
    await forEveryChoiceAsync(async (chooser) => {
      let chance = 1;
      const noting = {
        choose: (options: number): number => {
          chance /= options;
          return chooser.choose(options);
        },
      };
      const probe = await estimateHistories(tested, { level, probes: 1, chooser: noting });
      expected += chance * (probe?.runs ?? Number.NaN);
      atLevel += chance * (probe?.histories ?? Number.NaN);
    });
    expect(expected).toBeCloseTo(runs, 6);
    expect(atLevel).toBeCloseTo(histories, 6);
  }
});

test('progress says how many runs to expect, and at the end that is how many there were', async () => {
  const tested = clients['shopping cart 2'] as Program;
  const told: ExploreProgress[] = [];
  // Whenever a thread gives back a part of the work, progress is told.
  const { runs, estimate } = await exploreShared(
    tested,
    { onProgress: (progress) => told.push(progress), estimateAfterMs: 0 },
    [ofShortJobs(tested)],
  );
  expect(runs).toBe(2_934);
  const estimated = told.filter(({ expectedRuns }) => expectedRuns !== null);
  expect(estimated.length).toBeGreaterThan(10);
  for (const { runs: done, share, expectedRuns } of estimated) {
    expect(share).toBeLessThan(1 + 1e-9);
    expect(expectedRuns).toBeCloseTo(done + (1 - share) * (estimate?.runs ?? Number.NaN), 3);
  }
  expect(told.at(-1)).toMatchObject({ runs, expectedRuns: expect.closeTo(runs, 3) });
});

test('nothing is said of what to expect before it was estimated', async () => {
  const tested = clients['shopping cart 2'] as Program;
  const told: ExploreProgress[] = [];
  const { estimate } = await exploreShared(tested, { onProgress: (progress) => told.push(progress) }, [
    ofShortJobs(tested),
  ]);
  expect(estimate).toBeNull();
  expect(new Set(told.map(({ expectedRuns }) => expectedRuns))).toEqual(new Set([null]));
});

describe('several threads', () => {
  test.each([1, 2, 5])('%i threads find what one finds alone', async (count) => {
    let violations = 0;
    for (const [name, level] of [
      ['courseware 1', 'causal'],
      ['shopping cart 1', 'snapshot-isolation'],
      ['tpc-c 3', 'serializable'],
    ] as const) {
      const tested = withInvariant(clients[name] as Program);
      const alone = await explore(tested, { level });
      const thread = (): ((job: ExploreJob) => Promise<ExplorePart>) => {
        const work = exploreThread(tested, { level });
        // What goes between threads is cloned.
        return (job) => work(structuredClone(job)).then((part) => structuredClone(part));
      };
      const shared = await exploreShared(
        tested,
        { level },
        Array.from({ length: count }, () => thread()),
      );
      expect(shared).toEqual(alone);
      expect(alone.runs).toBeGreaterThan(200);
      violations += alone.violations;
    }
    expect(violations).toBeGreaterThan(0);
  });

  test('threads stop at budgets and pass on what is thrown', async () => {
    const tested = clients['shopping cart 2'] as Program;
    const thread = ofShortJobs(tested);
    const stopped = await exploreShared(tested, { historiesMax: 500 }, [thread]);
    expect(stopped).toMatchObject({ complete: false, stopped: 'histories' });
    expect(stopped.histories).toBeGreaterThanOrEqual(500);
    expect(await exploreShared(tested, { timeMaxMs: 0 }, [thread])).toMatchObject({ complete: false, stopped: 'time' });
    const slow = async (job: ExploreJob): Promise<ExplorePart> => {
      await sleep(700);
      return thread(job);
    };
    expect(await exploreShared(tested, { timeMaxMs: 600 }, [slow])).toMatchObject({ complete: false, stopped: 'time' });
    await expect(exploreShared(tested, {}, [() => Promise.reject(new Error('gone'))])).rejects.toThrow('gone');
  });

  test('somebody has to do the work', async () => {
    const tested = clients['shopping cart 2'] as Program;
    await expect(exploreShared(tested, {}, [])).rejects.toMatchObject({ code: 'option/threads' });
  });
});

/** A thread that gives back what is left as soon as it can. */
function ofShortJobs(tested: Program): (job: ExploreJob) => Promise<ExplorePart> {
  const work = exploreThread(tested, {});
  return (job) => work({ ...job, timeMs: 0 });
}
