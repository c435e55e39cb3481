/** Handlers that call one function run the same statements, and have one anomaly together: it is listed once, with the names of all. */
import type { Anomaly } from './anomaly.ts';
import type { Change } from './changes.ts';

/** In the order of the first ones. The program of the first stands for all; its changes are those of each. */
export function mergeAlike(anomalies: readonly Anomaly[]): readonly Anomaly[] {
  const merged = new Map<string, Anomaly>();
  for (const anomaly of anomalies) {
    const key = likenessOf(anomaly);
    const first = merged.get(key);
    merged.set(key, first === undefined ? anomaly : withAlike(first, anomaly));
  }
  return [...merged.values()];
}

function withAlike(first: Anomaly, other: Anomaly): Anomaly {
  const alike = [...first.alike, other.transactions];
  if (first.fix === null || other.fix === null) return { ...first, alike };
  return { ...first, alike, fix: { ...first.fix, changes: [...first.fix.changes, ...other.fix.changes] } };
}

/** Equal for the same statements with the same answer and the same changes. */
function likenessOf({ name, transactions, statements, status, fix, isLeft }: Anomaly): string {
  const found = status.kind === 'confirmed' ? status.anomaly : status.kind;
  const nameless = (change: Change): unknown => ({ ...change, transaction: transactions.indexOf(change.transaction) });
  return JSON.stringify([
    name,
    transactions.length,
    isLeft,
    found,
    statements.map(({ place, sql }) => [place.file, place.line, sql]),
    fix === null ? null : [fix.isProven, fix.changes.map(nameless)],
  ]);
}
