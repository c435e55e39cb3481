/**
 * Does an invariant compare with what lies outside it? Where a constant of a module is another than any value that the program speaks of, the
 * invariant may hold on all changed values and be right all the same.
 */

/** `final.state !== OVERSOLD`, `CLOSED.includes(row.state)`. @param text of a function, without quoted texts and comments */
export function comparesOutside(text: string): boolean {
  const own = new Set([...text.matchAll(declaration)].flatMap(([names]) => names.match(identifier) ?? []));
  const compared = [
    ...[...text.matchAll(comparison)].flatMap(({ 0: operator, index }) => [
      leftOf.exec(text.slice(0, index))?.[0] ?? '',
      rightOf.exec(text.slice(index + operator.length))?.[0] ?? '',
    ]),
    ...(text.match(label) ?? []),
    ...[...text.matchAll(membership)].map(({ groups }) => `${groups?.['of'] ?? ''} ${groups?.['what'] ?? ''}`),
  ];
  return compared.flatMap((each) => each.match(variable) ?? []).some((name) => !own.has(name) && !builtIn.has(name));
}

/** More names than are declared, and those between `if (` and `) {` are none. */
const declaration =
  /\b(?:const|let|var)\b[^=;]*|(?<!\b(?:if|for|switch|while)\s*)\((?=([^()]*(?:\([^()]*\)[^()]*)*))\1\)\s*(?:=>|\{)|[\p{ID_Continue}$]+\s*=>/gu;
const identifier = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

const comparison = /(?<![=<>])(?:[=!]==?|[<>]=?)(?![=>])/gu;
const leftOf = /[^,;&|?:({\n]*$/u;
const rightOf = /^[^,;&|?:){}\n]*/u;

const label = /\bcase\b[^:]*/gu;

/** Of a list, a set, a text, a pattern, an expectation. */
const membership =
  /(?:(?<![\p{ID_Continue}$.])(?<of>[\p{ID_Start}$_][\p{ID_Continue}$]*|\[[^[\]]*\]))?\s*\.\s*(?:equal|has|includes|indexOf|test|to[A-Z]\w*)\s*\((?<what>[^()]*)\)/gu;

/** Neither what follows a dot, nor a function that is called, nor the name of a property. */
const variable =
  /(?<![\p{ID_Continue}$]|\.\s*)[\p{ID_Start}$_][\p{ID_Continue}$]*(?![\p{ID_Continue}$]|\s*\(|\s*:(?!:))/gu;

const builtIn = new Set(
  'Array BigInt Boolean Date Infinity JSON Map Math NaN Number Object RegExp Set String Symbol assert async await catch const do else expect false function if in instanceof let new null of return this throw true try typeof undefined var void'.split(
    ' ',
  ),
);
