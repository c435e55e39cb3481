/**
 * Programs: sessions of transactions as plain async functions, an initial state, an invariant. What `moirai test` and `moirai explore` run.
 */
import { InputError } from '../base/index.ts';
import { copyValue, type Key, type Value } from '../history/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import { requireKnownFields } from './known-fields.ts';

/** The type of what a store holds is the program's to know: unchecked, like that of JSON.parse. */
// oxlint-disable-next-line no-explicit-any
export type AnyValue = any;

/** Inside a transaction. Every call is one operation; they happen in the order of the calls. */
export interface TransactionHandle {
  /** The value that the store shows; `null` where the key was never written. */
  read<T = AnyValue>(key: Key): Promise<T>;
  /** @throws InputError `history/value` for what JSON cannot carry */
  write(key: Key, value: unknown): Promise<void>;
  /** Rolls the transaction back and ends it; `session.transaction` then resolves to `undefined`. */
  abort(): never;
}

/** What a session is given: its transactions, one after another. */
export interface SessionHandle {
  readonly name: string;
  /**
   * Runs `body` as one transaction and commits it. When `body` throws, the transaction is rolled back and the error passes through.
   * When the store cannot commit it, `body` runs again with new reads (or, with `conflicts: 'abort'`, this throws SerializationFailure).
   */
  transaction<T>(
    body: (t: TransactionHandle) => T | Promise<T>,
    options?: { readonly level?: IsolationLevel },
  ): Promise<T>;
  /** A transaction of one read. */
  read<T = AnyValue>(key: Key): Promise<T>;
  /** A transaction of one write. */
  write(key: Key, value: unknown): Promise<void>;
  /** Counts the runs in which `condition` held here, so that a green campaign is known to have been somewhere. */
  sometimes(name: string, condition?: boolean): void;
}

/** One session: what it returns is its result, which the invariant sees. */
export type SessionFunction = (session: SessionHandle) => unknown;

/** What is left when all sessions are done. */
export interface End<Results = Record<string, AnyValue>> {
  /** What each session returned. */
  readonly results: Results;
  /**
   * A final state that some commit order of the history allows: what a serializable observer after all sessions may read.
   * Below serializable there can be several; each run draws one when this is first looked at.
   */
  readonly final: Readonly<Record<Key, AnyValue>>;
  /** As that of a session. */
  readonly sometimes: (name: string, condition?: boolean) => void;
}

/** `true` holds; `false` or a sentence that says what is wrong does not. A throw does not hold either. Anything else is refused. */
export type InvariantResult = boolean | string;

/** A program as it is written. */
export interface ProgramDefinition<Sessions extends Record<string, SessionFunction>> {
  /** Values of keys before all sessions; other keys start as `null`. */
  readonly initial?: Readonly<Record<Key, unknown>>;
  readonly sessions: Sessions;
  /** What must hold when all sessions are done. Default: nothing, and only errors of sessions are looked for. */
  readonly invariant?: (
    end: End<{ [Name in keyof Sessions]: Awaited<ReturnType<Sessions[Name]>> }>,
  ) => InvariantResult | Promise<InvariantResult>;
  /** What a session does when the store cannot commit its transaction: run it again (default), or get a SerializationFailure. */
  readonly conflicts?: 'retry' | 'abort';
}

/** A program that was checked: see `program`. */
export interface Program {
  readonly initial: ReadonlyMap<Key, Value>;
  readonly sessionNames: readonly string[];
  readonly sessions: readonly SessionFunction[];
  /** What must hold when all sessions are done. */
  readonly invariant: (end: End) => InvariantResult | Promise<InvariantResult>;
  readonly conflicts: 'retry' | 'abort';
  /** As it is written; `null`: it has none, and only errors of its sessions are looked for. */
  readonly invariantText: string | null;
}

/**
 * Checks a program and gives its sessions and invariant their types.
 * @throws InputError `program/shape`, `history/value`
 */
export function program<Sessions extends Record<string, SessionFunction>>(
  definition: ProgramDefinition<Sessions>,
): Program {
  return checkProgram(definition);
}

/** `program` for a value of unknown shape, as a module's default export is. */
export function checkProgram(definition: unknown): Program {
  if (isProgram(definition)) return definition;
  const given = record(definition, 'a program');
  requireKnownFields(given, ['initial', 'sessions', 'invariant', 'conflicts'], 'a program');
  const { initial = {}, sessions, invariant = holdsAlways, conflicts = 'retry' } = given;
  const named = Object.entries(record(sessions, '`sessions`'));
  if (named.length === 0) throw shape('`sessions` is empty: a program needs at least one session');
  for (const [name, session] of named)
    if (typeof session !== 'function') throw shape(`session "${name}" is not a function`);
  if (typeof invariant !== 'function') throw shape('`invariant` is not a function');
  if (conflicts !== 'retry' && conflicts !== 'abort') throw shape("`conflicts` is neither 'retry' nor 'abort'");
  if (initial instanceof Map) throw shape('`initial` is a Map: it is an object with a field for each key');
  const values = Object.entries(record(initial, '`initial`')).map(([key, value]): [Key, Value] => [
    key,
    initialValue(key, value),
  ]);
  const checked: Program = {
    initial: new Map(values),
    sessionNames: named.map(([name]) => name),
    sessions: named.map(([, session]) => session as SessionFunction),
    invariant: invariant as Program['invariant'],
    conflicts,
    invariantText: invariant === holdsAlways ? null : String(invariant),
  };
  checkedPrograms.add(checked);
  return checked;
}

/** The invariant of a program without one. */
function holdsAlways(): true {
  return true;
}

/** What a green verdict on a program takes for granted. */
export function assumptionsOf({ invariantText }: Pick<Program, 'invariantText'>): string[] {
  return invariantText === null ? [withoutInvariant] : [];
}

/** The assumption about a program that asks for nothing. */
export const withoutInvariant = 'the program has no invariant: only errors of its sessions were looked for';

/** A clause of what a verdict takes for granted, on a line of its own. */
export function assumedText(clause: string): string {
  return clause === withoutInvariant ? clause : `assumed: ${clause}`;
}

/** Can the verdict only come from variables that the sessions leave somewhere: an invariant, and one that takes nothing? */
export function looksElsewhere({ invariant, invariantText }: Program): boolean {
  return invariantText !== null && invariant.length === 0;
}

/** Programs made here, so that `program(...)` and its result are distinguished from a plain object. */
const checkedPrograms = new WeakSet<object>();

function isProgram(value: unknown): value is Program {
  return typeof value === 'object' && value !== null && checkedPrograms.has(value);
}

function initialValue(key: Key, value: unknown): Value {
  try {
    return copyValue(value);
  } catch (error) {
    throw error instanceof InputError
      ? new InputError(error.code, `the initial value of ${key}: ${error.message}`)
      : error;
  }
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw shape(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function shape(message: string): InputError {
  return new InputError('program/shape', message);
}
