/**
 * Absent rows: of two transactions each looks for the other's row, which is not there, and inserts its own: write skew on rows that no transaction
 * can have locked. Which transactions conflict is given by the order in which clients ask, so pairs overlap by chance.
 *
 * Every pair has a table in which there is no row and never was one, or it was emptied by TRUNCATE: PostgreSQL before 12.16, 13.12, 14.9
 * and 15.4 misses conflicts in an index that has no page yet (bug 17949), and commits both. Keys are used once, so that a trace which does not
 * tell of the emptying is true. Without `tend` tables fill up, and pairs conflict in indexes that have pages.
 */
import { scaled, type TransactionContext, type Workload, type WorkloadClient } from './workload.ts';

const tablesAtOne = 200;
/** Tables in one TRUNCATE. */
const emptiedMax = 20;

interface Place {
  readonly name: string;
  /** Transactions that are done with it; two for each time that it was empty. */
  done: number;
  /** How often it was emptied. */
  emptied: number;
  readonly waiting: (() => void)[];
}

export function absentRows(scale: number): Workload {
  const tables = scaled(tablesAtOne, scale, 2);
  const places = Array.from(
    { length: tables },
    (_, i): Place => ({ name: `absent_${i}`, done: 0, emptied: 0, waiting: [] }),
  );
  const state = { taken: 0, isTended: false };
  return {
    tables: places.map(({ name }) => ({
      name,
      definition: `CREATE TABLE ${name} (k int PRIMARY KEY, v int NOT NULL)`,
    })),
    load: () => Promise.resolve(),
    transaction: async (context) => {
      const pair = Math.floor(state.taken / 2);
      const side = state.taken % 2;
      state.taken += 1;
      const place = places[pair % tables] as Place;
      const round = Math.floor(pair / tables);
      try {
        while (state.isTended && place.emptied < round)
          await new Promise<void>((resolve) => place.waiting.push(resolve));
        await insertUnlessOther(context, place.name, 2 * round + side, 2 * round + 1 - side);
      } finally {
        place.done += 1;
      }
    },
    tend: async (client) => {
      state.isTended = true;
      return emptyUsed(places, client);
    },
  };
}

async function insertUnlessOther(
  { client, clientNumber }: TransactionContext,
  table: string,
  own: number,
  other: number,
): Promise<void> {
  const found = await client.query(`SELECT v FROM ${table} WHERE k = ?`, other);
  if (found.length === 0) await client.query(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, own, clientNumber);
}

/** TRUNCATE itself waits for those who have not committed yet. */
async function emptyUsed(places: readonly Place[], client: WorkloadClient): Promise<boolean> {
  const used = places.filter(({ done, emptied }) => done >= 2 * (emptied + 1)).slice(0, emptiedMax);
  if (used.length === 0) return false;
  await client.query(`TRUNCATE ${used.map(({ name }) => name).join(', ')}`);
  for (const place of used) {
    place.emptied += 1;
    for (const wake of place.waiting.splice(0)) wake();
  }
  return true;
}
