import { expect, test } from 'vitest';
import { sampleMean } from './sample-mean.ts';

test.each([
  [[], 0, 0],
  [[7], 7, 0],
  [[1, 3], 2, 1],
  [[2, 2, 2], 2, 0],
  [[1, 2, 3, 4, 5], 3, Math.sqrt(0.5)],
])('%j: mean %d, standard error %d', (samples, mean, error) => {
  expect(sampleMean(samples)).toEqual({ mean, error });
});
