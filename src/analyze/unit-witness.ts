/**
 * Schedules of two units, each of several transactions, that come between what a unit reads and what it writes because of that: one unit runs up to
 * the read, then the other runs as a whole, then the first runs up to the write. The other overwrites what was read, and conflicts with the write.
 */
import { type Access, existence, isNewRow } from './access.ts';
import { exactColumn } from '../sql/index.ts';
import type { Value } from './application.ts';
import { conflict } from './conflicting-statements.ts';
import { isDelete } from './replaced-rows.ts';
import { changesVersion, heldColumns } from './optimistic-locks.ts';
import { canHold, foundRow, rowOf } from './row-counts.ts';
import { isOneOf, ofEach } from './paths.ts';
import { rowText } from './row-keys.ts';
import type { Witness } from './robust-set.ts';
import type { PathTemplate, RowChanges } from './templates.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import { absenceOf } from './variants.ts';

/**
 * Of two instances, each with its path: one witness for each way to choose rows. O(s^4) for paths of s statements.
 * @param changes of the whole application
 */
export function* staleReads(
  first: PathTemplate,
  second: PathTemplate,
  { removed, versions }: RowChanges,
): Iterable<Witness> {
  const seen = new Set<string>();
  const [ofFirst, ofSecond] = [accessesOf(first), accessesOf(second)];
  const overwrites = ofSecond.filter(({ access }) => access.writes.size > 0);
  for (const write of ofFirst) {
    if (write.access.writes.size === 0) continue;
    const results = resultsBehind(first.path, write.at);
    const reads = ofFirst.filter((read) => read.at < write.at && isStaleRead(first.path, read.at, write.at, results));
    for (const read of reads) {
      const inTransaction = (guard: number): boolean => first.path[guard]?.piece === first.path[write.at]?.piece;
      const held = heldColumns(read, first, inTransaction);
      const columns = new Set([...columnsOf(read, first.path, results)].filter((name) => !held.has(name)));
      for (const overwrite of overwrites) {
        if (
          !overwritesRead(overwrite.access, read.access, columns) ||
          changesVersion(overwrite.access, held, versions) ||
          hasOtherKey(overwrite, read, ofSecond) ||
          leavesNothingToWrite(overwrite, read, write) ||
          (!mayReplace(overwrite, ofSecond) &&
            (isFoundMissing(overwrite, read, write, first.path) || isThereAlready(overwrite, read, first.path)))
        )
          continue;
        for (const other of ofSecond) {
          if (!conflict(other.access, write.access) || areNew(other.access, write.access)) continue;
          if (hasOtherKey(other, write, ofSecond) || hasOtherKey(write, other, ofFirst)) continue;
          const rows = sameRows([
            [read, overwrite],
            [write, other],
          ]);
          if (rows === null || makeOneRow(ofFirst, ofSecond, rows, removed)) continue;
          const witness = witnessOf([first, second], rows);
          const key = JSON.stringify([...(witness.split.between[0]?.variables ?? [])]);
          if (seen.has(key)) continue;
          seen.add(key);
          yield witness;
        }
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

/** Does a transaction of the path write after an earlier one has read, with nothing between them that was seen? */
export function hasLaterWrite(path: AnalyzedPath): boolean {
  return path.some(({ moments, piece }, at) => {
    if (!moments.flat().some(({ writes }) => writes.size > 0)) return false;
    return path.slice(0, at).some((earlier) => earlier.piece !== piece && isReadOnly(earlier));
  });
}

function isReadOnly({ moments }: AnalyzedStatement): boolean {
  const accesses = moments.flat();
  return accesses.length > 0 && accesses.every(({ writes }) => writes.size === 0);
}

function isStaleRead(path: AnalyzedPath, read: number, write: number, results: ResultsBehind): boolean {
  const { statement, piece } = path[read] as AnalyzedStatement;
  if (piece === path[write]?.piece) return false;
  return results.isAny || (statement.result !== null && isOneOf(statement.result, results.columns));
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
    moments.flat().flatMap((one): PathAccess[] => {
      const left = absenceOf(one, at, variant);
      if (left === undefined) return [];
      const access = isUndone ? { ...left, writes: new Set<string>(), locks: false, creates: false } : left;
      const text = rowText(access.table, access.row);
      const variable = text === undefined ? -1 : texts.indexOf(text);
      return [{ at, access, variable: variable === -1 ? undefined : variable }];
    }),
  );
}

/** Names of the results from which the statement's parameters and its path follow, through other statements also. */
function resultsBehind(path: AnalyzedPath, at: number): ResultsBehind {
  const found = new Map<string, Set<string>>();
  let isAny = false;
  const lists = listsOf(path);
  const seen = new Set<Value>();
  const add = (result: string, column: string | null): void => {
    const known = found.get(result);
    const columns = known ?? new Set();
    if (column !== null) columns.add(column);
    found.set(result, columns);
    if (known !== undefined) return;
    for (const { statement } of path)
      if (isOneOf(statement.result, { has: (name) => name === result })) statement.parameters.forEach(visit);
  };
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    if (value.kind === 'unknown') {
      isAny ||= value.from === undefined;
      for (const one of value.from ?? []) visit(one);
    }
    if (value.kind === 'element') {
      const list = lists.get(value.loop);
      if (list === undefined) isAny = true;
      else visit(list);
    }
    if (value.kind === 'expression') {
      const [operand] = value.operands;
      if (value.operator === 'is null' && operand !== undefined && isRowTest(operand, path))
        add(operand.statement, null);
      else for (const each of value.operands) visit(each);
    }
    if (value.kind === 'column') add(value.statement, value.column);
    if (value.kind === 'rows') add(value.statement, everyColumn);
    if (value.kind === 'row-count') add(value.statement, null);
  };
  const { statement, conditions } = path[at] as AnalyzedStatement;
  for (const value of [...statement.parameters, ...conditions]) visit(value);
  return { columns: found, isAny };
}

/** What the loops of the path are over, by the names of their elements. */
function listsOf(path: AnalyzedPath): ReadonlyMap<string, Value> {
  const lists = new Map<string, Value>();
  for (const condition of path.flatMap(({ conditions }) => conditions)) {
    if (condition.kind !== 'expression' || condition.operator !== ofEach) continue;
    const [element, over] = condition.operands;
    if (element?.kind === 'element' && over !== undefined) lists.set(element.loop, over);
  }
  return lists;
}

/** Is NULL in that column only where there is no row? */
function isRowTest(value: Value, path: AnalyzedPath): value is Extract<Value, { kind: 'column' }> {
  if (value.kind !== 'column' || value.row !== 'first') return false;
  const source = path.find(({ statement }) => statement.result === value.statement);
  const accesses = source?.moments.flat() ?? [];
  return accesses.length > 0 && accesses.every(({ table }) => exactColumn(table, value.column)?.isNotNull === true);
}

/** An INSERT names its row under several keys: beside one that is named by one of them, that one says whether it is the same. */
function hasOtherKey(inserting: PathAccess, named: PathAccess, own: readonly PathAccess[]): boolean {
  const { row, table } = named.access;
  if (!inserting.access.inserts || row.kind !== 'key') return false;
  const isNamedSo = ({ at, access }: PathAccess): boolean =>
    at === inserting.at && access.table.id === table.id && access.row.kind === 'key' && access.row.index === row.index;
  return !isNamedSo(inserting) && own.some(isNamedSo);
}

/** Both insert one row, so that the second fails. */
function makeOneRow(
  first: readonly PathAccess[],
  second: readonly PathAccess[],
  rows: ReadonlyMap<number, number>,
  removed: RowChanges['removed'],
): boolean {
  const created = (all: readonly PathAccess[]): readonly number[] =>
    all.flatMap(({ access, variable }) =>
      access.creates === true && !removed.has(access.table.id) && variable !== undefined ? [variable] : [],
    );
  const ofFirst = new Set(created(first));
  return created(second).some((variable) => ofFirst.has(rows.get(variable) ?? -1));
}

/** Two rows with keys of their own. */
function areNew(a: Access, b: Access): boolean {
  return isNewRow(a) && isNewRow(b);
}

/** Where the row that was read is deleted, an UPDATE or DELETE of that row finds none: the final state is that of the other unit first. */
function leavesNothingToWrite(overwrite: PathAccess, read: PathAccess, write: PathAccess): boolean {
  const isGone = isDelete(overwrite.access) && !write.access.inserts;
  return isGone && read.variable !== undefined && read.variable === write.variable;
}

/** May an INSERT write a row that was there before the instance? Where that overwrites it, or may have deleted it first. */
function mayReplace({ at, access: { table, overwrites } }: PathAccess, own: readonly PathAccess[]): boolean {
  return (
    overwrites === true ||
    own.some(({ at: before, access }) => before < at && access.table.id === table.id && isDelete(access))
  );
}

/** A row that another one inserts afterwards was not found: is the write then out of reach? */
function isFoundMissing(overwrite: PathAccess, read: PathAccess, write: PathAccess, path: AnalyzedPath): boolean {
  if (!overwrite.access.inserts || read.access.row.kind !== 'key') return false;
  const [reading, writing] = [path[read.at], path[write.at]] as [AnalyzedStatement, AnalyzedStatement];
  const { result } = reading.statement;
  if (result === null || rowOf(reading) === undefined) return false;
  return !canHold(writing.conditions, new Map([[result, foundRow(0, reading)]]));
}

/** An INSERT that failed found the row: another one cannot make it then. */
function isThereAlready(overwrite: PathAccess, read: PathAccess, path: AnalyzedPath): boolean {
  return overwrite.access.inserts && read.access.inserts && path[read.at]?.isUndone === true;
}

function overwritesRead(write: Access, read: Access, columns: ReadonlySet<string>): boolean {
  return write.table.id === read.table.id && [...write.writes].some((name) => columns.has(name));
}

/** What of the read the write depends on: the columns that are used of a row by key; of all else, everything that the statement reads. */
function columnsOf({ at, access }: PathAccess, path: AnalyzedPath, results: ResultsBehind): ReadonlySet<string> {
  const { result = null } = path[at]?.statement ?? {};
  const used = result === null ? undefined : results.columns.get(result);
  if (results.isAny || used === undefined || access.row.kind !== 'key' || access.mayMiss) return access.reads;
  const areOwn = [...used].every((column) => exactColumn(access.table, column) !== undefined);
  return areOwn ? new Set([existence, ...used]) : access.reads;
}

interface ResultsBehind {
  /** By result: its columns that are used; none where only whether there is a row is. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** May it follow from any result? */
  readonly isAny: boolean;
}

/** Of `rows`: every column, by a name that no table has. */
const everyColumn = '*';

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
