/** What passed between a client and its server: one statement, or several in one text. */
import type { StatementResult } from './statement-rows.ts';

export interface StatementEvent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly start: number;
  readonly end: number;
  /** `done`: a result for each statement of the text, as far as the client learns them. `lost`: no answer will come. */
  readonly outcome:
    | { readonly kind: 'done'; readonly results: readonly StatementResult[] }
    | { readonly kind: 'failed'; readonly code: string; readonly results?: readonly StatementResult[] }
    | { readonly kind: 'lost' };
}

/**
 * Several in one message: when one fails, those that are known to have run are those with results; of the others one has failed and the
 * rest has not run.
 */
export function eventsOf(statements: readonly string[], event: StatementEvent): StatementEvent[] {
  const { outcome } = event;
  const results = outcome.kind === 'lost' ? [] : (outcome.results ?? []);
  const run = outcome.kind === 'done' ? statements.length : Math.min(results.length + 1, statements.length);
  return statements.slice(0, run).map((sql, i) => {
    const result = results[i];
    if (outcome.kind !== 'done' && i >= results.length) return { ...event, sql };
    return { ...event, sql, outcome: { kind: 'done', results: result === undefined ? [] : [result] } };
  });
}
