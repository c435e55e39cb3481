/**
 * @internal What plain JavaScript gives as options, looked at before it is used: no compiler has seen it, and an option that is misspelt would be
 * ignored without a word.
 */
import { InputError, unknownNameHint } from '../base/index.ts';

const kinds = {
  boolean: { title: 'true or false', is: (value: unknown) => typeof value === 'boolean' },
  chooser: { title: 'a chooser, such as seeded(1)', is: (value: unknown) => hasMethod(value, 'choose') },
  function: { title: 'a function', is: (value: unknown) => typeof value === 'function' },
  list: { title: 'a list', is: (value: unknown) => Array.isArray(value) },
  map: { title: 'a Map', is: (value: unknown) => hasMethod(value, 'entries') && !Array.isArray(value) },
  number: { title: 'a number', is: (value: unknown) => typeof value === 'number' },
  object: { title: 'an object', is: (value: unknown) => typeof value === 'object' && value !== null },
  profile: { title: "what parseProfile({ engine: 'postgres' }) returns", is: isProfile },
  string: { title: 'a string', is: (value: unknown) => typeof value === 'string' },
  texts: { title: 'a string, or a list of strings', is: isTexts },
} as const;

type Kind = keyof typeof kinds;

/** Of each option what kind of value it takes; `any`: the function looks at it itself. `!`: it must be given. */
export type OptionKinds<Options> = {
  readonly [Name in keyof Required<Options>]: object extends Pick<Options, Name> ? Kind | 'any' : `${Kind | 'any'}!`;
};

/**
 * @param what whose options they are: `explore`
 * @throws InputError `option/unknown` for a name that is none, `option/missing`, `option/type` for a value of another kind
 */
export function requireOptions<Options extends object>(
  what: string,
  given: Options,
  expected: OptionKinds<Options>,
): void {
  const entries = Object.entries<string>(expected);
  const known = entries.map(([name]) => name);
  if (typeof given !== 'object' || given === null) {
    const [first] = entries.find(([, kind]) => kind.endsWith('!')) ?? known;
    throw new InputError('option/type', `the options of ${what} must be an object, such as { ${first}: ... }`);
  }
  for (const name of Object.keys(given)) requireKnown(what, name, known);
  for (const [name, kind] of entries)
    requireKind(`the option "${name}" of ${what}`, (given as Record<string, unknown>)[name], kind);
}

function requireKnown(what: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new InputError('option/unknown', `unknown option "${name}" of ${what}: ${unknownNameHint(name, known)}`);
}

function requireKind(option: string, value: unknown, expected: string): void {
  const isRequired = expected.endsWith('!');
  const name = isRequired ? expected.slice(0, -1) : expected;
  const kind = name === 'any' ? null : kinds[name as Kind];
  if (value === undefined) {
    if (isRequired)
      throw new InputError('option/missing', `${option} is missing: ${kind?.title ?? 'it has no default'}`);
    return;
  }
  if (kind !== null && !kind.is(value)) throw new InputError('option/type', `${option} must be ${kind.title}`);
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'function';
}

function isProfile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'family' in value && 'dialect' in value;
}

function isTexts(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
}
