/**
 * What a statement finds. A keyed UPDATE, DELETE or locking SELECT that finds no row locks nothing, and lets any other transaction insert it: where the
 * application inserts rows of that table, or a condition stands beside the key, the path is looked at with the row and without.
 */
import type { Table } from '../sql/index.ts';
import { type Access, existence } from './access.ts';
import type { Value } from './application.ts';
import { isPossible } from './row-counts.ts';
import { rowText } from './row-keys.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import type { Variant } from './variant.ts';

/** 2^6 variants of one path. */
const choicesMax = 6;

/** Those in which the conditions of the path can be true. */
export function variantsOf(
  path: AnalyzedPath,
  isInserted: (table: Table) => boolean,
  { keepsLocks }: { readonly keepsLocks: boolean },
): { readonly variants: readonly Variant[]; readonly isCut: boolean } {
  const absences = new Set<string>();
  const misses = new Set<number>();
  for (const [at, analyzed] of path.entries()) {
    for (const access of analyzed.moments.flat()) {
      const text = rowText(access.table, access.row);
      if (text === undefined) continue;
      const holds = access.writes.size > 0 || access.locks;
      if (access.mayMiss && holds) misses.add(at);
      if (!access.inserts && isInserted(access.table) && (holds || namesLaterRows(analyzed, path))) absences.add(text);
    }
  }
  const choices = [...[...absences].map((text) => ({ text })), ...[...misses].map((at) => ({ at }))];
  const followed = choices.slice(0, choicesMax);
  const decided = {
    absent: new Set(followed.flatMap((one) => ('text' in one ? [one.text] : []))),
    missed: new Set(followed.flatMap((one) => ('at' in one ? [one.at] : []))),
  };
  const all = Array.from({ length: 2 ** followed.length }, (_, bits): Variant => {
    const taken = followed.filter((_one, index) => (bits >> index) % 2 === 1);
    const absent = new Set(taken.flatMap((one) => ('text' in one ? [one.text] : [])));
    const missed = new Set(taken.flatMap((one) => ('at' in one ? [one.at] : [])));
    return { absent, missed, idle: idleStatements(path, absent) };
  });
  const variants = all.filter((variant) => isPossible({ path, keepsLocks }, decided, variant));
  return { variants, isCut: choices.length > followed.length };
}

/** The access as it is in a variant; `undefined`: there is none. */
export function absenceOf(access: Access, at: number, { absent, missed, idle }: Variant): Access | undefined {
  if (access.row.kind === 'key' && idle.has(at)) return undefined;
  if (access.row.kind === 'key' && access.row.isTaken && (isAbsent(access, absent) || missed.has(at))) return undefined;
  if (isAbsent(access, absent)) return { ...access, reads: new Set([existence]), writes: new Set(), locks: false };
  if (!missed.has(at) || !access.mayMiss || access.row.kind !== 'key') return access;
  return { ...access, writes: new Set(), locks: false };
}

/** Does the statement look for a row that is not there? */
export function isAbsent({ table, row, inserts }: Access, absent: Variant['absent']): boolean {
  return !inserts && absent.has(rowText(table, row) ?? '');
}

function namesLaterRows({ statement: { result } }: AnalyzedStatement, path: AnalyzedPath): boolean {
  if (result === null) return false;
  return path.some(({ moments }) =>
    moments
      .flat()
      .some(
        ({ row, writes }) => row.kind === 'key' && writes.size > 0 && row.values.some((value) => uses(value, result)),
      ),
  );
}

function uses(value: Value, result: string): boolean {
  if (value.kind === 'expression') return value.operands.some((operand) => uses(operand, result));
  return value.kind === 'column' && value.row === 'first' && value.statement === result;
}

function idleStatements(path: AnalyzedPath, absent: ReadonlySet<string>): ReadonlySet<number> {
  const empty = new Set<string>();
  const idle = new Set<number>();
  for (const [at, { statement, moments }] of path.entries()) {
    const accesses = moments.flat();
    const isIdle = accesses.some(({ row, inserts }) => {
      if (row.kind !== 'key' || inserts) return false;
      return row.values.some((value) => [...empty].some((result) => uses(value, result)));
    });
    const isEmpty = accesses.some((access) => isAbsent(access, absent));
    if (isIdle) idle.add(at);
    if ((isIdle || isEmpty) && statement.result !== null) empty.add(statement.result);
  }
  return idle;
}
