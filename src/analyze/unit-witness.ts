/**
 * Schedules of two units, each of several transactions, that come between what a unit reads and what it writes because of that: one unit runs up to
 * the read, the other as a whole, the first goes on to the write. The other overwrites what was read, and conflicts with the write.
 */
import { type Access } from './access.ts';
import type { Value } from './application.ts';
import { conflict } from './conflicting-statements.ts';
import { rowText } from './row-keys.ts';
import type { Witness } from './robust-set.ts';
import type { PathTemplate } from './templates.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import { absenceOf } from './variants.ts';

/** Of two instances, each with its path: one witness for each way to choose rows. O(s^4) for paths of s statements. */
export function* staleReads(first: PathTemplate, second: PathTemplate): Iterable<Witness> {
  const seen = new Set<string>();
  const [ofFirst, ofSecond] = [accessesOf(first), accessesOf(second)];
  const overwrites = ofSecond.filter(({ access }) => access.writes.size > 0);
  for (const write of ofFirst) {
    if (write.access.writes.size === 0) continue;
    const results = resultsBehind(first.path, write.at);
    const reads = ofFirst.filter((read) => read.at < write.at && isStaleRead(first.path, read.at, write.at, results));
    for (const read of reads)
      for (const overwrite of overwrites) {
        if (!overwritesRead(overwrite.access, read.access)) continue;
        for (const other of ofSecond) {
          if (!conflict(other.access, write.access)) continue;
          const rows = sameRows([
            [read, overwrite],
            [write, other],
          ]);
          if (rows === null) continue;
          const witness = witnessOf([first, second], rows);
          const key = JSON.stringify([...(witness.split.between[0]?.variables ?? [])]);
          if (seen.has(key)) continue;
          seen.add(key);
          yield witness;
        }
      }
  }
}

/** Does a write of the path depend on what an earlier transaction of the unit read? */
export function hasDependentWrite(path: AnalyzedPath): boolean {
  return path.some(({ moments }, at) => {
    if (!moments.flat().some(({ writes }) => writes.size > 0)) return false;
    const results = resultsBehind(path, at);
    return path.slice(0, at).some((_, read) => isStaleRead(path, read, at, results));
  });
}

function isStaleRead(path: AnalyzedPath, read: number, write: number, results: ReadonlySet<string>): boolean {
  const { statement, piece } = path[read] as AnalyzedStatement;
  return statement.result !== null && results.has(statement.result) && piece !== path[write]?.piece;
}

interface PathAccess {
  readonly at: number;
  readonly access: Access;
  /** `undefined`: it is named by no variable. */
  readonly variable: number | undefined;
}

function accessesOf({ path, variant, rows }: PathTemplate): readonly PathAccess[] {
  const texts = rows.map(({ table, row }) => rowText(table, row));
  return path.flatMap(({ moments, isUndone }, at) =>
    isUndone
      ? []
      : moments.flat().flatMap((one): PathAccess[] => {
          const access = absenceOf(one, at, variant);
          if (access === undefined) return [];
          const text = rowText(access.table, access.row);
          const variable = text === undefined ? -1 : texts.indexOf(text);
          return [{ at, access, variable: variable === -1 ? undefined : variable }];
        }),
  );
}

/** Names of the results from which the statement's parameters and its path follow, through other statements also. */
function resultsBehind(path: AnalyzedPath, at: number): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Value): void => {
    if (value.kind === 'expression') for (const operand of value.operands) visit(operand);
    if (value.kind !== 'column' && value.kind !== 'rows' && value.kind !== 'row-count') return;
    if (found.has(value.statement)) return;
    found.add(value.statement);
    const source = path.find(({ statement }) => statement.result === value.statement);
    for (const parameter of source?.statement.parameters ?? []) visit(parameter);
  };
  const { statement, conditions } = path[at] as AnalyzedStatement;
  for (const value of [...statement.parameters, ...conditions]) visit(value);
  return found;
}

function overwritesRead(write: Access, read: Access): boolean {
  return write.table.id === read.table.id && [...write.writes].some((name) => read.reads.has(name));
}

/** Variables of the second instance by those of the first; `null`: one row would be two. */
function sameRows(
  pairs: readonly (readonly [first: PathAccess, second: PathAccess])[],
): ReadonlyMap<number, number> | null {
  const rows = new Map<number, number>();
  for (const [{ variable: one, access: a }, { variable: other, access: b }] of pairs) {
    if (one === undefined || other === undefined) continue;
    if (a.row.kind !== 'key' || b.row.kind !== 'key' || a.row.index !== b.row.index) continue;
    if ((rows.get(other) ?? one) !== one) return null;
    rows.set(other, one);
  }
  return rows;
}

function witnessOf(templates: readonly [PathTemplate, PathTemplate], same: ReadonlyMap<number, number>): Witness {
  const [first, second] = templates;
  const own = (variable: number): number => first.rows.length + variable;
  return {
    kind: 'witness',
    templates,
    transactions: [...new Set([first.transaction, second.transaction])],
    split: {
      first: { template: 0, variables: new Map(first.rows.map((_, at) => [at, at])), found: [] },
      after: 0,
      between: [
        { template: 1, variables: new Map(second.rows.map((_, at) => [at, same.get(at) ?? own(at)])), found: [] },
      ],
      constants: new Map(),
    },
  };
}
