/** The workloads by name, and how one runs: clients side by side until the time is over. */
import { seeded } from '../../base/index.ts';
import { absentRows } from './absent-rows.ts';
import { blindWrites } from './blindw.ts';
import { listAppend } from './list-append.ts';
import { smallBank } from './smallbank.ts';
import { tpcc } from './tpcc-load.ts';
import type { Workload, WorkloadClient } from './workload.ts';
import { ycsbA } from './ycsb.ts';

export const workloadNames = [
  'blindw-w',
  'blindw-rw',
  'blindw-rw+',
  'ycsb-a',
  'smallbank',
  'tpcc',
  'list-append',
  'absent-rows',
] as const;

export type WorkloadName = (typeof workloadNames)[number];

/**
 * @param skew of `ycsb-a`
 * @param scale how large its tables are, 1 as in the papers: warehouses of `tpcc`, thousands of customers of `smallbank`
 */
export function workloadOf(name: WorkloadName, skew: number, scale = 1): Workload {
  switch (name) {
    case 'blindw-w':
      return blindWrites('w', scale);
    case 'blindw-rw':
      return blindWrites('rw', scale);
    case 'blindw-rw+':
      return blindWrites('rw+', scale);
    case 'ycsb-a':
      return ycsbA(skew, scale);
    case 'smallbank':
      return smallBank(scale);
    case 'tpcc':
      return tpcc(scale);
    case 'list-append':
      return listAppend(scale);
    case 'absent-rows':
      return absentRows(scale);
  }
}

export interface WorkloadRun {
  readonly workload: Workload;
  readonly clients: readonly WorkloadClient[];
  /** The statements that begin a transaction. */
  readonly begin: readonly string[];
  readonly seed: number;
  readonly isOver: () => boolean;
  /** Is it a serialization failure, a deadlock or another conflict, after which clients continue? Other errors end the run. */
  readonly isConflict: (error: unknown) => boolean;
}

export interface WorkloadCounts {
  committed: number;
  aborted: number;
}

/** Makes its tables anew and fills them. */
export async function loadWorkload({ tables, load }: Workload, client: WorkloadClient): Promise<void> {
  for (const { name } of tables.toReversed()) await client.query(`DROP TABLE IF EXISTS ${name}`);
  for (const { definition } of tables) await client.query(definition);
  await client.query('BEGIN');
  await load(client);
  await client.query('COMMIT');
}

/** What each client asks is drawn from the seed; which statements conflict is the server's business. @throws what is no conflict */
export async function runWorkload(run: WorkloadRun): Promise<WorkloadCounts> {
  const counts: WorkloadCounts = { committed: 0, aborted: 0 };
  let hasFailed = false;
  const results = await Promise.allSettled(
    run.clients.map(async (client, i) => {
      try {
        await runClient(run, client, i, counts, () => hasFailed);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return counts;
}

async function runClient(
  { workload, begin, seed, isOver, isConflict }: WorkloadRun,
  client: WorkloadClient,
  clientNumber: number,
  counts: WorkloadCounts,
  hasFailed: () => boolean,
): Promise<void> {
  const random = seeded(seed, clientNumber);
  let given = 0;
  const unique = (): number => clientNumber * 1e9 + (given += 1);
  while (!isOver() && !hasFailed()) {
    try {
      if (workload.isSingle !== true) for (const statement of begin) await client.query(statement);
      await workload.transaction({ client, random, unique, clientNumber });
      if (workload.isSingle !== true) await client.query('COMMIT');
      counts.committed += 1;
    } catch (error) {
      if (!isConflict(error)) throw error;
      counts.aborted += 1;
      if (workload.isSingle !== true) await client.query('ROLLBACK');
    }
  }
}
