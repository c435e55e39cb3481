import { expect, test } from 'vitest';
import { parseHistory } from '../history/index.ts';
import { openToken } from '../program/index.ts';
import { Counterexamples, type Example } from './counterexamples.ts';

const history = parseHistory('w x 1');

function example(message: string, replay: string, ...olderReads: readonly string[]): Example {
  return { message, replay, history, olderReads: new Set(olderReads) };
}

test('of those that look alike the first by its token is kept, whichever was found first', () => {
  const alike = [example('lost', 'a/0+b/0:a/0'), example('lost', 'a/0+b/0:c/0')];
  for (const found of [alike, alike.toReversed()]) {
    const kept = new Counterexamples(5);
    kept.merge(found);
    expect(kept.all(Infinity, () => {}).map(({ replay }) => openToken(replay).choices)).toEqual(['a/0+b/0:a/0']);
  }
});

test('fewer old reads come first, then shorter tokens', () => {
  const kept = new Counterexamples(1);
  kept.merge([example('lost', 'a/0:_', '0 0'), example('lost', 'a/0:_+b/0:_+c/0:_'), example('lost', 'b/0:_+a/0:_')]);
  expect(kept.all(Infinity, () => {}).map(({ replay }) => openToken(replay).choices)).toEqual(['b/0:_+a/0:_']);
});

test('of very many that look different only those that would be shown are kept', () => {
  const kept = new Counterexamples(1);
  kept.merge(Array.from({ length: 300 }, (_, i) => example(`message ${i}`, 'a/0:_+b/0:_')));
  const { length } = kept.releaseNew();
  expect(length).toBeGreaterThan(100);
  expect(length).toBeLessThan(300);
  kept.merge([example('a longer one', 'a/0:_+b/0:_+c/0:_')]);
  expect(kept.releaseNew()).toEqual([]);
  kept.merge([example('a shorter one', 'a/0:_')]);
  expect(kept.releaseNew().map(({ message }) => message)).toEqual(['a shorter one']);
  expect(kept.all(Infinity, () => {})[0]?.message).toBe('a shorter one');
});
