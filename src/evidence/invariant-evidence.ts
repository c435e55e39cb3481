/** What the invariant of a SQL program looked at: one that looks past what the sessions do holds for no reason of theirs. */
import type { StatementEvidence } from './answer-evidence.ts';

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
  /** What it did where it judged a final state again, with its answers changed; `null`: nothing is known of that. */
  readonly again: JudgedAgainEvidence | 'under-way' | null;
}

/** Of judgements of final states that are changed, one value at a time. */
export interface JudgedAgainEvidence {
  /** Did any of them fail? */
  readonly canFail: boolean;
  readonly asks: Asks;
  /** Did a session return anything in these runs, as far as the invariant asks for it? */
  readonly returned: boolean;
}

/** What an invariant asks for. */
export interface Asks {
  /** The final state: by keys or by statements. */
  readonly final: boolean;
  /** What sessions returned. */
  readonly results: boolean;
}

export const noInvariant: InvariantEvidence = {
  statements: [],
  asksResults: false,
  looked: [],
  touched: [],
  changed: [],
  again: null,
};

/** The tables, where sessions use none of them; `null`: the invariant looks at something of theirs. */
export function tablesElsewhere({ asksResults, looked, touched }: InvariantEvidence): readonly string[] | null {
  if (asksResults || touched === null || looked.length === 0) return null;
  return looked.some((table) => touched.includes(table)) ? null : looked;
}

/** What a green verdict takes for granted of it, as clauses. */
export function invariantAssumed(invariant: InvariantEvidence): string[] {
  return [...unwrittenTables(invariant), ...cannotFail(invariant)];
}

/** The clause on one that holds whatever is changed, where it is known to. */
export function cannotFail({ again }: InvariantEvidence): string[] {
  if (again === 'under-way') return ['the invariant was not judged again on changed values: that did not end'];
  if (again === null) return [];
  if (again.asks.results && !again.asks.final && !again.returned) return [nothingReturnedText];
  return again.canFail ? [] : [cannotFailText(again.asks)];
}

/** Of one that looks at results alone, and there are none: is a `return` missing in the sessions? */
export const nothingReturnedText =
  'the invariant looks only at what sessions return, and they returned nothing in the runs that were looked at';

/** Of one that holds whatever is changed in what it asks for. */
export function cannotFailText({ final, results }: Asks): string {
  if (!final && !results) return 'the invariant looks at neither the final state nor what sessions return';
  const where = [...(final ? ['the final state'] : []), ...(results ? ['what sessions return'] : [])].join(' or ');
  return `the invariant looks at what it should, although it holds whatever is changed in ${where}`;
}

function unwrittenTables({ asksResults, looked, touched, changed }: InvariantEvidence): string[] {
  if (asksResults || touched === null || looked.length === 0 || looked.some((table) => changed.includes(table)))
    return [];
  return [`the invariant looks only at ${looked.join(', ')}, which no session writes: nothing they do can break it`];
}
