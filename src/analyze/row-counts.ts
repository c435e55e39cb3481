/**
 * How many rows statements find, as far as a variant of a path decides it, and whether the conditions of the path can then hold: where an UPDATE found
 * no row, `if (!row) throw` ends the path.
 */
import { exactColumn } from '../sql/index.ts';
import type { Access } from './access.ts';
import type { Value } from './application.ts';
import { rowText } from './row-keys.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import type { Variant, Decided } from './variant.ts';

/** By result. */
export type RowCounts = ReadonlyMap<string, FoundRow>;

export interface FoundRow {
  readonly count: 0 | 1;
  /** Is this column of it never NULL? */
  readonly isNotNull: (column: string) => boolean;
}

/** A path, and whether its locks last to its end. */
interface LockingPath {
  readonly path: AnalyzedPath;
  readonly keepsLocks: boolean;
}

export function isPossible(locking: LockingPath, decided: Decided, variant: Variant): boolean {
  const { path } = locking;
  const counts = rowCounts(locking, decided, variant);
  return counts.size === 0 || path.every(({ conditions }) => canHold(conditions, counts));
}

export function canHold(conditions: readonly Value[], counts: RowCounts): boolean {
  return conditions.every((condition) => truthOf(condition, counts) !== false);
}

/** The row that a statement with one result row looks for; `undefined`: it may find several, or makes one of what it finds. */
export function rowOf({ moments, findsOneRow }: AnalyzedStatement): string | undefined {
  const all = moments.flat().filter(({ inserts }) => !inserts);
  // Beside the row that it writes it may look at others, for foreign keys.
  const held = all.filter(({ writes, locks }) => writes.size > 0 || locks);
  const texts = new Set((held.length > 0 ? held : all).map(({ table, row }) => rowText(table, row)));
  const [text] = texts;
  return findsOneRow && texts.size === 1 ? text : undefined;
}

export function foundRow(count: 0 | 1, { moments }: AnalyzedStatement): FoundRow {
  const tables = moments.flat().map(({ table }) => table);
  return { count, isNotNull: (name) => tables.every((table) => exactColumn(table, name)?.isNotNull === true) };
}

function rowCounts(locking: LockingPath, decided: Decided, variant: Variant): RowCounts {
  const { path } = locking;
  const counts = new Map<string, FoundRow>();
  for (const [at, one] of path.entries()) {
    const { result } = one.statement;
    const count = countAt(at, locking, decided, variant);
    const isOnly = path.every(({ statement }) => statement === one.statement || statement.result !== result);
    if (result !== null && count !== undefined && isOnly) counts.set(result, foundRow(count, one));
  }
  return counts;
}

function countAt(at: number, locking: LockingPath, decided: Decided, variant: Variant): 0 | 1 | undefined {
  const { path } = locking;
  const one = path[at] as AnalyzedStatement;
  if (!one.findsOneRow) return undefined;
  if (one.moments.flat().some(({ inserts }) => inserts))
    return decided.missed.has(at) ? (variant.missed.has(at) ? 0 : 1) : undefined;
  const text = rowOf(one);
  if (text === undefined) return undefined;
  const isAbsent = variant.absent.has(text) || variant.idle.has(at);
  if (decided.missed.has(at)) return isAbsent || variant.missed.has(at) ? 0 : 1;
  // Another transaction may insert or delete the row between two statements that look for it: only of one is it known what it finds.
  const isAlone = path.every(
    ({ moments }, other) => other === at || moments.flat().every(({ table, row }) => rowText(table, row) !== text),
  );
  if (!(isAlone || keepsRow(at, text, locking)) || !decided.absent.has(text)) return undefined;
  if (isAbsent) return 0;
  return one.moments.flat().some(({ mayMiss }) => mayMiss) ? undefined : 1;
}

/** Is it the first that looks for the row, and locks it? Then no other statement misses a row that this one finds. */
function keepsRow(at: number, text: string, { path, keepsLocks }: LockingPath): boolean {
  const isOfRow = ({ table, row }: Access): boolean => rowText(table, row) === text;
  const first = path.findIndex(({ moments }) => moments.flat().some(isOfRow));
  const { moments, isUndone } = path[at] as AnalyzedStatement;
  const holds = moments.flat().some((access) => isOfRow(access) && (access.writes.size > 0 || access.locks));
  return keepsLocks && first === at && !isUndone && holds;
}

/** In JavaScript; `undefined`: not known. */
function truthOf(value: Value, counts: RowCounts): boolean | undefined {
  if (value.kind === 'constant') return Boolean(value.value);
  if (isMissing(value, counts)) return false;
  if (value.kind !== 'expression') return undefined;
  const { operator, operands } = value;
  const [first, second] = operands;
  if (operator === 'and' || operator === 'or') {
    const truths = new Set(operands.map((operand) => truthOf(operand, counts)));
    const decisive = operator === 'or';
    if (truths.has(decisive)) return decisive;
    return truths.has(undefined) ? undefined : !decisive;
  }
  if (first === undefined) return undefined;
  if (operator === 'not') {
    const truth = truthOf(first, counts);
    return truth === undefined ? undefined : !truth;
  }
  if (operator === 'is null') return isMissing(first, counts) ? true : isPresent(first, counts) ? false : undefined;
  return second === undefined ? undefined : compared(operator, first, second, counts);
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

function compared(operator: string, a: Value, b: Value, counts: RowCounts): boolean | undefined {
  const compare = comparisons[operator];
  if (compare === undefined) return undefined;
  const [one, other] = [numberOf(a, counts), numberOf(b, counts)];
  if (one !== undefined && other !== undefined) return compare(one, other);
  if (!isMissing(a, counts) && !isMissing(b, counts)) return undefined;
  // `undefined` is less than nothing and more than nothing; it may equal what is missing, too.
  const rest = isMissing(a, counts) ? b : a;
  const isEquality = operator === '=' || operator === '<>';
  if (isEquality && (rest.kind !== 'constant' || rest.value === null)) return undefined;
  return operator === '<>';
}

function numberOf(value: Value, counts: RowCounts): number | undefined {
  if (value.kind === 'row-count') return counts.get(value.statement)?.count;
  return value.kind === 'constant' && typeof value.value === 'number' ? value.value : undefined;
}

/** A column of a row that is not there. */
function isMissing(value: Value, counts: RowCounts): boolean {
  return value.kind === 'column' && value.row === 'first' && counts.get(value.statement)?.count === 0;
}

function isPresent(value: Value, counts: RowCounts): boolean {
  if (value.kind !== 'column' || value.row !== 'first') return false;
  const found = counts.get(value.statement);
  return found?.count === 1 && found.isNotNull(value.column);
}
