/**
 * Programs over SQL: a schema, sessions that use the driver or ORM they already use, an invariant with SQL. Every session gets a way to
 * connect to the mock database: a stream in process that carries the protocol's bytes.
 */
import { InputError } from '../base/index.ts';
import { requireKnownFields } from './known-fields.ts';
import type { InvariantResult } from './program.ts';

/** A Duplex of Node's. Unchecked, so that drivers with types of their own take it and projects without Node's types compile. */
// oxlint-disable-next-line no-explicit-any
export type AnyStream = any;

/** What a session connects with. Each call is a new client session of the database. */
export interface SqlConnection {
  /** The name of the program's session; `invariant` where the invariant connects. */
  readonly name: string;
  /** A stream that speaks the protocol: `new pg.Client({ stream: connect })`, `postgres({ socket: connect })`, mysql2's `{ stream: connect() }`. */
  readonly connect: () => AnyStream;
  /** Counts the runs in which `condition` held here, so that a green campaign is known to have been somewhere. */
  readonly sometimes: (name: string, condition?: boolean) => void;
}

/** One session: it connects with its own driver, and what it returns is its result. */
export type SqlSessionFunction = (connection: SqlConnection) => unknown;

/** What is left when all sessions are done; the invariant connects to see the final state. */
export interface SqlEnd<Results = Record<string, unknown>> extends SqlConnection {
  /** What each session returned. */
  readonly results: Results;
}

/** A SQL program as it is written. */
export interface SqlProgramDefinition<Sessions extends Record<string, SqlSessionFunction>> {
  readonly dialect: 'postgres' | 'mysql';
  /** Statements that make tables and first rows, run once, serially, before all sessions. */
  readonly schema: string | readonly string[];
  readonly sessions: Sessions;
  /** Its connection reads a final state: what a serializable observer after all sessions may read. A throw does not hold either. */
  readonly invariant?: (
    end: SqlEnd<{ [Name in keyof Sessions]: Awaited<ReturnType<Sessions[Name]>> }>,
  ) => InvariantResult | Promise<InvariantResult>;
}

/** A program that was checked: see `sqlProgram`. */
export interface SqlProgram {
  readonly kind: 'sql';
  readonly dialect: 'postgres' | 'mysql';
  readonly schema: readonly string[];
  readonly sessionNames: readonly string[];
  readonly sessions: readonly SqlSessionFunction[];
  /** What must hold when all sessions are done. */
  readonly invariant: (end: SqlEnd) => InvariantResult | Promise<InvariantResult>;
  /** As it is written; `null`: it has none, and only errors of its sessions are looked for. */
  readonly invariantText: string | null;
}

/**
 * Checks a SQL program and gives its sessions and invariant their types.
 * @throws InputError `program/shape`
 */
export function sqlProgram<Sessions extends Record<string, SqlSessionFunction>>(
  definition: SqlProgramDefinition<Sessions>,
): SqlProgram {
  const ofProgram = ['kind', 'sessionNames', 'invariantText'];
  requireKnownFields(definition, ['dialect', 'schema', 'sessions', 'invariant'], 'a SQL program', ofProgram);
  const { dialect, schema, sessions, invariant = holdsAlways } = definition;
  if (dialect !== 'postgres' && dialect !== 'mysql') throw shape("`dialect` is neither 'postgres' nor 'mysql'");
  const texts = typeof schema === 'string' ? [schema] : schema;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string'))
    throw shape('`schema` is neither a text nor an array of texts');
  if (typeof sessions !== 'object' || sessions === null) throw shape('`sessions` is not an object');
  const named = Object.entries(sessions);
  if (named.length === 0) throw shape('`sessions` is empty: a program needs at least one session');
  for (const [name, session] of named)
    if (typeof session !== 'function') throw shape(`session "${name}" is not a function`);
  if (typeof invariant !== 'function') throw shape('`invariant` is not a function');
  return {
    kind: 'sql',
    dialect,
    schema: texts,
    sessionNames: named.map(([name]) => name),
    sessions: named.map(([, session]) => session),
    invariant: invariant as SqlProgram['invariant'],
    invariantText: invariant === holdsAlways ? null : String(invariant),
  };
}

/** `sqlProgram` for a value of unknown shape. @throws InputError `program/shape` */
export function checkSqlProgram(definition: unknown): SqlProgram {
  if (isSqlProgram(definition)) return definition;
  if (typeof definition !== 'object' || definition === null)
    throw shape('a SQL program is an object: see `sqlProgram`');
  return sqlProgram(definition as SqlProgramDefinition<Record<string, SqlSessionFunction>>);
}

/** The invariant of a program without one. */
function holdsAlways(): true {
  return true;
}

export function isSqlProgram(value: unknown): value is SqlProgram {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'sql';
}

function shape(message: string): InputError {
  return new InputError('program/shape', message);
}
