#!/usr/bin/env node
/** The process: streams, signals, what nobody caught, the exit code. */
import { open } from 'node:fs/promises';
import { Console } from 'node:console';
import { once } from 'node:events';
import { InputError } from '../base/index.ts';
import { reportError, runCommandLine } from './command-line.ts';
import type { ExitCode, Host } from './host.ts';
import { fileError, listFolder, openInput, readInput } from './input-files.ts';
import { loadProgram } from './load-program.ts';
import { barProgress, lineProgress, noProgress } from './progress.ts';
import { firstUserFrame } from './user-code.ts';
import { startWatchdog } from './watchdog.ts';

const { stdout, stderr, env } = process;

const host: Host = {
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  columns: stdout.isTTY ? stdout.columns : null,
  isErrTerminal: stderr.isTTY,
  env,
  readInput,
  openInput,
  listFolder,
  writeOutput,
  loadProgram,
  progress: async (isQuiet) => {
    if (stderr.isTTY) return barProgress(stderr);
    return isQuiet ? noProgress : lineProgress(host.err, () => performance.now());
  },
  watch: startWatchdog,
  untilInterrupted: () =>
    new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
    }),
};

// What a program under test prints is not part of the report.
globalThis.console = new Console(stderr, stderr);
// The reader may have enough: `moirai ... | head`.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 4));
// At once: whatever else is under way must not print a result after this.
process.on('uncaughtException', (error: unknown) =>
  process.exit(reportError(userError(error), process.argv.includes('--debug'), host)),
);

exit(await runCommandLine(process.argv.slice(2), host));

/** Whatever the program under test has left open must not keep the process. */
function exit(code: ExitCode): void {
  stdout.write('', () => process.exit(code));
}

async function writeOutput(path: string, parts: Iterable<Uint8Array>): Promise<void> {
  try {
    const file = path === '-' ? null : await open(path, 'w');
    try {
      for (const part of parts) {
        if (file !== null) await file.writeFile(part);
        else if (!stdout.write(part)) await once(stdout, 'drain');
      }
    } finally {
      await file?.close();
    }
  } catch (error) {
    throw fileError(error, path, 'written');
  }
}

/** An error that reached nobody: of the program under test, if its code is in the stack. */
function userError(error: unknown): unknown {
  const place = firstUserFrame(error);
  if (place === undefined || error instanceof InputError) return error;
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return Object.assign(new InputError('program/uncaught', `an error that nothing catches: ${what}`, place), {
    cause: error,
  });
}
