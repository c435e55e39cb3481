/** A benchmark of BenchBase's: its tables with a small load, then its statements. */
import type { Dialect } from '../../src/sql/model/index.ts';

export interface Benchmark {
  readonly name: string;
  readonly tables: (dialect: Dialect) => readonly string[];
  readonly steps: (dialect: Dialect) => readonly Step[];
}

export type Step = readonly [sql: string, ...values: (string | null)[]];

/** What a set-up script begins with. */
export const drop = (...names: readonly string[]): string[] =>
  names.map((name) => `DROP TABLE IF EXISTS ${name} CASCADE`);
