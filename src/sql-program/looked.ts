/** What an invariant looked at. */
import type { SqlValue } from '../sql/model/index.ts';
import type { ResultColumn } from '../sql/index.ts';

export type Row = readonly SqlValue[];

/** Of one statement. */
export interface Answer {
  readonly sql: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
}

/** What an invariant looked at: the answers to its statements in order, and what sessions returned, where it asked for that. */
export interface Looked {
  readonly answers: readonly Answer[];
  readonly results: Readonly<Record<string, unknown>> | null;
}
