/**
 * Facts of a run, compared between runs in which the sources of randomness and time gave other values. What a run does with such values falls in
 * two: it may hand them on, and then a value is another in each run; or it may decide by them, and then one of few things is done: a
 * statement more, another key, `'a'` where it was `'b'`. With four runs, what has fewer than four outcomes takes one of them twice.
 */

/** One thing that a run did. */
export interface Fact {
  /** `operation 1 of a/0`. */
  readonly what: string;
  /** `write of x = 1`. */
  readonly did: string;
  /** `did` without the values that may come from a source. */
  readonly fixed: string;
  /** These values, in order. */
  readonly values: readonly string[];
}

/**
 * Numbers, quoted texts, times and identifiers of `compared` may come from a source.
 * @param compared what counts between runs with other values. Default: all of `did`
 */
export function fact(what: string, did: string, compared = did): Fact {
  const { fixed, values } = apart(compared);
  return { what, did, fixed, values };
}

/** Like `fact`, of something done to a key: another key is another thing. Only identifiers that are never equal may differ in it. */
export function keyFact(what: string, kind: string, key: string, value: string): Fact {
  const parts = apart(value);
  const ids = key.match(UUID) ?? [];
  return {
    what,
    did: `${kind} of ${key}${value === '' ? '' : ` = ${value}`}`,
    fixed: `${kind} of ${key.replaceAll(UUID, '?')} = ${parts.fixed}`,
    values: [...ids, ...parts.values],
  };
}

function apart(text: string): { readonly fixed: string; readonly values: readonly string[] } {
  const values: string[] = [];
  const fixed = text.replaceAll(VALUE, (value) => {
    values.push(value);
    return '?';
  });
  return { fixed, values };
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** A quoted text, an identifier, a date with or without its time, a word with a digit in it. */
const VALUE =
  /'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?|-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\b\w*\d\w*\b/gi;

/** The first thing that one run did and the other did not, or did otherwise. */
export function differenceOf(a: readonly Fact[], b: readonly Fact[]): string | null {
  return firstDifference(a, b, (one, other) => one.did === other.did);
}

/** The first thing that runs with other values of the sources decide: what only one of them did, or what is done with a value of few. */
export function decisionOf(runs: readonly (readonly Fact[])[]): string | null {
  for (const [i, a] of runs.entries())
    for (const b of runs.slice(i + 1)) {
      const difference = firstDifference(a, b, (one, other) => one.fixed === other.fixed);
      if (difference !== null) return difference;
    }
  const [first = [], ...others] = runs.map(byWhat);
  for (const [what, one] of first) {
    const same = [one, ...others.map((each) => each.get(what) ?? one)];
    for (const position of one.values.keys()) {
      const distinct = new Set(same.map(({ values }) => values[position])).size;
      if (distinct === 1 || distinct === same.length) continue;
      const other = same.find(({ values }) => values[position] !== one.values[position]);
      return `${what} was ${one.did}, then ${other?.did ?? ''}`;
    }
  }
  return null;
}

function firstDifference(
  a: readonly Fact[],
  b: readonly Fact[],
  isSame: (one: Fact, other: Fact) => boolean,
): string | null {
  const [before, after] = [byWhat(a), byWhat(b)];
  for (const what of new Set([...before.keys(), ...after.keys()])) {
    const [first, second] = [before.get(what), after.get(what)];
    if (first !== undefined && second !== undefined && isSame(first, second)) continue;
    return `${what} was ${first?.did ?? 'missing'}, then ${second?.did ?? 'missing'}`;
  }
  return null;
}

function byWhat(facts: readonly Fact[]): Map<string, Fact> {
  return new Map(facts.map((each) => [each.what, each]));
}
