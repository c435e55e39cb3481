/**
 * Keys that only the invariant asks for. A misspelt key is `undefined` in every final state, and most comparisons with that hold or fail for no reason
 * of the program. What the invariant asks of `final` is observed, in the first judgements and in some of the later ones: text shows neither
 * destructuring nor helpers. Only for what a copy of `final` is asked the text has to do.
 *
 * A key that `initial` has or that a run reads or writes is known. Of an unknown one, observation cannot tell a misspelling from a test that a
 * forbidden state never came to be. The spelling decides: close to a known key it is taken for a misspelling, and the verdict is unknown; else, and
 * where the text of a session names it, the verdict names it and assumes the test.
 */
import { similarKey } from '../base/index.ts';
import type { Key } from '../history/index.ts';
import { namesAsked, observed, resultsOf } from './observed-names.ts';
import type { End, Program } from './program.ts';

/** What runs showed, as plain data. */
export interface KeysSeen {
  /** That the invariant asked for in vain. */
  readonly asked: readonly Key[];
  /** That sessions read or wrote. */
  readonly touched: readonly Key[];
  /** Did the invariant list the keys of a final state? It may have copied it. */
  readonly isListed: boolean;
}

export class InvariantKeys {
  readonly #program: Program;
  readonly #asked = new Set<Key>();
  readonly #touched = new Set<Key>();
  readonly #comparedWithNothing: ReadonlySet<Key>;
  readonly #texts: readonly string[];
  #judgements = 0;
  #isListed = false;

  /** @param program as it is written */
  constructor(program: Program) {
    this.#program = program;
    this.#comparedWithNothing = comparedWithNothing(program.invariantText ?? '');
    this.#texts = program.sessions.map(String);
  }

