/**
 * A real PostgreSQL and the verifier of the trace that it gives, one after the other on the same machine (Fig. 11). As in the paper:
 * high contention is 24 clients and tables of scale 1, low contention a scale of 1 for each client.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres-server.ts';
import { MissingServer } from '../test/support/server-process.ts';
import { record } from './live-run.ts';
import { tableLines } from './table.ts';
import { costs, measure, shareOf } from './verify-measure.ts';

const clients = 24;
const contention = [
  ['high', 1],
  ['low', clients],
] as const;

export async function verifyBesideServer(quick: boolean, print: (line?: string) => void): Promise<void> {
  const seconds = quick ? 2 : 20;
  print();
  print(
    `PostgreSQL, serializable, ${seconds} s each, and the verifier on its trace; operations are lines of the trace`,
  );
  const rows = [
    [
      'workload',
      'contention',
      'committed',
      'operations',
      'server: /s',
      's',
      'CPU s',
      '/CPU s',
      'MB',
      '/s',
      'ratio',
      'uncertain',
    ],
  ];
  const folder = mkdtempSync(join(tmpdir(), 'moirai-verify-server-'));
  try {
    const server = await startPostgres();
    try {
      for (const workload of quick ? ['smallbank'] : ['smallbank', 'tpcc', 'blindw-w', 'blindw-rw'])
        for (const [name, scale] of contention) {
          const trace = join(folder, 'trace.jsonl.gz');
          const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
          const level = ['--isolation', 'serializable'];
          const size = ['--clients', String(clients), '--scale', String(scale), '--seconds', String(seconds)];
          const run = [workload, '--url', url, ...size, ...level];
          const { committed } = await record(trace, run);
          const cell = measure(['trace', trace, 'serializable']);
          const operations = cell.operations ?? 0;
          const [serverRate, rate] = [operations / seconds, (1_000 * operations) / cell.ms];
          const numbers = [String(committed), String(operations), String(Math.round(serverRate))];
          const ratio = (rate / serverRate).toFixed(1);
          rows.push([
            workload,
            `${name}: scale ${scale}`,
            ...numbers,
            ...costs(cell, operations),
            String(Math.round(rate)),
            ratio,
            shareOf(cell),
          ]);
        }
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error;
    print(`left out: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const line of tableLines(rows)) print(line);
}
