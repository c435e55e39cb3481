/** A client's test suite on the server and on moirai: which tests fail on moirai alone, and which of those failures are known. */

/** By name of a test: did it pass? */
type Results = ReadonlyMap<string, boolean>;

export interface ComparedResults {
  /** The share that passes, then a line for each test that fails on moirai alone. */
  readonly lines: readonly string[];
  /** Failures that are not known. */
  readonly unknown: number;
}

export function comparedResults(
  known: readonly { readonly reason: string; readonly tests: RegExp }[],
  { theirs, ours }: { readonly theirs: Results; readonly ours: Results },
): ComparedResults {
  const passing = [...theirs].filter(([, passes]) => passes).map(([test]) => test);
  const failing = passing.filter((test) => ours.get(test) !== true);
  const passed = passing.length - failing.length;
  const share = ((100 * passed) / passing.length).toFixed(1);
  const reasons = failing.map((test) => known.find(({ tests }) => tests.test(test))?.reason);
  return {
    lines: [
      `${passed} of ${passing.length} that pass on the server, ${share} %`,
      ...failing.map((test, i) => `  ${reasons[i] ?? 'NOT KNOWN'}: ${test}`),
    ],
    unknown: reasons.filter((reason) => reason === undefined).length,
  };
}