  /** @param program that is run: its invariant is observed */
  around(program: Program): Program {
    const { invariant } = program;
    return {
      ...program,
      invariant: (end) => {
        this.#judgements += 1;
        if (this.#judgements > OBSERVED_FIRST && this.#judgements % OBSERVED_EVERY !== 0) return invariant(end);
        return observed((isObserved) => invariant(isObserved ? this.#observed(end) : end));
      },
    };
  }

  touch(keys: readonly Key[]): void {
    for (const key of keys) this.#touched.add(key);
  }

  seen(): KeysSeen {
    return { asked: [...this.#asked], touched: [...this.#touched], isListed: this.#isListed };
  }

  /** Takes over what other runs of the same program showed. */
  merge({ asked, touched, isListed }: KeysSeen): void {
    this.#isListed ||= isListed;
    for (const key of asked) this.#ask(key);
    this.touch(touched);
  }

  /** Why the verdict is unknown, as clauses. */
  gaps(): string[] {
    return this.#unknown().flatMap(({ key, similar }) => (similar === null ? [] : [misspeltText(key, similar)]));
  }

  /** What a green verdict takes for granted, as clauses. */
  assumed(): string[] {
    const absent = this.#unknown().filter(({ similar }) => similar === null);
    return absent.length === 0 ? [] : [absentText(absent.map(({ key }) => `"${key}"`))];
  }

  #unknown(): { readonly key: Key; readonly similar: Key | null }[] {
    const asked = [...this.#asked].filter((key) => !this.#touched.has(key));
    const ofCopies = this.#namesOfCopies().filter((key) => !this.#touched.has(key));
    if (asked.length + ofCopies.length === 0) return [];
    const known = [...new Set([...this.#program.initial.keys(), ...this.#touched])];
    const withSimilar = (key: Key) => ({ key, similar: this.#isNamed(key) ? null : similarKey(key, known) });
    return [...asked.map(withSimilar), ...ofCopies.map(withSimilar).filter(({ similar }) => similar !== null)];
  }

  /** What a copy of a final state is asked, only the text shows: properties that are not those of values. */
  #namesOfCopies(): Key[] {
    if (!this.#isListed) return [];
    const values = JSON.stringify([...this.#program.initial.values()]);
    return propertiesOf(this.#program.invariantText ?? '').filter(
      (name) => !this.#asked.has(name) && !this.#isExcused(name) && !this.#isNamed(name) && !names(values, name),
    );
  }

  #observed(end: End): End {
    const { sessionNames } = this.#program;
    let final: End['final'] | null = null;
    let results: End['results'] | null = null;
    const ask = (key: Key): void => this.#ask(key);
    const list = (): void => void (this.#isListed = true);
    return {
      get results() {
        return (results ??= resultsOf(end.results, sessionNames));
      },
      get final() {
        return (final ??= namesAsked(end.final, ask, list));
      },
      sometimes: end.sometimes,
    };
  }

  #ask(key: Key): void {
    if (this.#asked.size < ASKED_MAX && !this.#asked.has(key) && !this.#isExcused(key)) this.#asked.add(key);
  }

  #isExcused(key: Key): boolean {
    return this.#program.initial.has(key) || this.#comparedWithNothing.has(key);
  }

  /** In the text of a session: no misspelling, although no run wrote it. */
  #isNamed(key: Key): boolean {
    return this.#texts.some((text) => names(text, key));
  }
}

/** Judgements that are observed: the first, and one of so many after them. */
const OBSERVED_FIRST = 256;
const OBSERVED_EVERY = 16;

/** Keys that are remembered, and named in one clause. */
const ASKED_MAX = 100;
const NAMED_MAX = 5;

function misspeltText(key: Key, similar: Key): string {
  return (
    `the invariant looks at the key "${key}", which no session read or wrote and which is not in "initial": ` +
    `did you mean "${similar}"? A key that must stay absent is null in "initial"`
  );
}

function absentText(keys: readonly string[]): string {
  if (keys.length === 1)
    return `the invariant looks at the key ${keys[0]}, which no run read or wrote: it tests that it is absent`;
  const more = keys.length > NAMED_MAX ? ` and ${keys.length - NAMED_MAX} more` : '';
  const named = `${keys.slice(0, NAMED_MAX).join(', ')}${more}`;
  return `the invariant looks at the keys ${named}, which no run read or wrote: it tests that they are absent`;
}

/** Not as a part of a longer key or word. */
function names(text: string, key: Key): boolean {
  if (key === '') return false;
  const isPart = (char: string | undefined): boolean => char !== undefined && /[\p{ID_Continue}$/:-]/u.test(char);
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1))
    if (!isPart(text[at - 1]) && !isPart(text[at + key.length])) return true;
  return false;
}

/** `.error === undefined`, `['error'] != null`. */
const comparison =
  /(?:\.\s*(?<name>[\p{ID_Start}$_][\p{ID_Continue}$]*)|\[\s*(?<quote>["'`])(?<text>[^"'`$\\]+)\k<quote>\s*\])\s*[!=]==?\s*(?:null|undefined|void)\b/gu;

/** `.stok`, not called. */
const property =
  /(?<!\.)\.\s*(?<name>[\p{ID_Start}$_][\p{ID_Continue}$]*)(?![\p{ID_Continue}$])(?!\s*(?:\?\.\s*)?\()/gu;

function propertiesOf(text: string): string[] {
  const named = [...text.matchAll(property)].flatMap(({ groups }) => groups?.['name'] ?? []);
  return [...new Set(named)].filter((name) => !ofValues.some((values) => name in values));
}

/** `length`, `size`, and what the invariant itself is given. */
const ofValues: readonly object[] = [Array.prototype, Map.prototype, { final: 0, results: 0 }];

/** Keys that the text of an invariant compares with `null` or `undefined`: tests that they are absent. */
function comparedWithNothing(invariant: string): ReadonlySet<Key> {
  return new Set(
    [...invariant.matchAll(comparison)].flatMap(({ groups }) => groups?.['name'] ?? groups?.['text'] ?? []),
  );
}
