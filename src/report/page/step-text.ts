/** A step on one line, for reports that are text. */
import type { PictureStep } from './report-data.ts';

/** A statement with its parameters and what came of it; an operation on a key with its value. */
export function stepText({ text, parameters, part, outcome, waitedFor, reads, writes }: PictureStep): string {
  const [access, ...others] = [...reads, ...writes];
  const isOfKey = part === 'whole' && outcome === '' && parameters.length === 0;
  const hasValue = isOfKey && access !== undefined && others.length === 0;
  return [
    text,
    ...(parameters.length === 0 ? [] : [` [${parameters.join(', ')}]`]),
    ...(hasValue ? [` = ${JSON.stringify(access.value)}`] : []),
    ...(part === 'begin' ? [' begins'] : []),
    ...(waitedFor === null ? [] : [`, waited for ${waitedFor}`]),
    ...(outcome === '' ? [] : [` -> ${outcome}`]),
  ].join('');
}

/** White space as single blanks, and no more than so many characters. */
export function lineOf(text: string, lengthMax: number): string {
  const cut = text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}... (${text.length} characters)`;
  return cut.replaceAll(/\s+/g, ' ').trim();
}
