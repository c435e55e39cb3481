import type { FootprintRecorder } from '../../engine/index.ts';
import type { UnsupportedStatement } from '../../evidence/index.ts';
import type { Decisions } from '../../mockdb/index.ts';
import type { Wait } from '../../sql/model/index.ts';
import type { Ways } from '../assumptions/index.ts';
import type { DatabaseImage } from './image.ts';
import type { SharedPlans } from './plan-cache.ts';
import type { Profile } from './profile.ts';
import type { Settle } from './scheduler.ts';

export interface SqlDatabaseOptions {
  readonly profile: Profile;
  /** What it begins with, of a database of the same profile. Default: empty. */
  readonly image?: DatabaseImage;
  /** Default 1. Draws everything that is left open, unless `decisions` decides. */
  readonly seed?: number;
  readonly decisions?: Decisions;
  /** How long to wait for statements on their way; `null`: not at all. Default: three turns of the event loop, for clients in this process. */
  readonly settle?: Settle | null;
  /**
   * The share of statements and commits at repeatable read and above that fail with 40001 although they could succeed. Not of sessions that read
   * strongly: those check, and have nothing to retry. Default 0.
   */
  readonly abortRate?: number;
  /** Sessions at a time. Default 1,000. */
  readonly sessionsMax?: number;
  /** Microseconds since 1970. Default: the machine's. */
  readonly clock?: () => bigint;
  /** Where it is given, the time limits that clients set never expire, what a verdict takes for granted by that is added here, and ways to rows are noted. */
  readonly takenForGranted?: Set<string>;
  /**
   * Are statements that could go at once held back, so that others can come first? `sometimes`: one in four, drawn, where there are other
   * sessions (default); `always`: every decision is among all that have come; `never`: in order of arrival as far as that decides.
   */
  readonly holdsBack?: 'always' | 'sometimes' | 'never';
  /** Do statements of an engine stop where others could come in between on a real server (`engine/pause.ts`)? Default true. */
  readonly pauses?: boolean;
  /** May each that is on a cycle of waits and could be a server's victim be the victim of a deadlock? Default: as `pauses`. */
  readonly anyVictim?: boolean;
  /** Who is next, where `decisions` are a recorded schedule. */
  readonly awaited?: () => number | undefined;
  /** Called with the sessions among which is decided. */
  readonly onDecision?: (ready: readonly number[]) => void;
  /** Called when a statement of this session begins to wait for another transaction. */
  readonly onWait?: (session: number, wait: Wait) => void;
  /** Collects the footprint of every step; engine profiles only. */
  readonly footprints?: FootprintRecorder;
  /** What PostgreSQL's SERIALIZABLE remembers of a read by an index: its range (default), or all of it, as where the index has one page. */
  readonly predicateReads?: 'range' | 'index';
  /**
   * In which order PostgreSQL's scan of a whole table comes to its rows: as they were inserted (default), or as their versions were written, as on a
   * server while the table has few pages and no VACUUM has run. Not with `footprints`, which do not record the second.
   */
  readonly scanOrder?: 'insertion' | 'heap';
  /** Records with which a page of an InnoDB index begins, by the names that `onPageBegin` gives. Default: none, each index has one page. */
  readonly pageBegins?: ReadonlySet<string>;
  /** Called when a row is inserted before a record that another transaction has locked: that would matter if a page began with it. */
  readonly onPageBegin?: (record: string) => void;
  /** How long one statement may compute between two waits, while all other clients wait. Milliseconds. Default 10,000. */
  readonly computeMsMax?: number;
  /** Reads and writes that are kept for the history. Default 1,000,000; with more there is no history until the next start. */
  readonly operationsMax?: number;
  /** Ways that statements take to the rows of a table, where they are not the likely ones. */
  readonly ways?: Ways;
  /** Plans of databases that the same statements have made up to `start`. Default: none are shared. */
  readonly sharedPlans?: SharedPlans;
  /** As of `PlanCacheOptions`. */
  readonly lockedReads?: readonly string[];
  /** Called once for each statement that moirai cannot do and the engine could. */
  readonly onUnsupported?: (statement: UnsupportedStatement) => void;
}
