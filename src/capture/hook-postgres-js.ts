/**
 * postgres.js (`postgres` 3): every query is an object of a class of its own, which is not exported; an unused query gives its prototype.
 * A query runs when it is waited for: `handle`. Its text is put together from its strings on the way, by `build` of the connection.
 */
import { type Completion, completedText, positionBefore, rowWithoutAdded, withoutAdded } from './complete.ts';
import { postgresFailure } from './driver-failure.ts';
import type { Recording, RecordedConnection } from './recording.ts';
import type { DatabaseRecorder } from './database-recorder.ts';
import type { StatementEvent } from './statement-event.ts';
import { type SchemaRow, schemaOf, schemaQueries } from './schema.ts';

type Strings = readonly string[] & { readonly raw?: readonly string[] };

interface Handler {
  (query: QueryObject): unknown;
  /** May be a function, which gets every text. */
  readonly debug?: unknown;
}

type Columns = readonly { readonly name: string }[];

interface Statement {
  readonly string: string;
  readonly columns?: Columns | null;
}

/** Of `postgres()`: functions that make keys and values of rows. */
interface Options {
  readonly transform: Readonly<Record<'column' | 'value' | 'row', { readonly from?: unknown }>>;
}

interface QueryObject {
  readonly executed: boolean;
  strings: Strings;
  readonly args: readonly unknown[];
  /** Is it of a template? Else it has one string, in which are `$1`. */
  readonly tagged: boolean;
  readonly options: { readonly simple?: boolean };
  handler: Handler;
  /** One for each `postgres()`. */
  readonly canceller: object | null;
  readonly isRaw?: boolean | 'values';
  /** The connection that it was sent on. */
  readonly state: { readonly pid: number } | null;
  statement: Statement | null;
  readonly parameters?: readonly unknown[];
  readonly cursorFn?: unknown;
  readonly forEachFn?: unknown;
  readonly onlyDescribe?: boolean;
  readonly streaming?: boolean;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  handle: () => Promise<unknown>;
  raw: () => QueryObject;
}

type QueryClass = new (
  strings: Strings,
  args: readonly unknown[],
  handler: unknown,
  canceller: unknown,
  options: object,
) => QueryObject;

type Result = unknown[] & {
  columns?: Columns | null | undefined;
  readonly count?: number | null;
  statement?: Statement;
};

/** @param postgres the module's default export @returns undoes it */
export function hookPostgresJs(
  postgres: (options: object) => (first: TemplateStringsArray | object) => object,
  recording: Recording,
): () => void {
  const sql = postgres({ max: 1 });
  const sample = sql`SELECT 1`;
  const prototype = Object.getPrototypeOf(sample) as QueryObject;
  const optionsOf = new OptionsOfInstances(Object.getPrototypeOf(sql({})) as object);
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
    if (database.needsSchema && (begun === 0 || begins)) askSchema(this, Query, own, database, optionsOf);
    if (begins) begun += 1;
    else if (/^\s*(?:commit|rollback)\s*$/i.test(first)) begun = Math.max(0, begun - 1);
    const asked = recording.ask();
    const { start } = asked;
    recording.noteDefinition(asked, database, plainText(this) ?? first, this.args);
    let completed: Completed | null = null;
    const record = (outcome: StatementEvent['outcome']): void => {
      const end = recording.answered(asked);
      if (this.state === null) return; // never sent
      const text = this.statement?.string ?? first;
      const parameters = (this.parameters ?? []).map((each) => (isTyped(each) ? each.value : each));
      connectionOf(this.state.pid).recorder.record({ sql: text, parameters, start, end, outcome });
    };
    const { handler, resolve, reject } = this;
    const send = (query: QueryObject): unknown => {
      completed = isTold(this, optionsOf.get(this.canceller)) ? null : complete(this, database, recording);
      return handler(query);
    };
    this.handler = Object.assign(send, { debug: handler.debug });
    this.resolve = (result) => {
      // The recorder may read the rows later.
      record(doneOf(this, result, completed === null ? result : [...(result as Result)]));
      if (completed !== null) takeOut(this, result as Result, completed);
      resolve(result);
    };
    this.reject = (error) => {
      record(postgresFailure(error));
      if (completed !== null) takeOutOfError(this, error, completed);
      reject(error);
    };
    return handle.call(this);
  };
  return () => {
    prototype.handle = handle;
  };
}

/**
 * The options of each `postgres()`, by its canceller, which all of its queries have. They are nowhere to be read but in what builds a text: a part
 * of our own query that adds nothing to it.
 */
class OptionsOfInstances {
  readonly #builder: object;
  readonly #known = new WeakMap<object, Options>();

  /** @param builder the prototype of parts that build their text themselves */
  constructor(builder: object) {
    this.#builder = builder;
  }

  get(canceller: object | null): Options | undefined {
    return canceller === null ? undefined : this.#known.get(canceller);
  }

