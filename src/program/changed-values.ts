/** A value with one thing changed in it, in as many ways as may matter to who looks at it. */

/** Numbers and texts that a program speaks of: a change to one of them may be the one that matters. */
export interface Mentioned {
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
}

/** What a value may be changed to; `ABSENT`: it is taken out of where it stands. */
const ABSENT = Symbol('absent');

/**
 * The telling changes come first. A number stays a number and a text a text: where `'9'` is compared with `9`, no change of the program's makes
 * them equal.
 */
export function changesOf(value: unknown, mentioned: Mentioned): unknown[] {
  if (value === undefined || value === null) return [...typical(mentioned), value === null ? undefined : null];
  if (Array.isArray(value)) return [...ofList(value, mentioned), [], null, ABSENT];
  switch (typeof value) {
    case 'number':
      return distinct(
        [-LARGE, LARGE, 0, value + 1, value - 1, ...mentioned.numbers, null, ABSENT].filter((each) => each !== value),
      );
    case 'bigint':
      return [-BigInt(LARGE), BigInt(LARGE), 0n, value + 1n, value - 1n, null, ABSENT];
    case 'string':
      return distinct(
        [`${value}?`, '', ...longTexts, ...mentioned.texts, null, ABSENT].filter((each) => each !== value),
      );
    case 'boolean':
      return [!value, null, ABSENT];
    case 'object':
      return [...ofObject(value, mentioned), null, ABSENT];
    default:
      return [];
  }
}

/** Numbers and texts in the text of a function and in what it is given, the first of each. @param max of numbers, and of texts */
export function mentionedIn(text: string, values: unknown, max = MENTIONED_MAX): Mentioned {
  const numbers = [...text.matchAll(/(?<![\w.])\d[\d_]*(?:\.\d+)?/gu)].map(([found]) =>
    Number(found.replaceAll('_', '')),
  );
  const texts = [...text.matchAll(/(["'`])((?:(?!\1)[^\\$\n])*)\1/gu)].map(([, , found]) => found ?? '');
  collect(values, numbers, texts, max);
  return {
    numbers: distinct(numbers.flatMap((each) => [each, each + 1, each - 1, -each])).slice(0, max),
    texts: distinct(texts).slice(0, max),
  };
}

const LARGE = 1_000_003;
/** Longer than what a test, and what a column, bounds a text by. */
export const longTexts: readonly string[] = [100, 10_000].map((length) => 'x'.repeat(length));
const MENTIONED_MAX = 16;

function typical({ numbers, texts }: Mentioned): unknown[] {
  return [1, -LARGE, 'other', true, ...texts, ...numbers, false, 0, [], ['other', 'other'], {}];
}

function ofList(list: readonly unknown[], mentioned: Mentioned): unknown[] {
  const [first] = list;
  const ofElements = list.slice(0, ELEMENTS_MAX).map((each, i) =>
    changesOf(each, mentioned)
      .filter((change) => change !== ABSENT)
      .map((change) => list.with(i, change)),
  );
  const resized =
    list.length === 0
      ? ['other', 1].map((each) => [each])
      : [list.slice(1), [...list, first], list.slice(0, -1), Array.from({ length: MANY }, () => first)];
  return [...resized, ...inTurn(ofElements)];
}

function ofObject(value: object, mentioned: Mentioned): unknown[] {
  if (value instanceof Date) return [-YEARS_MS, YEARS_MS, -1, 1].map((each) => new Date(value.getTime() + each));
  if (value instanceof Set) return ofList([...value], mentioned).map((each) => new Set(each as unknown[]));
  if (value instanceof Map) return ofMap(value, mentioned);
  return ofRecord(value, mentioned);
}

function ofMap(map: ReadonlyMap<unknown, unknown>, mentioned: Mentioned): unknown[] {
  const ofKeys = [...map].map(([key, each]) =>
    changesOf(each, mentioned).map((change) => {
      const copy = new Map(map);
      if (change === ABSENT) copy.delete(key);
      else copy.set(key, change);
      return copy;
    }),
  );
  return [new Map(), ...inTurn(ofKeys)];
}

/** Also with a name that the program speaks of and that is not there: `'lamp' in cart`. */
function ofRecord(record: object, mentioned: Mentioned): unknown[] {
  if (ArrayBuffer.isView(record)) return [];
  const missing = mentioned.texts.filter((name) => !(name in record));
  const ofNames = Object.entries(record).map(([name, each]) =>
    changesOf(each, mentioned).map((change) => withChange(record, name, change)),
  );
  return inTurn([missing.map((name) => withChange(record, name, 1)), ...ofNames]);
}

/** A copy in which `name` is `change`: of the same class, and frozen in no part. */
export function withChange(record: object, name: string, change: unknown): Record<string, unknown> {
  const copy = Object.create(Object.getPrototypeOf(record) as object | null) as Record<string, unknown>;
  for (const [own, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(record))) {
    const open = 'value' in descriptor ? { ...descriptor, writable: true } : descriptor;
    Object.defineProperty(copy, own, { ...open, configurable: true });
  }
  if (change === ABSENT) delete copy[name];
  else Object.defineProperty(copy, name, { enumerable: true, configurable: true, writable: true, value: change });
  return copy;
}

/** The first of each, then the second of each, and so on. */
export function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

const ELEMENTS_MAX = 8;
/** More than any bound on a list of a test. */
const MANY = 100;
const YEARS_MS = 1e12;

function collect(value: unknown, numbers: number[], texts: string[], max: number): void {
  if (numbers.length > max && texts.length > max) return;
  if (typeof value === 'number') numbers.push(value);
  else if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) collect(each, numbers, texts, max);
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
