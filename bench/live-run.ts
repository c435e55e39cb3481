/** One cell of the live campaign, through the command line as a user has it: `moirai workload --trace`, then `moirai verify`. */
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip, createGzip } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const commandLine = ['--import', 'tsx', '--max-old-space-size=3000', join(root, 'src/cli/main.ts')];

export interface Recorded {
  readonly committed: number;
  readonly aborted: number;
}

export interface Verified {
  readonly verdict: 'satisfied' | 'violated' | 'unknown' | 'failed';
  readonly operations: number;
  readonly transactions: number;
  readonly violationCount: number;
  readonly deduced: number;
  readonly uncertain: number;
  /** What the command printed: the violations, or why it failed. */
  readonly report: string;
  readonly seconds: number;
}

/** Records into `trace`, which is compressed and appears when it is complete. @throws what the workload died of */
export async function record(trace: string, workload: readonly string[]): Promise<Recorded> {
  const raw = `${trace}.part`;
  const ran = await run(['workload', ...workload, '--trace', raw, '--json']);
  if (ran.code !== 0) throw new Error(`moirai workload ${workload.join(' ')}: exit code ${ran.code}\n${ran.err}`);
  await pipeline(createReadStream(raw), createGzip({ level: 1 }), createWriteStream(`${raw}.gz`));
  renameSync(`${raw}.gz`, trace);
  rmSync(raw);
  return JSON.parse(ran.out) as Recorded;
}

/** @param claim options of `moirai verify` that say which mechanisms */
export async function verify(trace: string, claim: readonly string[]): Promise<Verified> {
  if (!existsSync(trace)) throw new Error(`there is no trace ${trace}`);
  const startedMs = performance.now();
  const { code, out, err } = await run(['verify', '-', ...claim, '--json'], trace);
  const seconds = (performance.now() - startedMs) / 1_000;
  if (out === '' || code === null || code > 2)
    return {
      verdict: 'failed',
      operations: 0,
      transactions: 0,
      violationCount: 0,
      deduced: 0,
      uncertain: 0,
      report: `exit code ${code}\n${err}`,
      seconds,
    };
  return { ...(JSON.parse(out) as Verified), report: out, seconds };
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** @param trace goes to its standard input, decompressed */
function run(args: readonly string[], trace?: string): Promise<Ran> {
  const child = spawn(process.execPath, [...commandLine, ...args], { stdio: ['pipe', 'pipe', 'pipe'], cwd: root });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (bytes: Buffer) => void (printed.out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => void (printed.err += bytes.toString()));
  // A command that ends early has no use for the rest of the trace.
  if (trace === undefined) child.stdin.end();
  else pipeline(createReadStream(trace), createGunzip(), child.stdin).catch(() => {});
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
  });
}
