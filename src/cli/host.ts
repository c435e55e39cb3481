/** What the commands get from the process around them, so that they can be tested without one. */
import type { Program, SqlProgram } from '../program/index.ts';
import type { FailureFolder } from './failures/failure-folder.ts';
import type { Progress } from './output/progress.ts';

export interface Host {
  /** Standard output and standard error. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** A violation is printed, before the command ends: it is the exit code also where nothing reads the rest. */
  readonly foundViolation: () => void;
  /** Columns of the terminal that standard output is; `null` where it is none. */
  readonly columns: number | null;
  readonly isErrTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The bytes of a file, or of standard input for `-`. */
  readonly readInput: (path: string) => Promise<Uint8Array>;
  /** The same in pieces, which are only good until the next is asked for. */
  readonly openInput: (path: string) => AsyncIterable<Uint8Array>;
  /** What is in a folder, without what begins with a dot, sorted; `null`: it is none. */
  readonly listFolder: (path: string) => Promise<readonly FolderEntry[] | null>;
  /** Writes a file, or standard output for `-`. @throws InputError where it cannot be written */
  readonly writeOutput: (path: string, parts: Iterable<Uint8Array>) => Promise<void>;
  /** Adds to what a file has. @throws InputError where it cannot be written */
  readonly addOutput: (path: string, bytes: Uint8Array) => Promise<void>;
  /** Where failing runs are kept; `null`: nowhere. */
  readonly failures: FailureFolder | null;
  /** @throws InputError `program/...` */
  readonly loadProgram: (file: string) => Promise<Program | SqlProgram>;
  /** The default export of a user's module, which should be what the function `made` makes. @throws InputError `program/...` */
  readonly loadDefault: (file: string, made: string) => Promise<unknown>;
  /**
   * Aborted when the user has had enough: Ctrl-C, or a request to end. A command that listens ends within a second with what it has; a command that
   * never does is ended by the first such request, as any process is.
   */
  readonly interruption: AbortSignal;
  /** Resolves when the user has had enough. */
  readonly untilInterrupted: () => Promise<void>;
  /** @returns what git prints in the working directory; `null` where it fails */
  readonly git: (args: readonly string[]) => Promise<string | null>;
  readonly progress: (isQuiet: boolean) => Promise<Progress>;
  /**
   * Ends the process with what `endingOf` gives when this thread is not back for `limitMs`, or is not done soon after an interruption. `null`: the
   * thread ends by itself soon.
   */
  readonly watch: (limitMs: number, endingOf: (reason: EndReason) => Ending | null) => Watch;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Nothing found, a violation, not known, bad input or usage, our own failure. */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

/** Watches this thread from another one. */
export interface Watch {
  /** Before that, an interruption of code that does not give the thread back is not heard. */
  readonly ready: Promise<void>;
  /** This thread is getting on. */
  readonly beat: () => void;
  /** From now on, this long. */
  readonly limit: (limitMs: number) => void;
  /** From now on this thread ends by itself, and prints its result. */
  readonly stop: () => void;
}

/** What is said when this thread is ended in the middle of something. */
export interface Ending {
  readonly out: string;
  readonly err: string;
  readonly code: ExitCode;
}

/** Why it is ended: it did not give the thread back, or the user has had enough. */
export type EndReason = 'stuck' | 'interrupted';
