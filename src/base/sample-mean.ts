/** The mean of samples, and how far it may be off. */
export interface SampleMean {
  readonly mean: number;
  /** Standard error, as far as the samples tell: 0 for fewer than two. */
  readonly error: number;
}

export function sampleMean(samples: readonly number[]): SampleMean {
  const { length } = samples;
  const mean = samples.reduce((sum, each) => sum + each, 0) / Math.max(1, length);
  const squares = samples.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { mean, error: length < 2 ? 0 : Math.sqrt(squares / (length - 1) / length) };
}
