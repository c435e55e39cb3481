/**
 * `npm run bench -- live`: real servers at each of their levels, each workload, with the claim that is right: every violation is a false
 * alarm, or a bug of the server. Then claims that are wrong, which have to be found. Traces are kept in a folder: what is there already is
 * verified again and not recorded again.
 *
 * Settings: `--traces=FOLDER`, `--only=REGULAR-EXPRESSION` of cells, `--seconds=60`, `--clients=8,24`, `--parallel=1`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissingServer, type TestServer } from '../test/support/server-process.ts';
import { execute } from './live-database.ts';
import { type LiveCell, type LiveServer, liveCells } from './live-cells.ts';
import { record, type Recorded, type Verified, verify } from './live-run.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

export const liveSettings = ['traces', 'only', 'seconds', 'clients', 'parallel'] as const;

export async function live({ quick, settings = new Map(), print }: BenchOptions): Promise<void> {
  const setting = (name: (typeof liveSettings)[number], otherwise: string): string => settings.get(name) ?? otherwise;
  const folder = setting('traces', join(tmpdir(), 'live-traces'));
  const only = new RegExp(setting('only', ''), 'u');
  const clients = setting('clients', quick ? '8' : '8,24')
    .split(',')
    .map(Number);
  const cells = liveCells(clients).filter(({ name }) => only.test(name));
  mkdirSync(folder, { recursive: true });
  const servers = new SharedServers();
  const rows = new Map<LiveCell, string[]>();
  const waiting = [...cells];
  const worker = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const row = await rowOf(cell, folder, Number(setting('seconds', quick ? '2' : '60')), servers);
      rows.set(cell, row);
      print(row.join('  '));
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void servers.stop().finally(() => process.exit(1)));
  try {
    await Promise.all(Array.from({ length: Number(setting('parallel', '1')) }, worker));
  } finally {
    await servers.stop();
  }
  print();
  for (const line of tableLines([columns, ...cells.map((cell) => rows.get(cell) ?? [])])) print(line);
  for (const line of summary(cells, rows)) print(line);
}

/** For each server and what was expected: cells, cells as expected, operations. */
function summary(cells: readonly LiveCell[], rows: ReadonlyMap<LiveCell, readonly string[]>): string[] {
  const sums = new Map<string, [number, number, number]>();
  for (const cell of cells) {
    const [, , verdict, operations = '0'] = rows.get(cell) ?? [];
    const group = `${cell.server.kind}, ${cell.expected}`;
    const [all, held, total] = sums.get(group) ?? [0, 0, 0];
    sums.set(group, [all + 1, held + (verdict === cell.expected ? 1 : 0), total + Number(operations)]);
  }
  const lines = [...sums].map(([group, numbers]) => [group, ...numbers.map(String)]);
  return ['', ...tableLines([['server, expected', 'cells', 'as expected', 'operations'], ...lines])];
}

const columns = [
  'cell',
  'expected',
  'verdict',
  'operations',
  'transactions',
  'aborted',
  'violations',
  'uncertain',
  'verified in s',
];

async function rowOf(cell: LiveCell, folder: string, seconds: number, servers: SharedServers): Promise<string[]> {
  const trace = join(folder, `${cell.trace}.jsonl.gz`);
  const countsFile = join(folder, `${cell.trace}.counts.json`);
  try {
    if (!existsSync(trace)) writeFileSync(countsFile, JSON.stringify(await recordCell(cell, trace, seconds, servers)));
    const { aborted } = JSON.parse(readFileSync(countsFile, 'utf8')) as Recorded;
    const verified = await verify(trace, ['--engine', cell.server.engine, '--isolation', cell.claim]);
    if (verified.verdict !== cell.expected) writeFileSync(join(folder, `${cell.name}.report.json`), verified.report);
    return [cell.name, cell.expected, ...rowOfVerified(verified, aborted)];
  } catch (error) {
    if (error instanceof MissingServer) return [cell.name, `no server: ${error.message}`];
    return [cell.name, `failed: ${String(error)}`];
  }
}

function rowOfVerified(verified: Verified, aborted: number): string[] {
  const { verdict, operations, transactions, violationCount, deduced, uncertain, seconds, report } = verified;
  if (verdict === 'failed') return [`failed: ${report}`];
  const share = (100 * uncertain) / Math.max(1, deduced + uncertain);
  return [
    verdict,
    ...[operations, transactions, aborted, violationCount].map(String),
    `${share.toFixed(2)} %`,
    seconds.toFixed(1),
  ];
}

/** In a database of its own, so that cells may run side by side. */
async function recordCell(
  { trace: name, server, level, workload, clients, scale }: LiveCell,
  file: string,
  seconds: number,
  servers: SharedServers,
): Promise<Recorded> {
  const { port } = await servers.of(server);
  const database = name.replaceAll(/\W/gu, '_');
  await execute(server.engine, port, `DROP DATABASE IF EXISTS ${database}`);
  await execute(server.engine, port, `CREATE DATABASE ${database}`);
  const user = server.engine === 'postgres' ? 'postgres' : 'root';
  const url = `${server.engine}://${user}@127.0.0.1:${port}/${database}`;
  const size = ['--clients', String(clients), '--seconds', String(seconds), '--scale', String(scale)];
  const counts = await record(file, [workload, '--url', url, '--isolation', level, ...size]);
  await execute(server.engine, port, `DROP DATABASE ${database}`);
  return counts;
}

/** Started for the first cell that asks, stopped at the end. */
class SharedServers {
  readonly #running = new Map<LiveServer, Promise<TestServer>>();

  of(server: LiveServer): Promise<TestServer> {
    const running = this.#running.get(server) ?? server.start();
    this.#running.set(server, running);
    return running;
  }

  async stop(): Promise<void> {
    const started = await Promise.allSettled(this.#running.values());
    for (const each of started) if (each.status === 'fulfilled') await each.value.stop();
  }
}
