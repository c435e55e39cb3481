/** What the invariant of a SQL program looked at: one that looks past what the sessions do holds for no reason of theirs. */
import type { StatementEvidence } from './evidence.ts';

/** Over all runs, or of one. Plain data. */
export interface InvariantEvidence {
  /** Its statements, each once. */
  readonly statements: readonly StatementEvidence[];
  /** Did it ask for what sessions returned? */
  readonly asksResults: boolean;
  /** The tables that it looked at, by name. */
  readonly looked: readonly string[];
  /** The tables that statements of the sessions named, or could reach by foreign keys; `null`: a statement may have used any, such as a definition. */
  readonly touched: readonly string[] | null;
  /** Those of them in statements that write. */
  readonly changed: readonly string[];
}

export const noInvariant: InvariantEvidence = {
  statements: [],
  asksResults: false,
  looked: [],
  touched: [],
  changed: [],
};

/** The tables, where sessions use none of them; `null`: the invariant looks at something of theirs. */
export function tablesElsewhere({ asksResults, looked, touched }: InvariantEvidence): readonly string[] | null {
  if (asksResults || touched === null || looked.length === 0) return null;
  return looked.some((table) => touched.includes(table)) ? null : looked;
}

/** What a green verdict takes for granted of it, as clauses. */
export function invariantAssumed(invariant: InvariantEvidence): string[] {
  const { asksResults, looked, touched, changed } = invariant;
  if (asksResults || touched === null || looked.length === 0 || looked.some((table) => changed.includes(table)))
    return [];
  return [`the invariant looks only at ${looked.join(', ')}, which no session writes: nothing they do can break it`];
}
