/**
 * Keys that only the invariant knows. A misspelt key is `undefined` in every final state, and most comparisons with that hold or fail for no reason
 * of the program. The text of the invariant names such keys; a key that `initial` has, that the text of a session names, or that a run reads or
 * writes is none of them, and comparing one with `null` or `undefined` is a test that it is absent.
 */
import type { Key } from '../history/index.ts';

export function keysOfInvariantAlone(
  invariant: string,
  initial: { has(key: Key): boolean },
  sessions: readonly string[],
): readonly Key[] {
  const named = [...invariant.matchAll(looks)].flatMap(({ groups }) => groups?.['name'] ?? groups?.['text'] ?? []);
  return [...new Set(named)].filter(
    (key) => !initial.has(key) && !(key in Object.prototype) && !sessions.some((text) => text.includes(key)),
  );
}

/** The clause of a gap: no run has read or written the key. */
export function untouchedText(key: Key): string {
  return `the invariant looks at the key "${key}", which no session read or wrote and which is not in "initial"`;
}

/** `final.stock`, `final?.stock`, `final['stock']`, where it is not compared with nothing. */
const looks =
  /\bfinal\s*(?:\??\.\s*(?<name>[\p{ID_Start}$_][\p{ID_Continue}$]*)|(?:\?\.)?\[\s*(?<quote>["'`])(?<text>[^"'`$\\]+)\k<quote>\s*\])(?![\p{ID_Continue}$])(?!\s*[!=]==?\s*(?:null|undefined|void)\b)/gu;
