/** The names of a large history: texts in one array of bytes, made into strings when they are asked for. */
import { defaultId, type TransactionIndex } from './history.ts';
import { textAt, type Texts } from './text-pool.ts';
import { valueAt, type ValueColumns } from './value-table.ts';
import type { Key, Value } from './value.ts';

export interface NameColumns {
  readonly sessions: Texts;
  readonly keys: Texts;
  readonly values: ValueColumns;
  /** The texts of values that are no integers. */
  readonly valueTexts: Texts;
  /** By transaction: the session. */
  readonly session: Int32Array;
  /** By transaction: the ID that it was given, a position in `ids`, or -1. `null`: none was given any. */
  readonly id: Int32Array | null;
  readonly ids: Texts;
  /** By transaction: the level that it asked for, a position in `levels`, or -1. */
  readonly level: Int32Array | null;
  readonly levels: Texts;
}

export class HistoryNames {
  readonly columns: NameColumns;
  #indexes: Int32Array | null = null;

  constructor(columns: NameColumns) {
    this.columns = columns;
  }

  session(session: number): string {
    return textAt(this.columns.sessions, session);
  }

  key(key: number): Key {
    return textAt(this.columns.keys, key);
  }

  value(value: number): Value {
    return valueAt(this.columns.values, this.columns.valueTexts, value);
  }

  /** The ID that the transaction was given, else `session/index`. */
  id(transaction: TransactionIndex): string {
    const { id, ids, session, sessions } = this.columns;
    const given = id?.[transaction] ?? -1;
    if (given >= 0) return textAt(ids, given);
    this.#indexes ??= indexesInSessions(session, sessions.starts.length - 1);
    return defaultId(this.session(session[transaction] as number), this.#indexes[transaction] as number);
  }

  /** The level that the transaction asked for. */
  level(transaction: TransactionIndex): string | undefined {
    const level = this.columns.level?.[transaction] ?? -1;
    return level < 0 ? undefined : textAt(this.columns.levels, level);
  }
}

/** By transaction: how many of its session come before it. */
function indexesInSessions(sessions: Int32Array, sessionCount: number): Int32Array {
  const next = new Int32Array(sessionCount);
  return sessions.map((s) => {
    const index = next[s] as number;
    next[s] = index + 1;
    return index;
  });
}
