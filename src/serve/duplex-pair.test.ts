import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { duplexPair } from './duplex-pair.ts';

describe('a pair of streams', () => {
  test('gives each what is written to the other, in order', async () => {
    const [left, right] = duplexPair();
    left.write('to ');
    left.end('right');
    right.end('to left');
    expect(await textOf(right)).toBe('to right');
    expect(await textOf(left)).toBe('to left');
  });

  test('does not deliver within the call of write', () => {
    const [left, right] = duplexPair();
    let isDelivered = false;
    right.on('data', () => (isDelivered = true));
    left.write('x');
    expect(isDelivered).toBe(false);
  });

  test('delivers in one piece what was written while corked', async () => {
    const [left, right] = duplexPair();
    const chunks: string[] = [];
    right.on('data', (chunk: Uint8Array) => chunks.push(Buffer.from(chunk).toString()));
    left.cork();
    for (const text of ['a', 'b', 'c']) left.write(text);
    left.uncork();
    await turns();
    expect(chunks).toEqual(['abc']);
  });

  test('makes the writer wait while nobody reads, and loses nothing', async () => {
    const [left, right] = duplexPair(1000);
    let written = 0;
    while (left.write(Buffer.alloc(100, 'x'))) written += 100;
    await turns();
    // Nothing more than both buffers hold is accepted.
    expect(written).toBeLessThan(2000);
    const drained = once(left, 'drain');
    const text = textOf(right);
    await drained;
    left.end();
    expect(await text).toHaveLength(written + 100);
  });

  test('ends in one direction only when one side ends', async () => {
    const [left, right] = duplexPair();
    left.end('question');
    expect(await textOf(right)).toBe('question');
    right.end('answer');
    expect(await textOf(left)).toBe('answer');
  });

  test('a side that is destroyed: the other reads what came before, then the end, and cannot write', async () => {
    const [left, right] = duplexPair();
    left.write('last words');
    left.destroy();
    expect(await textOf(right)).toBe('last words');
    const failed = once(right, 'error');
    right.write('anybody?');
    expect((await failed)[0]).toMatchObject({ code: 'EPIPE' });
  });

  test('a write that waits fails when the other side is destroyed', async () => {
    const [left, right] = duplexPair(10);
    left.write(Buffer.alloc(100));
    left.write(Buffer.alloc(100));
    await turns();
    const failed = once(left, 'error');
    right.destroy();
    expect((await failed)[0]).toMatchObject({ code: 'EPIPE' });
  });

  test('has what drivers call on a socket', async () => {
    const [left, right] = duplexPair();
    left.setNoDelay().setKeepAlive().setTimeout().ref().unref();
    expect(left.readyState).toBe('open');
    await expect(once(left.connect(), 'connect')).resolves.toEqual([]);
    left.end();
    expect(left.readyState).toBe('readOnly');
    right.end();
    await textOf(left);
    expect(left.readyState).toBe('closed');
  });
});

/** Up to the end; unlike `for await` it leaves the stream open for writing. */
async function textOf(stream: Duplex): Promise<string> {
  let text = '';
  stream.on('data', (chunk: Uint8Array) => (text += Buffer.from(chunk).toString()));
  await once(stream, 'end');
  return text;
}

function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
