import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { barProgress, lineProgress } from '../../src/cli/output/progress.ts';

describe('without a terminal', () => {
  test('a line every few seconds, and none for what is short', () => {
    let nowMs = 0;
    const lines: string[] = [];
    const progress = lineProgress(
      (text) => lines.push(text),
      () => nowMs,
      5_000,
    );
    for (nowMs of [50, 4_999, 5_000, 5_050, 9_999, 10_000]) progress.update('causal', nowMs, 20_000);
    progress.stop();
    expect(lines).toEqual(['causal: 5,000 of 20,000 runs\n', 'causal: 10,000 of 20,000 runs\n']);
  });
});

describe('on a terminal', () => {
  const terminal = (): { stream: PassThrough; drawn: () => string } => {
    const stream = Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 80,
      cursorTo: () => true,
      clearLine: () => true,
      moveCursor: () => true,
    });
    return { stream, drawn: () => String(stream.read() ?? '') };
  };

  test('a bar that leaves the cursor and the signals alone', async () => {
    const interrupts = process.listenerCount('SIGINT');
    const { stream, drawn } = terminal();
    const progress = await barProgress(stream);
    progress.update('causal', 500, 1_000);
    expect(process.listenerCount('SIGINT')).toBe(interrupts);
    progress.stop();
    const text = drawn();
    expect(text).toMatch(/causal \[=+-+\] 500 of 1,000 runs/);
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/\u001b\[\?(?:25|7)l/);
  });

  test('nothing is drawn when there was nothing to tell', async () => {
    const { stream, drawn } = terminal();
    (await barProgress(stream)).stop();
    expect(drawn()).toBe('');
  });
});
