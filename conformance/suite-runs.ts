/** How a client's test suite runs: as its own package runs it, against a server on some port of this machine. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** By name of a test (of a file, where a file is one process and one answer): did it pass? */
export type SuiteResults = ReadonlyMap<string, boolean>;

/** @param folder the sources, ready to run @param on moirai lets every user into every database, so that nothing has to make them */
export type RunSuite = (folder: string, port: number, on: 'server' | 'moirai') => Promise<SuiteResults>;

const fileMs = 40_000;
const mochaMs = 600_000;
const suiteMs = 900_000;

interface FilesOfSuite {
  /** Where the files run. */
  readonly cwd: string;
  readonly folders: readonly string[];
  readonly ending: string;
  readonly env: (port: number) => Readonly<Record<string, string>>;
}

/** Each file is a process of its own. */
export function eachFile({ cwd, folders, ending, env }: FilesOfSuite): RunSuite {
  return async (root, port) => {
    const base = join(root, cwd);
    const results = new Map<string, boolean>();
    for (const folder of folders) {
      const names = readdirSync(join(base, folder), { recursive: true, encoding: 'utf8' });
      for (const name of names.filter((each) => each.endsWith(ending)).toSorted()) {
        const options = { cwd: base, env: env(port), timeoutMs: fileMs };
        results.set(name, await isDone([join(base, folder, name)], options));
      }
    }
    return results;
  };
}

/**
 * Each file is a process of mocha, so that one that hangs or exits does not take the others' results with it. Tests that name a fixed port reach the
 * server all the same: `redirect-ports.mjs`.
 */
export function mocha(folder: string, named: number, env: Readonly<Record<string, string>>): RunSuite {
  return async (root, port) => {
    const output = join(tmpdir(), `moirai-suite-${process.pid}.json`);
    const reporter = ['--reporter', 'json', '--reporter-option', `output=${output}`];
    const command = ['node_modules/mocha/bin/mocha.js', '--timeout', '60000', '--exit', ...reporter];
    const hook = imported('redirect-ports.mjs');
    const redirected = { ...env, MOIRAI_SUITE_PORTS: `${named}:${port}`, NODE_OPTIONS: hook };
    const results = new Map<string, boolean>();
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => each.endsWith('.test.js')).toSorted()) {
      await isDone([...command, join(folder, name)], { cwd: root, env: redirected, timeoutMs: mochaMs });
      if (!existsSync(output)) continue;
      const { passes, failures } = JSON.parse(readFileSync(output, 'utf8')) as Record<string, { fullTitle: string }[]>;
      rmSync(output);
      for (const { fullTitle } of passes ?? []) results.set(fullTitle, true);
      for (const { fullTitle } of failures ?? []) results.set(fullTitle, false);
    }
    return results;
  };
}

/** postgres.js, whose own runner passes over what follows the first failure: `each-test.mjs` stands in its place. */
export const postgresJs: RunSuite = async (root, port, on) => {
  const output = join(tmpdir(), `moirai-suite-${process.pid}.jsonl`);
  writeFileSync(output, '');
  const env = {
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: 'postgres',
    PGDATABASE: 'postgres',
    MOIRAI_SUITE_PORTS: `5432:${port}`,
    MOIRAI_SUITE_OUTPUT: output,
    MOIRAI_SUITE_BOOTSTRAP: on === 'moirai' ? 'none' : 'own',
    NODE_OPTIONS: `${imported('redirect-ports.mjs')} ${imported('each-test.mjs')}`,
  };
  const lines = (): string[] => readFileSync(output, 'utf8').split('\n').slice(0, -1);
  for (let isOver = false, count = -1; !isOver && count < lines().length; ) {
    count = lines().length;
    if (on === 'moirai') await emptied(port);
    isOver = await isDone(['tests/index.js'], { cwd: root, env, timeoutMs: suiteMs });
  }
  const results = lines().map((line) => JSON.parse(line) as [string, boolean]);
  rmSync(output);
  return new Map(results);
};

/** What the bootstrap does on a server by making its database anew. */
async function emptied(port: number): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('/* moirai reset */');
  await client.end();
}

function imported(file: string): string {
  return `--import ${new URL(file, import.meta.url).href}`;
}

interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

function isDone(args: readonly string[], { cwd, env, timeoutMs }: ProcessOptions): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: process.env['MOIRAI_SUITE_VERBOSE'] === undefined ? 'ignore' : ['ignore', 'inherit', 'inherit'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code === 0));
  });
}
