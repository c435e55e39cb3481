/** Histories from files: small ones as objects, with the column of every mistake; large ones as columns of numbers, read in pieces. */
import type { SizedHistory } from '../../check/index.ts';
import { evidenceTransactionsMax } from '../../check/index.ts';
import { InputError, isTruncated, joinBytes } from '../../base/index.ts';
import {
  type CompactHistory,
  compactOf,
  decodeLast,
  detectFormat,
  folderFormat,
  formatNamed,
  type History,
  historyOf,
  type HistoryFormat,
  type HistorySource,
  parseHistory,
  parseHistoryLines,
} from '../../history/index.ts';
import type { Host } from '../host.ts';
import { requireKind } from './file-kind.ts';

/**
 * Up to so many transactions the checker of small histories has an answer at every level in moments. So many it is also asked about where a large
 * history violates a level: the size of a history does not decide how an anomaly is called.
 */
const smallTransactionsMax = evidenceTransactionsMax;
/** Texts up to here are parsed as a whole, for errors with columns. */
const smallBytesMax = 2 ** 20;
/** From these a format is known. */
const headBytes = 65_536;
/** Progress of a longer file: every so many bytes. */
const bytesBetweenReports = 2 ** 28;

/** What reading a history needs of the process around. */
export type InputHost = Pick<Host, 'openInput' | 'err'>;

export type HistoryInput = SizedHistory & {
  /** Would the reader have seen that the end of the file is missing? */
  readonly marksEnd: boolean;
};

/** What a green verdict on a file takes for granted that does not mark its end. */
export const assumedWhole = 'the file has no end mark: it is whole';

/** @throws InputError with the file and the place in it; CutHistoryError for one that was cut */
export async function readHistory(
  file: string,
  host: Host,
): Promise<{ readonly history: History; readonly marksEnd: boolean }> {
  return inFile(file, async () => {
    const bytes = await host.readInput(file);
    requireKind('history', bytes, file);
    const format = detectFormat(bytes.subarray(0, headBytes), file);
    const small = wholeSmall(bytes, format);
    const read = small ?? historyOf(await format.read([{ name: file, chunks: () => only(bytes) }]));
    return { history: notEmpty(read), marksEnd: format.marksEnd(bytes.subarray(0, headBytes)) };
  });
}

/**
 * A history of any size.
 * @param format by name; absent: by what is in the file
 * @throws InputError with the file, and the place in it where that is known
 */
export async function openHistory(file: string, host: InputHost, format?: string): Promise<HistoryInput> {
  return inFile(file, async () => {
    const input = await begin(file, host);
    const head = input.first.subarray(0, headBytes);
    const found = format === undefined ? detectFormat(head, file) : formatNamed(format);
    const marksEnd = found.marksEnd(head);
    const small = input.isWhole ? wholeSmall(input.first, found) : null;
    if (small === null) return { ...bySize(await found.read([input.source])), marksEnd };
    return small.transactions.length <= smallTransactionsMax
      ? { size: 'small', history: notEmpty(small), marksEnd }
      : { size: 'large', history: compactOf(small), marksEnd };
  });
}

/**
 * A history that is a folder.
 * @param files those of the folder that count, by name
 * @param format by name; absent: by the names of the files
 * @throws InputError with the file, and the place in it where that is known
 */
export async function openHistoryFolder(
  folder: string,
  files: readonly string[],
  host: Pick<Host, 'openInput'>,
  format?: string,
): Promise<HistoryInput> {
  return inFile(folder, async () => ({ ...bySize(await readFolder(folder, files, host, format)), marksEnd: false }));
}

async function readFolder(
  folder: string,
  files: readonly string[],
  host: Pick<Host, 'openInput'>,
  format?: string,
): Promise<CompactHistory> {
  const found = format === undefined ? folderFormat(files)?.format : formatNamed(format);
  if (found === undefined) throw new InputError('history/missing-file', 'there is no history in this folder');
  return found.read(
    files.map((name) => {
      const path = `${folder.replace(/\/+$/, '')}/${name}`;
      return { name: path, chunks: () => host.openInput(path) };
    }),
  );
}

/** @throws InputError `history/empty` */
export function bySize(history: CompactHistory): SizedHistory {
  if (history.transactionCount === 0) throw noTransaction();
  if (history.transactionCount > smallTransactionsMax || history.lists !== null) return { size: 'large', history };
  return { size: 'small', history: historyOf(history) };
}

/** The whole of a history as columns. @throws InputError as `openHistory` */
export async function readCompact(file: string, host: Host, format?: string): Promise<CompactHistory> {
  return inFile(file, async () => {
    const history = await readColumns(file, host, format);
    if (history.transactionCount === 0) throw noTransaction();
    return history;
  });
}

async function readColumns(file: string, host: Host, format?: string): Promise<CompactHistory> {
  const folder = await host.listFolder(file);
  const parts = folder === null ? null : folderFormat(folder.map(({ name }) => name));
  if (parts !== null) return readFolder(file, parts.files, host, format);
  const input = await begin(file, host);
  const found = format === undefined ? detectFormat(input.first.subarray(0, headBytes), file) : formatNamed(format);
  return found.read([input.source]);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function inFile<Result>(file: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const shown = file === '-' ? 'standard input' : file;
    throw error instanceof InputError && error.place?.file === undefined ? error.in(shown) : error;
  }
}

interface Input {
  readonly first: Uint8Array;
  /** Is there nothing after `first`? */
  readonly isWhole: boolean;
  /** All of it, `first` included. */
  readonly source: HistorySource;
}

async function begin(file: string, host: InputHost): Promise<Input> {
  const chunks = host.openInput(file)[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  while (size <= smallBytesMax && !isWhole) {
    const next = await chunks.next();
    isWhole = next.done === true;
    if (next.done === true) break;
    parts.push(next.value.slice());
    size += next.value.length;
  }
  const first = joinBytes(parts);
  requireKind('history', first, file);
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => chunks };
  return { first, isWhole, source: { name: file, chunks: () => all(file, first, isWhole ? null : rest, host) } };
}

async function* all(
  file: string,
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array> | null,
  host: InputHost,
): AsyncGenerator<Uint8Array> {
  yield first;
  if (rest === null) return;
  let size = first.length;
  for await (const chunk of rest) {
    yield chunk;
    if (Math.floor((size + chunk.length) / bytesBetweenReports) > Math.floor(size / bytesBetweenReports))
      host.err(`${file}: ${Math.round((size + chunk.length) / 2 ** 20)} MiB read\n`);
    size += chunk.length;
  }
}

/** `null`: it is not for the parsers of small histories. */
function parseSmall(bytes: Uint8Array, { name }: HistoryFormat): History | null {
  if (name !== 'jsonl' && name !== 'notation') return null;
  try {
    return name === 'jsonl' ? parseHistoryLines(decode(bytes)) : parseHistory(decode(bytes));
  } catch (error) {
    if (error instanceof InputError && error.code === 'history/append') return null;
    throw error;
  }
}

/** `null` also where the text was cut: the reader of large histories says what is left of it. */
function wholeSmall(bytes: Uint8Array, format: HistoryFormat): History | null {
  try {
    return parseSmall(bytes, format);
  } catch (error) {
    if (error instanceof InputError && isTruncated(error)) return null;
    throw error;
  }
}

function decode(bytes: Uint8Array): string {
  return decodeLast(bytes, new TextDecoder('utf-8', { fatal: true }));
}

function notEmpty(history: History): History {
  if (history.transactions.length > 0) return history;
  throw noTransaction();
}

function noTransaction(): InputError {
  return new InputError('history/empty', 'there is no transaction in it');
}
