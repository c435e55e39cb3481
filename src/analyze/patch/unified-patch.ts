/** Changed lines as a patch for `git apply` and `patch -p1`. POSIX, diff, "Diff -u Output Format". */

const contextLines = 3;

/** @param before, after with as many lines as each other; @returns '' where they are equal */
export function unifiedPatch(file: string, before: string, after: string): string {
  const [old, changed] = [linesOf(before), linesOf(after)];
  const numbers = old.flatMap((line, at) => (line === changed[at] ? [] : [at]));
  if (numbers.length === 0) return '';
  // Without the tab, a space would end the name.
  const end = file.includes(' ') ? '\t' : '';
  const hunks = hunksOf(numbers, old.length).map(([from, to]) => {
    const count = to - from;
    const range = count === 1 ? `${from + 1}` : `${from + 1},${count}`;
    return [`@@ -${range} +${range} @@`, ...hunkLines(old, changed, from, to)].join('\n');
  });
  return [`--- a/${file}${end}`, `+++ b/${file}${end}`, ...hunks, ''].join('\n');
}

/** Each with its newline, so that a last line without one differs. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Changed lines with the lines around them: `[from, to)`. */
function hunksOf(numbers: readonly number[], length: number): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const at of numbers) {
    const [from, to] = [Math.max(at - contextLines, 0), Math.min(at + contextLines + 1, length)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

/** Neighbours that change are removed together, then added together. */
function hunkLines(old: readonly string[], changed: readonly string[], from: number, to: number): readonly string[] {
  const lines: string[] = [];
  let added: string[] = [];
  for (let at = from; at < to; at += 1) {
    const [before = '', after = ''] = [old[at], changed[at]];
    if (before === after) {
      lines.push(...added, marked(' ', before));
      added = [];
    } else {
      lines.push(marked('-', before));
      added.push(marked('+', after));
    }
  }
  return [...lines, ...added];
}

function marked(mark: string, line: string): string {
  return line.endsWith('\n') ? `${mark}${line.slice(0, -1)}` : `${mark}${line}\n\\ No newline at end of file`;
}
