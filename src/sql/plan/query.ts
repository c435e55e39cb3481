/** A planned SELECT: its columns and how its rows come. */
import type { Node } from '@pgsql/types';
import type { Frame, SubqueryJoin } from '../expression.ts';
import type { Waiting, SqlType, SqlValue } from '../model/index.ts';
import type { Running } from '../execution.ts';

export type Values = readonly SqlValue[];

export interface OutputColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly modifier: number;
  readonly isNullable: boolean;
  /** As `Expression.isUnsigned`. */
  readonly isUnsigned?: boolean;
  /** The stored column that it is, if it is one. */
  readonly origin: { readonly table: number; readonly tableName: string; readonly number: number } | null;
}

export interface PlannedQuery {
  readonly columns: readonly OutputColumn[];
  readonly rows: (outer: Frame | null, running: Running) => Iterable<Values>;
  /** Is there a row? Targets are not evaluated for that. `null`: look for the first of `rows`. */
  readonly hasRow: ((outer: Frame | null, running: Running) => boolean) | null;
  /** Of a query that the server joins for EXISTS. */
  readonly join?: SubqueryJoin | undefined;
  /** Where it locks what it reads, it may have to wait: then it has to be run by this. */
  readonly locking: ((outer: Frame | null, running: Running) => Waiting<Values[]>) | null;
  /** Does it look at rows of the query around? */
  readonly isCorrelated: boolean;
  /** Of one that has run: had its aggregates, which give a row without GROUP BY all the same, no row to read? `undefined`: it has none. */
  readonly metNoRow?: (running: Running) => boolean;
}

/** A SELECT whose names have meanings, and whose conditions are not complete. */
export interface OpenQuery {
  readonly columns: readonly OutputColumn[];
  /** The expression of a column, for a condition on it; `null`: there is none that means the same there. */
  readonly expressionOf: (column: number) => Node | null;
  /** Does it evaluate a condition once for each row? One that does not lock is read whole and kept, or read again. */
  readonly takesVolatile: boolean;
  /** Plans it with these conditions added to its own. */
  readonly close: (conditions: readonly Node[]) => PlannedQuery;
}

export function newFrame(rowCount: number, running: Running, outer: Frame | null): Frame {
  const rows: Frame['rows'] = [];
  for (let i = 0; i < rowCount; i++) rows.push(null);
  return { rows, computed: [], execution: running, outer };
}

export function restore(frame: Frame, rows: Frame['rows'], computed: readonly SqlValue[]): void {
  for (let i = 0; i < rows.length; i++) frame.rows[i] = rows[i] ?? null;
  for (let i = 0; i < computed.length; i++) frame.computed[i] = computed[i] ?? null;
}
