/**
 * `moirai/recording`: records what the database drivers of this process do, as a trace for `moirai/verify`.
 *
 * To record an application as it is, without a change of it: `node --import moirai/record app.js`, which writes the trace into a file.
 *
 * @example
 * ```ts
 * import { startRecording } from 'moirai/recording';
 * import { serve } from 'moirai/serve';
 * import { parseProfile } from 'moirai/sql';
 * import { verify } from 'moirai/verify';
 * import pg from 'pg';
 *
 * const server = await serve({ profile: parseProfile({ engine: 'postgres' }), schema: 'CREATE TABLE t (id int PRIMARY KEY, n int)' });
 * const lines: string[] = [];
 * const recording = await startRecording({ from: import.meta.url, write: (line) => lines.push(line) });
 * const client = new pg.Client({ connectionString: server.url });
 * await client.connect();
 * await client.query('INSERT INTO t VALUES (1, 5)');
 * await client.query('SELECT n FROM t WHERE id = 1');
 * await client.end();
 * recording.end();
 * await server.close();
 * const { conclusion, counts } = await verify(lines, { engine: 'postgres', isolation: 'read committed' });
 * console.log(conclusion.kind, counts.committed);
 * // prints: satisfied 2
 * ```
 * @module
 */
import { monotonicNanoseconds } from '../base/index.ts';
import { hookDrivers, Recording as Room, type RecordingOptions as RoomOptions } from '../capture/index.ts';
import { loadParser } from '../sql/index.ts';
import { emptyHeader, formatTraceHeader } from '../trace/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

/** What is recorded, and where to. */
export interface RecordingOptions extends Pick<RoomOptions, 'completesReads' | 'keepsStatements' | 'write'> {
  /** A file, or its URL (`import.meta.url`), from which the drivers `pg`, `postgres`, `mysql2` and `mariadb` are found; those that are not there are left out. */
  readonly from: string;
  /** Called with what the user should know, such as a driver that cannot be recorded; a line each. Default: nothing. */
  readonly warn?: (message: string) => void;
}

const recordingOptions: OptionKinds<RecordingOptions> = {
  completesReads: 'boolean',
  from: 'string!',
  keepsStatements: 'boolean',
  warn: 'function',
  write: 'function!',
};

/** A recording that has begun. */
export interface Recording {
  /**
   * Writes up to which time the trace is complete, where that is news: what follows the trace while it is written waits for it. Call it from time
   * to time; `end` needs none before it.
   */
  mark(): void;
  /** Ends the recording: writes what waits and the last mark, and leaves the drivers as they were. */
  end(): void;
}

/**
 * Hooks the drivers of this process. Connections that are made afterwards, by the drivers themselves or by an ORM above them, are recorded until `end`.
 * Times are nanoseconds of the machine's monotonic clock.
 */
export async function startRecording(options: RecordingOptions): Promise<Recording> {
  requireOptions('startRecording', options, recordingOptions);
  const { from, warn = () => {}, write, completesReads = false, keepsStatements = false } = options;
  await loadParser();
  write(`${formatTraceHeader({ ...emptyHeader, hasMarks: true })}\n`);
  const room = new Room({ write, warn, completesReads, keepsStatements, now: monotonicNanoseconds });
  const unhook = await hookDrivers(room, [from], warn);
  return {
    mark: () => room.mark(),
    end: () => {
      room.end();
      unhook();
    },
  };
}
