/** The benchmarks of `examples/analyze` as the source reader sees them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Application, Dialect } from '../../src/analyze/index.ts';
import { applicationFromSource, type loadTypeScript } from '../../src/analyze/source/index.ts';

export interface BenchmarkApplication {
  readonly name: string;
  /** Below `examples/analyze`. */
  readonly folder: string;
  readonly dialect: Dialect;
  /** Seconds of the whole analysis in the CLOTHO paper (OOPSLA 2019, table 2); `null`: it has none of this one. */
  readonly paperSeconds: number | null;
}

export const benchmarkApplications: readonly BenchmarkApplication[] = [
  { name: 'TATP, Kysely', folder: 'tatp/src', dialect: 'postgres', paperSeconds: 55 },
  { name: 'Voter, Knex', folder: 'voter/src', dialect: 'postgres', paperSeconds: 8 },
  { name: 'Voter with a limit', folder: 'voter/limited', dialect: 'postgres', paperSeconds: null },
  { name: 'Twitter, Drizzle', folder: 'twitter/src', dialect: 'postgres', paperSeconds: 211 },
  { name: 'SmallBank, pg', folder: 'smallbank/src', dialect: 'postgres', paperSeconds: 264 },
  { name: 'SmallBank, mysql2', folder: 'smallbank-mysql/src', dialect: 'mysql', paperSeconds: null },
  { name: 'Wikipedia, mysql2', folder: 'wikipedia/src', dialect: 'mysql', paperSeconds: 4343 },
  { name: 'SEATS, postgres', folder: 'seats/src', dialect: 'postgres', paperSeconds: 1970 },
  { name: 'TPC-C, pg', folder: 'tpcc/src', dialect: 'postgres', paperSeconds: 3270 },
];

export function readApplication(
  { folder, dialect }: Pick<BenchmarkApplication, 'folder' | 'dialect'>,
  ts: Awaited<ReturnType<typeof loadTypeScript>>,
): Application {
  const at = fileURLToPath(new URL(`../../examples/analyze/${folder}/`, import.meta.url));
  const files = new Map(readdirSync(at).map((name) => [name, readFileSync(at + name, 'utf8')]));
  const schema = readFileSync(`${at}../schema.sql`, 'utf8');
  return applicationFromSource({ ts, files, schema, dialect });
}
