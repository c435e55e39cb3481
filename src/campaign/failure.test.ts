import { expect, test } from 'vitest';
import { program } from '../program/index.ts';
import { runCampaign } from './campaign.ts';

test('the reads that did not see the newest write are placed in the history', async () => {
  const skew = program({
    initial: { x: 1, y: 1 },
    sessions: {
      a: (session) =>
        session.transaction(async (t) => {
          await t.write('z', 0);
          if ((await t.read('x')) + (await t.read('y')) > 1) await t.write('x', 0);
        }),
      b: (session) =>
        session.transaction(async (t) => {
          if ((await t.read('x')) + (await t.read('y')) > 1) await t.write('y', 0);
        }),
    },
    invariant: ({ final }) => final['x'] + final['y'] > 0,
  });
  const { failure } = await runCampaign(skew, { level: 'snapshot-isolation', stopAtFirst: true });
  expect(failure?.olderReads).toBe(1);
  const [place = ''] = failure?.olderReadPlaces ?? [];
  const [transaction, operation] = place.split(' ').map(Number);
  expect(failure?.history.transactions[transaction ?? -1]?.operations[operation ?? -1]).toMatchObject({
    kind: 'read',
    value: 1,
    from: -1,
  });
});
