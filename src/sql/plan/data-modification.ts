/** A planned INSERT, UPDATE, DELETE or MERGE. */
import type { Frame } from '../expression.ts';
import type { Waiting } from '../model/index.ts';
import type { OutputColumn, Values } from './query.ts';
import type { Running } from '../execution.ts';

export interface DataModification {
  readonly command: 'INSERT' | 'UPDATE' | 'DELETE' | 'MERGE';
  /** `null`: without RETURNING. */
  readonly columns: readonly OutputColumn[] | null;
  readonly run: (outer: Frame | null, running: Running) => Waiting<ModificationOutcome>;
}

export interface ModificationOutcome {
  /** Of RETURNING. */
  readonly rows: Values[];
  /** Rows written; MySQL's count differs. */
  readonly rowCount: number;
  /** Rows that matched, changed or not. */
  readonly foundRows: number;
  /** The AUTO_INCREMENT value in the answer to MySQL's clients; 0 for none. */
  readonly insertId: bigint;
  /** Is it a number that was drawn? `LAST_INSERT_ID()` remembers only those. */
  readonly hasDrawn?: boolean;
}
