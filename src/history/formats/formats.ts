/** All formats of history files, in the order in which they are tried: the notation takes any text, so it is the last. */
import { InputError } from '../../base/input-error.ts';
import { binaryFormat } from './binary-format.ts';
import type { HistoryFormat } from './format.ts';
import { jsonLinesFormat } from './json-lines-format.ts';
import { notationFormat } from './notation-format.ts';

export const historyFormats: readonly HistoryFormat[] = [binaryFormat, jsonLinesFormat, notationFormat];

/** @throws InputError `history/format` */
export function formatNamed(name: string): HistoryFormat {
  const found = historyFormats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const known = historyFormats.map((format) => format.name).join(', ');
  throw new InputError('history/format', `no format is called "${name}"; formats: ${known}`);
}

/** By what is in the file, for that is what it is. @throws InputError `history/format` */
export function detectFormat(firstBytes: Uint8Array, name: string): HistoryFormat {
  const found = historyFormats.find((format) => format.detect(firstBytes, name));
  if (found !== undefined) return found;
  throw new InputError('history/format', 'in no format that is known by its beginning: name the format', {
    file: name,
  });
}

/** By what the file is called. @throws InputError `history/format` */
export function formatOfName(name: string): HistoryFormat {
  const found = historyFormats.find(({ extensions }) => extensions.some((extension) => name.endsWith(extension)));
  if (found !== undefined) return found;
  throw new InputError('history/format', 'the name of the file does not say the format: name it', { file: name });
}
