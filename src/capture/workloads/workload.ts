/** What a workload is: tables, rows to begin with, and transactions drawn at random. Statements have `?` for parameters in both dialects. */
import type { Chooser } from '../../base/index.ts';

export type ResultRow = Readonly<Record<string, unknown>>;

export interface WorkloadClient {
  readonly query: (sql: string, ...parameters: readonly unknown[]) => Promise<readonly ResultRow[]>;
}

export interface TransactionContext {
  readonly client: WorkloadClient;
  readonly random: Chooser;
  /** A number that no other call has given, in no other client either: for values that are written once. */
  readonly unique: () => number;
  /** Which client this is, from 0. */
  readonly clientNumber: number;
}

export interface Workload {
  readonly tables: readonly { readonly name: string; readonly definition: string }[];
  readonly load: (client: WorkloadClient) => Promise<void>;
  /** The statements between BEGIN and COMMIT; with `isSingle` one statement without them. */
  readonly transaction: (context: TransactionContext) => Promise<void>;
  readonly isSingle?: boolean;
  /**
   * What has to be done to the tables from time to time, side by side with the clients, by one that is not recorded; PostgreSQL only.
   * @returns whether there was anything to do
   */
  readonly tend?: (client: WorkloadClient) => Promise<boolean>;
}

/** An integer from `low` to `high`, both included. */
export function integer(random: Chooser, low: number, high: number): number {
  return low + random.choose(high - low + 1);
}

/** That many at scale 1; never fewer than `least`. */
export function scaled(count: number, scale: number, least: number): number {
  return Math.max(least, Math.round(count * scale));
}

/** A column of a row as a number: drivers give decimals and 64-bit counts as text, servers names in their own case. */
export function numberOf(row: ResultRow | undefined, column: string): number {
  return Number(row?.[column] ?? row?.[column.toUpperCase()] ?? 0);
}

/** Rows in statements of 100. */
export async function insertRows(
  client: WorkloadClient,
  table: string,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += 100) {
    const part = rows.slice(from, from + 100);
    const marks = part.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
    await client.query(`INSERT INTO ${table} VALUES ${marks}`, ...part.flat());
  }
}
