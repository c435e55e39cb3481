/** What the text of an invariant says of a judgement that is made again, on values that no run had. */
import { comparesOutside } from './outside-comparison.ts';

/** @param written text of the function */
export function canJudgeAgain(written: string): boolean {
  return isRepeatable(written) && !comparesOutside(withoutTexts(written));
}

/**
 * Does it neither write what outlives it nor loop until something comes? Then it can judge again without harm. Helpers are not seen.
 * @param text of the function
 */
export function isRepeatable(written: string): boolean {
  const text = withoutTexts(written);
  if (loop.test(text) || report.test(text)) return false;
  const own = new Set([...text.matchAll(declaration)].flatMap(([names]) => names.match(identifier) ?? []));
  return [...text.matchAll(write)].every(({ groups }) => own.has(groups?.['before'] ?? groups?.['after'] ?? ''));
}

/** Without comments and what quotes enclose, such as SQL: `WHERE id = 1` is no assignment. What `${...}` has in it stays. */
function withoutTexts(text: string): string {
  return text.replaceAll(quoted, (found) =>
    found.startsWith('`') ? [...found.matchAll(/\$\{[^}]*\}/gu)].join(' ') : '0',
  );
}

const quoted = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`/gu;

/** `while (...)`, `for (;;)`: for-of and for-in end with what they walk. */
const loop = /\bwhile\s*\(|\bfor\s*\([^;)]*;/u;

/** Effects outside the invariant: output, snapshots, soft assertions. */
const report = /\bconsole\b|\bprocess\s*\.|Snapshot\s*\(|\bexpect\s*\.\s*soft\b/u;

/** `const { a, b: c } = `, `(a, { b }) =>`, `function f(a)`: more names than are declared, and none fewer. */
const declaration =
  /\b(?:const|let|var)\b[^=;]*|\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:=>|\{)|[\p{ID_Continue}$]+\s*=>/gu;
const identifier = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

/** `seen.push(`, `total += `, `last.value = `, `++count`: the first name of what is written. */
const write =
  /(?<![\p{ID_Continue}$.])(?:(?<before>[\p{ID_Start}$_][\p{ID_Continue}$]*)(?:\??\.[\p{ID_Continue}$]+|\[[^\]]*\])*(?:\??\.(?:push|unshift|add|set|delete|clear|splice|write|log)\s*\(|\s*(?:(?:[-+*/%|&^]|\*\*|\|\||&&|\?\?)=(?!=)|=(?![=>])|\+\+|--))|(?:\+\+|--)(?<after>[\p{ID_Start}$_][\p{ID_Continue}$]*))/gu;
