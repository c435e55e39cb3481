/** All formats of history files, in the order in which they are tried: the notation takes any text, so it is the last. */
import { InputError } from '../../base/index.ts';
import { awditFormat } from './awdit-format.ts';
import { binaryFormat } from './binary-format.ts';
import { chronosFormat } from './chronos-format.ts';
import { cobraFormat } from './cobra-format.ts';
import { dbcopBincodeFormat } from './dbcop-bincode-format.ts';
import { dbcopJsonFormat } from './dbcop-json-format.ts';
import { dbcopTextFormat } from './dbcop-text-format.ts';
import { elleEdnFormat } from './elle-edn-format.ts';
import { elleJsonFormat } from './elle-json-format.ts';
import type { HistoryFormat } from './format.ts';
import { jsonLinesFormat } from './json-lines-format.ts';
import { notationFormat } from './notation-format.ts';
import { plumeFormat } from './plume-format.ts';
import { viperFormat } from './viper-format.ts';

export const historyFormats: readonly HistoryFormat[] = [
  binaryFormat,
  dbcopBincodeFormat,
  cobraFormat,
  elleEdnFormat,
  elleJsonFormat,
  chronosFormat,
  viperFormat,
  dbcopJsonFormat,
  jsonLinesFormat,
  plumeFormat,
  dbcopTextFormat,
  awditFormat,
  notationFormat,
];

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

/** The format whose histories are folders with files of such names; the files that are its parts. `null`: there is none. */
export function folderFormat(
  names: readonly string[],
  formats: readonly HistoryFormat[] = historyFormats,
): { readonly format: HistoryFormat; readonly files: readonly string[] } | null {
  for (const format of formats) {
    const { folderFile } = format;
    if (folderFile === undefined) continue;
    const files = names.filter((name) => folderFile.test(name));
    if (files.length > 0) return { format, files: files.toSorted(byNumber) };
  }
  return null;
}

/** T2 before T10. */
function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
