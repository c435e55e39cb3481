/** `moirai analyze --jobs N`, as users run it: what one thread prints, whichever thread is done first; its end by Ctrl-C and by the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { build, runBuilt } from '../support/cli.ts';
import { answerMsMax, interruptedAt } from '../support/interrupted.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

beforeAll(build, 120_000);

function analyzing(example: string, ...options: readonly string[]): readonly string[] {
  const folder = `examples/analyze/${example}`;
  return ['analyze', `${folder}/src`, '--schema', `${folder}/schema.sql`, '--json', ...options];
}

test.each(isHeavy ? ['shop', 'smallbank'] : ['shop'])(
  '%s: two threads print what one prints',
  async (example) => {
    const alone = await runBuilt(analyzing(example, '--jobs', '1'));
    expect(JSON.parse(alone.out)).toMatchObject({ verdict: 'violated' });
    expect(await runBuilt(analyzing(example, '--jobs', '2'))).toEqual(alone);
  },
  180_000,
);

test('whenever Ctrl-C comes, the threads end with the command', async () => {
  const { out, code, answerMs } = await interruptedAt(analyzing('tpcc', '--jobs', '3'), sleep(4_000));
  expect(answerMs).toBeLessThan(answerMsMax);
  expect([1, 2]).toContain(code);
  // Gaps are empty where something was confirmed by then.
  expect(JSON.stringify(JSON.parse(out))).toContain('interrupted');
}, 60_000);

test('--max-time ends the threads, too', async () => {
  const { out, code } = await runBuilt(analyzing('tpcc', '--jobs', '2', '--max-time', '2'));
  expect([1, 2]).toContain(code);
  expect(JSON.stringify(JSON.parse(out))).toContain('stopped by --max-time');
}, 60_000);