  part({ canceller }: QueryObject): object {
    const build = (_before: string, _parameters: unknown[], _types: unknown[], options: Options): string => {
      if (canceller !== null) this.#known.set(canceller, options);
      return '';
    };
    return Object.assign(Object.create(this.#builder) as object, { build });
  }
}

function askSchema(
  query: QueryObject,
  Query: QueryClass,
  own: WeakSet<QueryObject>,
  database: DatabaseRecorder,
  optionsOf: OptionsOfInstances,
): void {
  database.asking();
  const options = { prepare: false, simple: true };
  const texts = [`SELECT row_to_json(c) FROM (${schemaQueries.postgres}) c`, ''];
  const strings = Object.assign(texts, { raw: texts });
  const asked = new Query(strings, [optionsOf.part(query)], query.handler, query.canceller, options);
  own.add(asked);
  // As bytes: the application may have functions of its own for names and values.
  (asked.raw() as unknown as Promise<readonly (readonly [Uint8Array])[]>).then(
    (rows) => database.learn(schemaOf('postgres', rows.map(schemaRow))),
    () => database.giveUp(),
  );
}

function schemaRow([json]: readonly [Uint8Array]): SchemaRow {
  return JSON.parse(Buffer.from(json).toString()) as SchemaRow;
}

/** What a completed query has of its own. */
interface Completed {
  readonly text: string;
  readonly strings: Strings;
  readonly completion: Completion;
}

/** Does the application decide how a row is made, or get the text? Where it is not known, it may be. */
function isTold(
  { handler, isRaw, cursorFn, forEachFn, onlyDescribe, streaming }: QueryObject,
  options?: Options,
): boolean {
  if (options === undefined || typeof handler.debug === 'function') return true;
  const isPiecemeal = [cursorFn, forEachFn].some((each) => each !== undefined);
  if (isRaw === true || isPiecemeal || onlyDescribe === true || streaming === true) return true;
  const { column, value, row } = options.transform;
  return [column, value, row].some(({ from }) => from !== undefined && from !== null);
}

function complete(query: QueryObject, database: DatabaseRecorder, recording: Recording): Completed | null {
  const text = plainText(query);
  const completion = text === null ? null : recording.completionOf(database, text, query.args);
  if (text === null || completion === null) return null;
  const { strings } = query;
  const at = completion.place === 'first' ? 0 : strings.length - 1;
  const part = completedText(strings[at] ?? '', completion);
  if (part === strings[at]) return null; // the list begins with a value
  query.strings = replaced(strings, at, part);
  // What an error says of it.
  Object.defineProperty(query, 'string', { configurable: true, enumerable: true, get: () => text, set: () => {} });
  return { text, strings, completion };
}

/** The text as the server gets it, where it has no parts that build theirs: identifiers, fragments, lists. */
function plainText({ strings, args, tagged, constructor }: QueryObject): string | null {
  if (!tagged) return strings.length === 1 ? (strings[0] ?? null) : null;
  const isPart = (each: unknown): boolean =>
    each instanceof constructor || /^(?:Builder|Identifier)$/.test((each as object | null)?.constructor?.name ?? '');
  if (args.some((each) => isPart(each) || (Array.isArray(each) && isPart(each[0])))) return null;
  return strings.reduce((text, part, i) => `${text}$${i}${part}`);
}

/** The driver remembers errors by templates, so there is one of each. */
const replacements = new WeakMap<Strings, Strings>();

function replaced(strings: Strings, at: number, part: string): Strings {
  const known = replacements.get(strings);
  if (known?.[at] === part) return known;
  const made = strings.with(at, part);
  replacements.set(strings, made);
  return made;
}

function takeOut(query: QueryObject, result: Result, { text, strings, completion }: Completed): void {
  const isAlone = completion.place === 'alone';
  const { statement } = query;
  if (isAlone) result.length = 0;
  else for (const [i, row] of result.entries()) result[i] = rowWithoutAdded(row as object, completion);
  const { columns, ...rest } = statement ?? { string: text };
  const kept = isAlone ? [] : withoutAdded(columns ?? [], completion);
  // Without a result no columns were asked for in the simple protocol.
  const isUntold = isAlone && query.options.simple === true;
  result.columns = isUntold ? undefined : kept;
  result.statement = isUntold ? { ...rest, string: text } : { ...rest, string: text, columns: kept };
  Object.assign(query, { strings, statement: result.statement });
}

function takeOutOfError(query: QueryObject, error: unknown, { text, strings, completion }: Completed): void {
  query.strings = strings;
  const { position } = (error ?? {}) as { position?: unknown };
  if (typeof position === 'string')
    Object.assign(error as object, { position: positionBefore(position, text, completion) });
}

function isTyped(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'value' in value && 'type' in value;
}

/** Rows that go to a cursor or a function one by one are not kept: then only that it ran is known. */
function doneOf(query: QueryObject, given: unknown, kept: unknown): StatementEvent['outcome'] {
  const result = given as Result;
  if (query.cursorFn !== undefined || query.forEachFn !== undefined || query.isRaw === true || !Array.isArray(given))
    return { kind: 'done', results: [] };
  const columns = (result.columns ?? []).map(({ name }) => name);
  const isByName = query.isRaw !== 'values';
  const rows = kept as (Record<string, unknown> & unknown[])[];
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
