/** The command line under test: in this process with what it prints collected, or as the built program in one of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { InputError } from '../../src/base/index.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Host } from '../../src/cli/host.ts';
import { noProgress } from '../../src/cli/output/progress.ts';
import { checkProgram, isSqlProgram } from '../../src/program/index.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'dist/cli/main.js');

export interface Ended {
  readonly code: number | null;
  readonly signal?: string | null;
  readonly out: string;
  readonly err: string;
}

/** What is in the files of the command line: bytes of histories, or programs, which are not loaded from anywhere. */
export type Files = Readonly<Record<string, unknown>>;

/** Runs a command in this process. */
export async function runHere(args: readonly string[], files: Files = {}, changes: Partial<Host> = {}): Promise<Ended> {
  const printed = { out: '', err: '' };
  const readInput: Host['readInput'] = async (path) => {
    const found = files[path];
    if (typeof found === 'string') return new TextEncoder().encode(found);
    if (found instanceof Uint8Array) return found;
    throw new InputError('history/missing-file', 'there is no such file', { file: path });
  };
  const host: Host = {
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    columns: null,
    isErrTerminal: false,
    env: {},
    readInput,
    openInput: async function* (path) {
      const bytes = await (changes.readInput ?? readInput)(path);
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
    listFolder: async (path) => {
      const inside = Object.keys(files).filter((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
      const names = new Map(
        inside.map((file) => {
          const [name = '', ...rest] = file.slice(path.replace(/\/$/, '').length + 1).split('/');
          return [name, rest.length > 0];
        }),
      );
      return inside.length === 0
        ? null
        : [...names.keys()].toSorted().map((name) => ({ name, isFolder: names.get(name) === true }));
    },
    writeOutput: async () => {
      throw new Error('a test that writes says where to');
    },
    addOutput: async () => {
      throw new Error('a test that adds to a file says to which');
    },
    failures: null,
    foundViolation: () => {},
    loadProgram: async (file) => {
      const found = files[file];
      return isSqlProgram(found) ? found : checkProgram(found);
    },
    loadDefault: async (file) => files[file],
    interruption: new AbortController().signal,
    untilInterrupted: async () => {},
    git: async () => {
      throw new Error('a test that asks git says what it answers');
    },
    progress: async () => noProgress,
    watch: () => ({ ready: Promise.resolve(), beat: () => {}, limit: () => {}, stop: () => {} }),
    ...changes,
  };
  const code = await runCommandLine(args, host);
  return { code, ...printed };
}

/** A folder with these files, outside the repository: nothing there but what a user has. */
export class UserFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'moirai-user-'));

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(this.path, name, '..'), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface SpawnOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void, stdin: Writable) => void;
  /** `false`: `onStart` writes to its standard input, and ends it. */
  readonly endsInput?: boolean;
  /** Called when something is printed. */
  readonly onOutput?: (kill: (signal: NodeJS.Signals) => void, text: string) => void;
}

/** Runs the built command line in a process of its own, as a user would. */
export function runBuilt(args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  return runProcess(process.execPath, [main, ...args], options);
}

export function runProcess(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  const { cwd = root, input, onOutput } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { cwd, env: { ...plainEnvironment(), ...options.env } });
    let [out, err] = ['', ''];
    const kill = (signal: NodeJS.Signals): void => void child.kill(signal);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      onOutput?.(kill, text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
      onOutput?.(kill, text);
    });
    child.on('error', reject);
    // A command that reads no input may have ended before it is closed.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error);
    });
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
    options.onStart?.(kill, child.stdin);
    if (options.endsInput !== false) child.stdin.end(input ?? '');
  });
}

/** Ours without what test runners and npm put into it. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const hidden = /^(?:npm_|VITEST|NODE_OPTIONS$|NODE_V8_COVERAGE$|FORCE_COLOR$|NO_COLOR$|CI$)/;
  const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
  // What one test finds is not to be replayed by another.
  return Object.fromEntries([...kept, ['MOIRAI_FAILURES', 'off']]);
}

/** Builds dist when a source is newer. Test files run side by side: one builds, the others wait. */
export async function build(): Promise<void> {
  const lock = join(root, 'node_modules/.moirai-build-lock');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (ageMs(lock) > 120_000) rmSync(lock, { recursive: true, force: true });
      await sleep(100);
    }
  }
  try {
    const { code, err } = await runProcess(process.execPath, [join(root, 'scripts/prepare.mjs')]);
    if (code !== 0) throw new Error(`the build failed: ${err}`);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function ageMs(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}
