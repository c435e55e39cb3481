/** Parts of strings as MySQL counts them: from 1, from the end where negative. Reference manual, 14.8. Of characters, or of bytes as latin1. */
import { characterCount, charactersOf, filledTo } from './text-functions.ts';

/** Place 0 gives nothing. */
export function substringFrom(text: string, from: number, count = Infinity): string {
  const characters = charactersOf(text);
  const start = from > 0 ? from - 1 : characters.length + from;
  if (from === 0 || start < 0 || count < 1) return '';
  return characters.slice(start, start + count).join('');
}

/** `count` characters from `place` on are replaced; a place outside of the text changes nothing. */
export function insertAt(text: string, place: number, count: number, replacement: string): string {
  const characters = charactersOf(text);
  if (place < 1 || place > characters.length) return text;
  const end = count < 0 ? characters.length : place - 1 + count;
  return characters.slice(0, place - 1).join('') + replacement + characters.slice(end).join('');
}

/** `null`: a negative length, or nothing to fill it with. */
export function padTo(text: string, length: number, fill: string, atStart: boolean): string | null {
  if (length < 0) return null;
  const missing = length - characterCount(text);
  if (missing <= 0) return charactersOf(text).slice(0, length).join('');
  if (fill === '') return null;
  const padding = filledTo(missing, fill);
  return atStart ? padding + text : text + padding;
}

export function trimPart(text: string, part: string, atStart: boolean, atEnd: boolean): string {
  if (part === '') return text;
  let [start, end] = [0, text.length];
  if (atStart) while (text.startsWith(part, start)) start += part.length;
  if (atEnd) while (end - part.length >= start && text.endsWith(part, end)) end -= part.length;
  return text.slice(start, end);
}
