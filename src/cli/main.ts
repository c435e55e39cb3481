#!/usr/bin/env node
/** The process: streams, signals, uncaught errors, the exit code. */
import { Console } from 'node:console';
import { once } from 'node:events';
import { addToFile, writeErrorText, writeWhole } from '../files/index.ts';
import { reportError, runCommandLine } from './command-line.ts';
import { failureFolder } from './failures/failure-folder.ts';
import { endProcess, refuseOtherEnds } from './interruption/end-process.ts';
import type { ExitCode, Host } from './host.ts';
import { listFolder, openInput, readInput } from './files/input-files.ts';
import { listenForInterruption } from './interruption/interruption.ts';
import { loadDefault, loadProgram } from './modules/load-program.ts';
import { barProgress, lineProgress, noProgress } from './output/progress.ts';
import { runGit } from './analyze/run-git.ts';
import { uncaught } from './modules/user-code.ts';
import { startWatchdog } from './interruption/watchdog.ts';

const { stdout, stderr, env } = process;

let interruption: AbortSignal | null = null;
let hasViolation = false;
const host: Host = {
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  foundViolation: () => {
    hasViolation = true;
  },
  columns: stdout.isTTY ? stdout.columns : null,
  isErrTerminal: stderr.isTTY,
  env,
  readInput,
  openInput,
  listFolder,
  writeOutput,
  addOutput: async (path, bytes) => addToFile(path, bytes),
  failures: failureFolder(env),
  loadProgram,
  loadDefault,
  git: (args) => runGit(args),
  progress: async (isQuiet) => {
    if (stderr.isTTY) return barProgress(stderr);
    return isQuiet ? noProgress : lineProgress(host.err, () => performance.now());
  },
  watch: startWatchdog,
  get interruption() {
    interruption ??= listenForInterruption();
    return interruption;
  },
  untilInterrupted: () =>
    new Promise((resolve) => {
      if (host.interruption.aborted) resolve();
      else host.interruption.addEventListener('abort', () => resolve());
    }),
};

// What a program under test prints is not part of the report.
globalThis.console = new Console(stderr, stderr);
let endCode: ExitCode = 0;
stdout.on('error', (error: NodeJS.ErrnoException) => exitUnread(error));
// At once: whatever else is under way must not print a result after this.
process.on('uncaughtException', (error: unknown) =>
  endProcess(reportError(uncaught(error), process.argv.includes('--debug'), host)),
);

refuseOtherEnds();
exit(await runCommandLine(process.argv.slice(2), host));

/** Whatever the program under test has left open must not keep the process. */
function exit(code: ExitCode): void {
  endCode = code;
  stdout.write('', (error) => {
    if (error === null || error === undefined) endProcess(code);
    // The first error says what is wrong, and comes as an event after this one.
    setImmediate(() => exitUnread(error));
  });
}

/** The reader has enough (`moirai ... | head`) and the verdict did not reach it, or the disk is full. A violation is one all the same. */
function exitUnread(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') endProcess(hasViolation || endCode === 1 ? 1 : Math.max(endCode, 2));
  host.err(`standard output cannot be written: ${writeErrorText(error)} [file/output]\n`);
  endProcess(Math.max(endCode, 3));
}

async function writeOutput(path: string, parts: Iterable<Uint8Array>): Promise<void> {
  if (path !== '-') {
    writeWhole(path, parts);
    return;
  }
  for (const part of parts) if (!stdout.write(part)) await once(stdout, 'drain');
}
