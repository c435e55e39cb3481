/**
 * What a reader of a file format is. A format of other tools is one file beside this one, and a row in `formats.ts`.
 */
import { InputError } from '../../base/index.ts';
import type { CompactHistory } from '../compact-history.ts';

/** One file. A history that is a folder of files gives one of these for each, sorted by name. */
export interface HistorySource {
  /** For messages and, by its extension, to tell formats apart; `-` for standard input. */
  readonly name: string;
  /** The bytes in pieces of any size, once. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

export interface HistoryFormat {
  /** As `--from` and `--to` have it. */
  readonly name: string;
  /** What file names end with, with the dot. */
  readonly extensions: readonly string[];
  /** Which files of a folder are its parts, by name, where a history is a folder. */
  readonly folderFile?: RegExp;
  /**
   * May a file that begins so be in this format? Asked in the order of `formats`, where no `--from` decides.
   * @param firstBytes at most the first 64 KiB of the (first) file
   */
  readonly detect: (firstBytes: Uint8Array, name: string) => boolean;
  /**
   * Does a file that begins so say where it ends, by a count or a closing bracket, so that `read` refuses it where its end is lost
   * (`history/truncated`)? Otherwise a file that was cut between two transactions is a shorter history.
   * @param firstBytes as for `detect`
   */
  readonly marksEnd: (firstBytes: Uint8Array) => boolean;
  /**
   * A read of a value that no transaction wrote is no error here: the checks report it.
   * @throws InputError with the place: the line of a text, the offset in bytes in the message otherwise
   */
  readonly read: (sources: readonly HistorySource[]) => Promise<CompactHistory>;
  /** Absent where the format is only read. @throws InputError where the format cannot carry the history */
  readonly write?: (history: CompactHistory) => Iterable<Uint8Array>;
}

/** The one file of a format whose histories are one file each. @throws InputError `history/format` */
export function onlySource(format: string, sources: readonly HistorySource[]): HistorySource {
  const [source, ...others] = sources;
  if (source !== undefined && others.length === 0) return source;
  throw new InputError('history/format', `a history in the format ${format} is one file, not ${sources.length}`);
}
