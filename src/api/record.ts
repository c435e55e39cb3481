/**
 * `node --import moirai/record app.js`: records what the application's database drivers do into the file that MOIRAI_TRACE names (default
 * `moirai.trace.jsonl`). Drivers are found from the application's folder; those that are not there are left out.
 * @module
 */
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { formatInputError, InputError } from '../base/index.ts';
import { loadParser } from '../sql/index.ts';
import { hookDrivers, startTraceRecording, type TraceRecording } from '../capture/index.ts';

const warn = (message: string): void => void process.stderr.write(`moirai: ${message}\n`);
// `%p` is the process, so that those of a cluster do not write over each other's files.
const path = (process.env['MOIRAI_TRACE'] ?? 'moirai.trace.jsonl').replaceAll('%p', String(process.pid));
const isPipe = path === '-' || path.startsWith('/dev/');

if (isMainThread || !isPipe) await recordInto(isMainThread ? path : ofThread(path));
else warn(`thread ${threadId} is not recorded: two traces cannot be in one pipe`);

async function recordInto(file: string): Promise<void> {
  const started = await start(file);
  if (started === null) return;
  const { recording, close } = started;
  await loadParser();
  // From the program's own folder, else from where it was started.
  const here = join(process.cwd(), 'app.js');
  await hookDrivers(recording, [process.argv[1] ?? here, here], warn);
  // The exit code is the application's. A trace that is not whole ends without its last mark, so `moirai verify` answers unknown.
  process.once('exit', () => {
    const failure = close();
    if (failure !== null) warn(formatInputError(failure));
  });
}

/** `null`: another process writes this file, often the one that started this one with the same environment. The application runs unrecorded. */
async function start(file: string): Promise<TraceRecording | null> {
  try {
    return await startTraceRecording(file, warn, {
      completesReads: process.env['MOIRAI_COMPLETE_READS'] === '1',
      keepsStatements: process.env['MOIRAI_STATEMENTS'] === '1',
      clockSource: process.env['MOIRAI_CLOCK_SOURCE'],
    });
  } catch (error) {
    if (!(error instanceof InputError && error.code === 'file/locked')) throw error;
    warn(
      `process ${process.pid} is not recorded: ${formatInputError(error)}; %p in MOIRAI_TRACE gives each process its own file`,
    );
    return null;
  }
}

/** `run.trace.jsonl` of thread 2 is `run.2.trace.jsonl`. */
function ofThread(file: string): string {
  return file.replace(/(?:\.trace)?\.jsonl$|$/, (end) => `.${threadId}${end}`);
}
