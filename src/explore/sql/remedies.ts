/**
 * Changes that may mend a program, from the cycles of its failing runs: a lock on what was read, a unique index where each inserted what it had not
 * found, a stronger level. None of them changes the program's code.
 */
import { engineLevels, type Profile } from '../../database/index.ts';
import type { Edge } from '../../isolation/index.ts';
import {
  evidenceIn,
  type LoggedStatement,
  operationsOfStatements,
  type SqlEvidence,
  type SqlFailure,
} from '../../sql-program/index.ts';
import {
  equalityColumns,
  type IsolationName,
  quotedName,
  readsWithoutLock,
  statementLine,
  statementTree,
  withoutLiterals,
} from '../../sql/index.ts';
import type { Dialect } from '../../sql/model/index.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';

/** A change that leaves the code of the program as it is. */
export type Remedy =
  /** FOR UPDATE on these SELECTs. */
  | { readonly kind: 'lock'; readonly statements: readonly string[] }
  /** Added to the schema, behind its rows. */
  | { readonly kind: 'unique'; readonly table: string; readonly columns: readonly string[]; readonly sql: string }
  /** Of all transactions that name none. */
  | { readonly kind: 'level'; readonly isolation: IsolationName };

/** By what the failing runs show; none where no invariant is broken by a cycle, and at a level of the axioms. */
export function candidateRemedies({ failures, profile }: Pick<ExploreSqlResult, 'failures' | 'profile'>): Remedy[] {
  if (profile.family !== 'engine') return [];
  const broken = failures.flatMap((failure) => {
    const evidence = evidenceIn(failure.history);
    const isCycle = evidence.kind === 'transactions' || evidence.kind === 'sessions';
    return failure.kind === 'invariant-broken' && isCycle ? [{ failure, evidence }] : [];
  });
  const { dialect } = profile;
  const reads = broken.map(({ failure, evidence }) => readsOfCycle(failure, evidence, dialect));
  // A statement that is a transaction of its own holds its locks no longer than it lasts, and no level spans two of them.
  const ofTransactions = reads.filter((_, i) => broken[i]?.evidence.kind === 'transactions');
  return [
    ...distinct(
      reads.flatMap(({ missed }) => missed.flatMap((sql) => uniqueIndex(sql, dialect))),
      ({ sql }) => sql,
    ),
    ...locks(ofTransactions),
    ...(ofTransactions.length === 0 ? [] : strongerLevels(profile)),
  ];
}

interface CycleReads {
  /** SELECTs whose reads are edges of the cycle, and take no lock. */
  readonly inCycle: readonly string[];
  /** Others of its transactions. */
  readonly beside: readonly string[];
  /** Those of the first that found nothing. */
  readonly missed: readonly string[];
}

type CycleEvidence = Extract<SqlEvidence, { readonly cycle: readonly Edge[] }>;

function readsOfCycle(failure: SqlFailure, { cycle }: CycleEvidence, dialect: Dialect): CycleReads {
  const { statements, history, operationTimes } = failure;
  const places = operationsOfStatements(statements, history, operationTimes);
  const transactions = new Set(cycle.flatMap(({ from, to }) => [from, to]));
  const isRead = (transaction: number, operation: number): boolean =>
    cycle.some(
      (edge) => edge.operation === operation && (edge.relation === 'wr' ? edge.to : edge.from) === transaction,
    );
  const lockable = statements.flatMap((statement, i) => {
    const own = (places[i] ?? []).filter(({ transaction }) => transactions.has(transaction));
    return own.length > 0 && isLockable(statement, dialect) ? [{ sql: statementLine(statement.sql), own }] : [];
  });
  const inCycle = lockable.filter(({ own }) =>
    own.some(({ transaction, operation }) => isRead(transaction, operation)),
  );
  const missed = inCycle.filter(({ own }) =>
    own.every(({ transaction, operation }) => {
      const read = history.transactions[transaction]?.operations[operation];
      return read?.kind === 'read' && read.value === null;
    }),
  );
  const beside = lockable.filter((each) => !inCycle.includes(each));
  const textsOf = (found: readonly { readonly sql: string }[]): string[] => found.map(({ sql }) => sql);
  return { inCycle: textsOf(inCycle), beside: textsOf(beside), missed: textsOf(missed) };
}

function isLockable({ sql, isError }: LoggedStatement, dialect: Dialect): boolean {
  if (isError || !/^\W*(?:select|with)\b/i.test(statementLine(sql))) return false;
  const tree = statementTree(sql, dialect);
  return tree !== null && readsWithoutLock(tree);
}

/** Each by itself, and all that are in cycles together. */
function locks(reads: readonly CycleReads[]): Remedy[] {
  const inCycle = distinct(
    reads.flatMap((each) => each.inCycle),
    withoutLiterals,
  );
  const all = distinct([...inCycle, ...reads.flatMap(({ beside }) => beside)], withoutLiterals).slice(0, locksMax);
  const together = inCycle.slice(0, locksMax);
  return [
    ...all.map((sql): Remedy => ({ kind: 'lock', statements: [sql] })),
    ...(together.length > 1 ? [{ kind: 'lock', statements: together } as const] : []),
  ];
}

const locksMax = 8;

/** On the columns by which the statement looks for one row of one table. */
function uniqueIndex(sql: string, dialect: Dialect): Extract<Remedy, { kind: 'unique' }>[] {
  const tree = statementTree(sql, dialect);
  const found = tree === null ? null : equalityColumns(tree);
  if (found === null) return [];
  const { table, columns } = found;
  const quoted = (name: string): string => quotedName(name, dialect);
  const on = `${table.map(quoted).join('.')} (${columns.map(quoted).join(', ')})`;
  const create = `CREATE UNIQUE INDEX ${quoted(remedyIndex)} ON ${on}`;
  return [{ kind: 'unique', table: table.at(-1) ?? '', columns, sql: create }];
}

/** Errors name it. */
export const remedyIndex = 'moirai_remedy';

function strongerLevels({ dialect, isolation }: Extract<Profile, { family: 'engine' }>): Remedy[] {
  const levels = engineLevels[dialect];
  return levels.slice(levels.indexOf(isolation) + 1).map((level) => ({ kind: 'level', isolation: level }));
}

/** The first of those with the same key. */
function distinct<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  return [...new Map(all.toReversed().map((one) => [keyOf(one), one])).values()].toReversed();
}

/** `FOR UPDATE: SELECT ... FROM accounts WHERE id = $1`. */
export function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'lock':
      return `FOR UPDATE: ${remedy.statements.map(shortened).join(' and ')}`;
    case 'unique':
      return `unique index on ${remedy.table} (${remedy.columns.join(', ')})`;
    case 'level':
      return remedy.isolation;
  }
}

/** Which columns it lists is not what tells it apart. */
function shortened(sql: string): string {
  const text = sql.replace(/^(select) .*? (from) /i, '$1 ... $2 ');
  return text.length <= textMax ? text : `${text.slice(0, textMax - 3)}...`;
}

const textMax = 70;
