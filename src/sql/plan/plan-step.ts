/** What EXPLAIN shows: the tables that are read, in the order in which they are joined. */

export interface PlanStep {
  readonly nodeType: 'Seq Scan' | 'Index Scan' | 'Hash Join' | 'Merge Join' | 'Scan';
  /** The table's name in the query. */
  readonly relation: string;
  readonly index?: { readonly name: string; readonly condition: string };
}

/** A line a step. */
export function formatPlanText(steps: readonly PlanStep[]): string[] {
  if (steps.length === 0) return ['Result'];
  return steps.map(({ nodeType, relation, index }) => {
    const by = index === undefined ? '' : ` using ${index.name} (${index.condition})`;
    return `${nodeType}${by} on ${relation}`;
  });
}

/** EXPLAIN (FORMAT JSON): several tables are the parts of one nested loop. */
export function formatPlanJson(steps: readonly PlanStep[]): string {
  const nodes = steps.map(({ nodeType, relation, index }) => ({
    'Node Type': nodeType,
    ...(index === undefined ? {} : { 'Index Name': index.name }),
    Alias: relation,
    ...(index === undefined ? {} : { 'Index Cond': index.condition }),
  }));
  const [only = { 'Node Type': 'Result' }, ...others] = nodes;
  const plan = others.length === 0 ? only : { 'Node Type': 'Nested Loop', Plans: nodes };
  return JSON.stringify([{ Plan: plan }], null, 2);
}
