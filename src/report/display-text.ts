/**
 * Text as a terminal shows it: how many columns it takes, cut and padded to a number of columns, and without characters that would move
 * the cursor. Unicode Standard Annexes 29 (grapheme clusters, which people see as one character) and 11 (East Asian width).
 */

/** Columns that `text` takes in a terminal. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const cluster of clustersOf(text)) width += clusterWidth(cluster);
  return width;
}

/** `text`, or as much of it as fits, with `...` where something was cut. */
export function truncate(text: string, widthMax: number): string {
  if (displayWidth(text) <= widthMax) return text;
  if (widthMax < ellipsis.length) return ellipsis.slice(0, widthMax);
  return head(text, widthMax - ellipsis.length) + ellipsis;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** Lines of at most `width` columns; all but the first are indented by two. Breaks after a space or a comma where there is one. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  for (let indent = ''; displayWidth(indent + rest) > width; indent = '  ') {
    const fitting = head(rest, Math.max(2, width - indent.length));
    const at = rest[fitting.length] === ' ' ? fitting.length : fitting.search(/[ ,][^ ,]*$/) + 1;
    const line = at > fitting.length / 2 ? fitting.slice(0, at) : fitting;
    lines.push(indent + line.trimEnd());
    rest = rest.slice(line.length).trimStart();
  }
  return [...lines, (lines.length === 0 ? '' : '  ') + rest];
}

/** Names and keys are any text: what would move the cursor or reverse the writing direction is shown as an escape. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${(char.codePointAt(0) as number).toString(16).padStart(4, '0')}`,
  );
}

const ellipsis = '...';
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function* clustersOf(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** The longest start of `text` that takes at most `width` columns. */
function head(text: string, width: number): string {
  let used = 0;
  let start = '';
  for (const cluster of clustersOf(text)) {
    used += clusterWidth(cluster);
    if (used > width) break;
    start += cluster;
  }
  return start;
}

/** Wide and fullwidth characters (Annex 11, W and F) and what is shown as an emoji take two columns. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

function clusterWidth(cluster: string): number {
  if (invisible.test(cluster)) return 0;
  return wide.test(cluster) || /^\p{Emoji_Presentation}/u.test(cluster) || cluster.includes('\ufe0f') ? 2 : 1;
}
