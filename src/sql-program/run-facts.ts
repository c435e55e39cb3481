/**
 * What a run of a SQL program did, fact by fact, so that two runs can be compared: what sessions sent and returned, and the rows that this came to.
 * What the database answers follows from these. So the order of rows counts for nothing: keys that a source gave sort otherwise with other values.
 */
import type { History, Key, Operation } from '../history/index.ts';
import { fact, type Fact } from '../program/index.ts';
import { statementLine } from '../sql/index.ts';
import type { SqlRun } from './sql-run.ts';
import type { LoggedStatement } from './statement-log.ts';

export function factsOf({
  statements,
  results,
  violation,
  history,
}: Extract<SqlRun, { readonly kind: 'finished' }>): Fact[] {
  const returned = Object.entries(results).map(([name, value]) =>
    fact(`the result of session "${name}"`, shown(value), shown(unordered(value))),
  );
  return [
    ...statementFacts(statements),
    ...rowFacts(history()),
    ...returned,
    fact('the verdict', violation ?? 'the invariant holds'),
  ];
}

function statementFacts(statements: readonly LoggedStatement[]): Fact[] {
  const counts = new Map<string, number>();
  return statements.map(({ session, sql, parameters, outcome, summary }) => {
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    const given = parameters.length === 0 ? '' : ` [${parameters.map((each) => JSON.stringify(each)).join(', ')}]`;
    const sent = `${statementLine(sql)}${given}`;
    return fact(`statement ${count} of session "${session}"`, `${sent} -> ${outcome}`, `${sent} -> ${summary}`);
  });
}

/** The rows of each transaction, in an order that does not depend on the keys of rows which the run has made. */
function rowFacts({ transactions, initial }: History): Fact[] {
  return transactions.flatMap(({ id, operations }) =>
    operations
      .map((operation) => rowOf(operation, initial))
      .toSorted((a, b) => compared(a.fixed, b.fixed) || compared(a.did, b.did))
      .map((row, i) => ({ what: `row ${i + 1} of ${id}`, ...row })),
  );
}

/** A row that was there before the run is itself; of one that the run has made, the key may come from a source. */
function rowOf({ kind, key }: Operation, initial: ReadonlyMap<Key, unknown>): Omit<Fact, 'what'> {
  const did = `${kind} of ${key}`;
  // What a condition asks of rows is in its statement.
  const [row = '', condition] = key.split(' where ', 2);
  const slash = row.indexOf('/');
  if (slash === -1 || (initial.get(row) ?? null) !== null) return { did, fixed: did, values: [] };
  const fixed = `${kind} of ${row.slice(0, slash)}/?`;
  return condition === undefined
    ? { did, fixed, values: [row.slice(slash + 1)] }
    : { did, fixed: `${fixed} where`, values: [] };
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What a session returned may hold anything: drivers' objects, cycles. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? '';
  } catch {
    return '';
  }
}

/** Lists without the order of their elements: of objects, the sorted values of each property. */
function unordered(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return value;
  if (!Array.isArray(value)) {
    if ('toJSON' in value) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unordered(each, depth + 1)]));
  }
  const elements = value.map((each) => unordered(each, depth + 1));
  const names = [...new Set(elements.flatMap((each) => (isRecord(each) ? Object.keys(each) : [])))];
  if (names.length === 0) return sorted(elements);
  const others = elements.filter((each) => !isRecord(each));
  const columns = names.map((name) => [
    name,
    sorted(elements.map((each) => (isRecord(each) ? each[name] : undefined))),
  ]);
  return [Object.fromEntries(columns), ...sorted(others)];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(values: readonly unknown[]): unknown[] {
  return values.toSorted((a, b) => compared(shown(a), shown(b)));
}

const DEPTH_MAX = 8;
