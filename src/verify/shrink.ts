/**
 * A smaller trace with the same violation: whole transactions and rows of operations are left out as long as a fresh verifier still finds it.
 *
 * What is left out must not make a violation of its own: a write stays as long as a read is left that returned its value, so everything
 * that the small trace demands, the whole one demands too.
 */
import type { Mechanisms } from './mechanisms.ts';
import { agrees, Shape, toImage } from './image.ts';
import type { RowImage, RowValue, TraceOperation } from '../trace/index.ts';
import { Verifier } from './verifier.ts';
import type { Violation } from './violation.ts';

export interface ShrinkOptions {
  readonly mechanisms: Mechanisms;
  readonly initial: ReadonlyMap<string, RowImage>;
  /** Replays. Default 2,000. */
  readonly replaysMax?: number;
}

/** The operations that are left, by start; `null` where what is known of the violation's surroundings does not show it any more. */
export function shrink(
  violation: Violation,
  { mechanisms, initial, replaysMax = 2_000 }: ShrinkOptions,
): TraceOperation[] | null {
  const original = [...new Set(violation.context)].toSorted((a, b) => a.start - b.start);
  let replays = 0;
  const holds = (operations: readonly TraceOperation[]): boolean => {
    replays += 1;
    return violates(mechanisms, initial, operations, violation);
  };
  if (!holds(original)) return null;
  let best = original;
  for (;;) {
    const next = smaller(best).find(
      (candidate) => replays < replaysMax && isClosed(best, candidate) && holds(candidate),
    );
    if (next === undefined) return best;
    best = next;
  }
}

function violates(
  mechanisms: Mechanisms,
  initial: ReadonlyMap<string, RowImage>,
  operations: readonly TraceOperation[],
  violation: Violation,
): boolean {
  let found = false;
  const verifier = new Verifier({
    mechanisms,
    initial,
    onViolation: (other) => {
      found ||= isSame(other, violation);
    },
  });
  for (const operation of operations) verifier.push(operation);
  verifier.finish();
  return found;
}

/** Is it of the same transactions and rows, or of some of them? A read that has no explanation must be the same read. */
function isSame(found: Violation, violation: Violation): boolean {
  const { mechanism, transactions, rows } = violation;
  if (found.mechanism !== mechanism || !found.transactions.every((name) => transactions.includes(name))) return false;
  if (rows.length > 0 && !found.rows.some((row) => rows.includes(row))) return false;
  if (mechanism !== 'consistent-read') return true;
  const [read, original] = [found, violation].map(({ evidence }) => evidence.find(({ role }) => role === 'the read'));
  return read?.operation.session === original?.operation.session && read?.operation.start === original?.operation.start;
}

/** Without a transaction, then without a row of an operation; what has no rows left goes, but for ends and snapshots. */
function smaller(operations: readonly TraceOperation[]): TraceOperation[][] {
  const names = [...new Set(operations.map(({ transaction }) => transaction))];
  return [
    ...names.map((name) => operations.filter(({ transaction }) => transaction !== name)),
    ...operations.flatMap((operation, i) =>
      (['reads', 'writes'] as const).flatMap((part) =>
        operation[part].map((gone) => {
          const changed = { ...operation, [part]: operation[part].filter((row) => row !== gone) };
          const kept = isNeeded(changed, operations) ? [changed] : [];
          return [...operations.slice(0, i), ...kept, ...operations.slice(i + 1)];
        }),
      ),
    ),
  ];
}

function isNeeded(
  { transaction, reads, writes, kind, start }: TraceOperation,
  operations: readonly TraceOperation[],
): boolean {
  if (reads.length + writes.length > 0 || kind === 'commit' || kind === 'abort') return true;
  return !operations.some((other) => other.transaction === transaction && other.start < start);
}

/** Is every write still there whose value a read that is left returned? */
function isClosed(before: readonly TraceOperation[], after: readonly TraceOperation[]): boolean {
  const gone = rowsOf(before, 'writes').filter(({ row }) => !rowsOf(after, 'writes').some((kept) => kept.row === row));
  if (gone.length === 0) return true;
  const reads = rowsOf(after, 'reads');
  const empty = new Shape();
  return gone.every(
    ({ row }) =>
      !reads.some(
        (read) => read.row.key === row.key && agrees(toImage(row.image, empty), toImage(read.row.image, empty)),
      ),
  );
}

function rowsOf(operations: readonly TraceOperation[], part: 'reads' | 'writes'): { readonly row: RowValue }[] {
  return operations.flatMap((operation) => operation[part].map((row) => ({ row })));
}
