/** The statements at which transactions conflict: where to look in the code. */
import type { Access } from './access.ts';
import type { Place } from './application.ts';
import type { AnalyzedTransaction } from './transactions.ts';

export interface StatementPlace {
  readonly place: Place;
  readonly sql: string;
}

/** Those of each transaction that conflict with one of another instance of them, itself included, and have not the same rows for sure apart. */
export function conflictingStatements(transactions: readonly AnalyzedTransaction[]): readonly StatementPlace[] {
  const all = transactions.flatMap(({ paths }) => paths.flat());
  const found = new Map<string, StatementPlace>();
  for (const { statement, moments } of all) {
    const accesses = moments.flat();
    const conflicts = all.some((other) =>
      other.moments.flat().some((access) => accesses.some((own) => conflict(own, access))),
    );
    if (conflicts) found.set(`${statement.place.file}:${statement.place.line} ${statement.sql}`, statement);
  }
  return [...found.values()].map(({ place, sql }) => ({ place, sql }));
}

export function conflict(a: Access, b: Access): boolean {
  if (a.table.id !== b.table.id) return false;
  return (
    [...a.writes].some((name) => b.writes.has(name) || b.reads.has(name)) ||
    [...a.reads].some((name) => b.writes.has(name))
  );
}
