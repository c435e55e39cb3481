/**
 * postgres.js (`postgres` 3): every query is an object of a class of its own, which is not exported; an unused query gives its prototype.
 * A query runs when it is waited for: `handle`.
 */
import type { Recording, RecordedConnection } from './recording.ts';
import type { DatabaseRecorder, StatementEvent } from './recorder.ts';
import { type SchemaRow, schemaOf, schemaQueries } from './schema.ts';

interface QueryObject {
  readonly executed: boolean;
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  readonly handler: unknown;
  readonly canceller: unknown;
  readonly isRaw?: boolean | 'values';
  /** The connection that it was sent on. */
  readonly state: { readonly pid: number } | null;
  readonly statement: { readonly string: string } | null;
  readonly parameters?: readonly unknown[];
  readonly cursorFn?: unknown;
  readonly forEachFn?: unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  handle: () => Promise<unknown>;
}

type QueryClass = new (
  strings: readonly string[],
  args: readonly unknown[],
  handler: unknown,
  canceller: unknown,
  options: object,
) => QueryObject;

type Result = readonly unknown[] & {
  readonly columns?: readonly { readonly name: string }[] | null;
  readonly count?: number | null;
};

/** @param postgres the module's default export @returns undoes it */
export function hookPostgresJs(
  postgres: (options: object) => (strings: TemplateStringsArray) => object,
  recording: Recording,
): () => void {
  const sample = postgres({ max: 1 })`SELECT 1`;
  const prototype = Object.getPrototypeOf(sample) as QueryObject;
  const Query = prototype.constructor as unknown as QueryClass;
  const { handle } = prototype;
  const connections = new Map<number, RecordedConnection>();
  /** Connections have no names before a query runs on them: one database is assumed. */
  const database = recording.database('postgres', 'postgres.js');
  const own = new WeakSet<QueryObject>();
  let begun = 0;
  const connectionOf = (pid: number): RecordedConnection => {
    const known = connections.get(pid);
    if (known !== undefined) return known;
    const made = recording.connection(database, String(pid));
    connections.set(pid, made);
    return made;
  };
  prototype.handle = function handleRecorded() {
    if (this.executed || own.has(this)) return handle.call(this);
    const first = this.strings[0] ?? '';
    const begins = /^\s*begin\b/i.test(first);
    if (database.needsSchema && (begun === 0 || begins)) askSchema(this, Query, own, database);
    if (begins) begun += 1;
    else if (/^\s*(?:commit|rollback)\s*$/i.test(first)) begun = Math.max(0, begun - 1);
    const asked = recording.ask();
    const { start } = asked;
    const record = (outcome: StatementEvent['outcome']): void => {
      const end = recording.answered(asked);
      if (this.state === null) return; // never sent
      const sql = this.statement?.string ?? first;
      const parameters = (this.parameters ?? []).map((each) => (isTyped(each) ? each.value : each));
      connectionOf(this.state.pid).recorder.record({ sql, parameters, start, end, outcome });
    };
    const { resolve, reject } = this;
    this.resolve = (result) => {
      record(doneOf(this, result));
      resolve(result);
    };
    this.reject = (error) => {
      record(failureOf(error));
      reject(error);
    };
    return handle.call(this);
  };
  return () => {
    prototype.handle = handle;
  };
}

function askSchema(query: QueryObject, Query: QueryClass, own: WeakSet<QueryObject>, database: DatabaseRecorder): void {
  database.asking();
  const options = { prepare: false, simple: true };
  const asked = new Query([schemaQueries.postgres], [], query.handler, query.canceller, options);
  own.add(asked);
  (asked as unknown as Promise<readonly SchemaRow[]>).then(
    (rows) => database.learn(schemaOf('postgres', rows)),
    () => database.giveUp(),
  );
}

function isTyped(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'value' in value && 'type' in value;
}

function failureOf(error: unknown): StatementEvent['outcome'] {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof severity === 'string' && typeof code === 'string' ? { kind: 'failed', code } : { kind: 'lost' };
}

/** Rows that go to a cursor or a function one by one are not kept: then only that it ran is known. */
function doneOf(query: QueryObject, given: unknown): StatementEvent['outcome'] {
  const result = given as Result;
  if (query.cursorFn !== undefined || query.forEachFn !== undefined || query.isRaw === true || !Array.isArray(given))
    return { kind: 'done', results: [] };
  const columns = (result.columns ?? []).map(({ name }) => name);
  const isByName = query.isRaw !== 'values';
  const rows = result as readonly (Record<string, unknown> & unknown[])[];
  return {
    kind: 'done',
    results: [
      {
        columns,
        rowCount: rows.length,
        cell: (row, column) => (isByName ? rows[row]?.[columns[column] as string] : rows[row]?.[column]),
        isByName,
        affected: result.count ?? null,
        countsMatched: true,
        insertId: 0n,
      },
    ],
  };
}
