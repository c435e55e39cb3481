/** Violations that depend on how a transaction ends: they are kept with it until its fate is known. */
import type { Mirror } from './mirror.ts';
import { fateCode } from './transaction-table.ts';
import type { Violation } from './violation.ts';

/** A violation unless it is unknown what became of the transaction that has, or had, the lock. */
export function suspect(mirror: Mirror, lock: number, violation: Violation): void {
  const { rows, transactions } = mirror;
  const writer = rows.locks.transaction[lock];
  if (transactions.fate[writer] === fateCode.open) (transactions.suspicions[writer] ??= []).push(violation);
  else mirror.report(violation);
}

/** The transaction committed or aborted. */
export function reportSuspicions({ transactions, report }: Mirror, transaction: number): void {
  const { suspicions, ifCommitted, fate } = transactions;
  for (const violation of suspicions[transaction] ?? []) report(violation);
  suspicions[transaction] = null;
  if (fate[transaction] === fateCode.committed)
    for (const violation of ifCommitted[transaction] ?? []) report(violation);
  ifCommitted[transaction] = null;
}

/** Its fate stays unknown. */
export function forgetSuspicions({ transactions, counts }: Mirror, transaction: number): void {
  counts.uncertain += transactions.suspicions[transaction]?.length ?? 0;
  transactions.suspicions[transaction] = null;
}
