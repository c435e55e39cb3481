/**
 * Reads TypeScript source just well enough to say what it imports and what it mentions. One regular expression walks
 * the text and consumes comments, strings, templates and regular expressions whole, so that an import quoted in one of
 * them is not taken for a real one. Compiler-grade parsing would need the compiler's API for a rule this simple.
 */
const token = new RegExp(
  [
    String.raw`(?<comment>\/\/.*|\/\*[\s\S]*?\*\/)`,
    // import 'a', import a from 'a', import type { A } from 'a', export * from 'a', import('a')
    String.raw`(?<![.\w$])(?:import|export)\b(?:[^'"\x60;()]*?\bfrom)?\s*\(?\s*(?<quote>['"\x60])(?<specifier>[^'"\x60\n$]+)\k<quote>`,
    String.raw`(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\x60(?:\\[\s\S]|[^\\\x60])*\x60)`,
    String.raw`(?<regexp>(?<=[(,=:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/)`,
  ].join('|'),
  'g',
);

/** The specifiers a file imports or re-exports from, types included, in order of appearance. */
export function importSpecifiers(source: string): string[] {
  return [...source.matchAll(token)].flatMap((match) => match.groups?.['specifier'] ?? []);
}

/** The text without comments, strings, templates, regular expressions and import statements. */
export function codeOnly(source: string): string {
  return source.replaceAll(token, ' ');
}
