/** Bytes in any of the formats, to and from a history of objects. */
import { InputError } from '../../base/index.ts';
import { compactOf, historyOf } from '../compact-convert.ts';
import type { History } from '../history.ts';
import { detectFormat, formatNamed, historyFormats } from './formats.ts';
import type { HistorySource } from './format.ts';

/** How a history is read. */
export interface ReadHistoryOptions {
  /** One of `historyFormatNames`. Default: found by what the bytes begin with, and by `name`. */
  readonly format?: string;
  /** What the file is called: in errors, and where the beginning of its bytes leaves the format open. Default: no name. */
  readonly name?: string;
}

/** The formats by name, as `moirai check --from` takes them. Some are only read: see docs/formats.md. */
export const historyFormatNames: readonly string[] = historyFormats.map(({ name }) => name);

/** From so many first bytes a format is known. */
const headBytes = 65_536;

/**
 * Reads a history that is one file.
 * @param bytes the whole file, or its text
 * @throws InputError `history/format` (an unknown name, or no known beginning), and what the reader of the format finds: `history/syntax`,
 *   `history/truncated` and others, with the place. A history of appends to lists (`history/append`) is for `moirai check` alone
 */
export async function readHistory(
  bytes: Uint8Array | string,
  { format, name = 'history' }: ReadHistoryOptions = {},
): Promise<History> {
  const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
  const found = format === undefined ? detectFormat(data.subarray(0, headBytes), name) : formatNamed(format);
  const source: HistorySource = { name, chunks: () => only(data) };
  const compact = await found.read([source]);
  if (compact.lists !== null)
    throw new InputError('history/append', 'the history has appends to lists', { file: name });
  return historyOf(compact);
}

/**
 * A history as the bytes of a file.
 * @param format one of `historyFormatNames`
 * @throws InputError `history/format` where the name is unknown or moirai only reads the format, and where the format cannot carry the history
 */
export function writeHistory(history: History, format: string): Uint8Array {
  const { write } = formatNamed(format);
  if (write === undefined) throw new InputError('history/format', `the format ${format} can be read, but not written`);
  return Buffer.concat([...write(compactOf(history))]);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
