/**
 * The groups of a query by number. Their first rows, keys and aggregates are columns: a group of its own objects costs more in garbage collection
 * than all the work on a group of few rows.
 */
import type { Frame } from '../expression.ts';
import type { Aggregate } from '../expressions/index.ts';
import type { SqlValue } from '../model/index.ts';
import { type Cursor, forEachRow, type Source } from './cursor.ts';
import { type Execution, runningOf } from '../execution.ts';

export interface GroupedBy {
  readonly keyCount: number;
  /** Of the frame's row. */
  readonly valuesOf: (frame: Frame) => readonly SqlValue[];
  readonly hashOf: (values: readonly SqlValue[]) => unknown;
  /** A single key that is its own hash needs no list of values to be looked up; `null`: it is another. */
  readonly only: ((frame: Frame) => SqlValue) | null;
  readonly aggregates: readonly Aggregate[];
  /** Executions in which there was no row to compute from. */
  readonly rowless: WeakSet<Execution>;
}

export function groupsOf(input: Source, by: GroupedBy): Source {
  return (frame) => new GroupCursor(frame, input, by);
}

interface Groups {
  count: number;
  /** Of the first row of each group, one after the other, as many as the frame has. */
  readonly rows: Frame['rows'];
  readonly keys: SqlValue[];
  readonly states: readonly ReturnType<Aggregate['startGroups']>[];
}

class GroupCursor implements Cursor {
  readonly #frame: Frame;
  readonly #input: Source;
  readonly #by: GroupedBy;
  #isStarted = false;
  #groups: Groups | null = null;
  #taken = 0;

  constructor(frame: Frame, input: Source, by: GroupedBy) {
    this.#frame = frame;
    this.#input = input;
    this.#by = by;
  }

  start(): void {
    this.#isStarted = true;
    this.#groups = null;
    this.#taken = 0;
  }

  next(): boolean {
    if (!this.#isStarted) return false;
    this.#groups ??= collected(this.#frame, this.#input, this.#by);
    if (this.#taken === this.#groups.count) {
      this.close();
      return false;
    }
    restoreGroup(this.#frame, this.#groups, this.#taken++, this.#by.keyCount);
    return true;
  }

  close(): void {
    this.#isStarted = false;
    this.#groups = null;
  }
}

function collected(frame: Frame, input: Source, { keyCount, valuesOf, hashOf, only, ...by }: GroupedBy): Groups {
  const states = by.aggregates.map((each) => each.startGroups());
  const groups: Groups = { count: 0, rows: [], keys: [], states };
  const found = new Map<unknown, number>();
  let hasTaken = false;
  forEachRow(input, frame, () => {
    const values = only === null ? valuesOf(frame) : null;
    const hash = values === null ? (only?.(frame) ?? null) : hashOf(values);
    let group = found.get(hash);
    if (group === undefined) {
      group = begin(groups, frame.rows);
      if (values === null) groups.keys.push(hash as SqlValue);
      else groups.keys.push(...values);
      found.set(hash, group);
    }
    for (let i = 0; i < states.length; i++) if (states[i]?.add(group, frame) === true) hasTaken = true;
    if (states.length === 0) hasTaken = true;
  });
  const { aggregated } = runningOf(frame);
  if (hasTaken) aggregated.fromSome = true;
  else if (keyCount === 0) {
    aggregated.fromNone = true;
    by.rowless.add(frame.execution);
  }
  if (groups.count === 0 && keyCount === 0) {
    begin(
      groups,
      frame.rows.map(() => null),
    );
  }
  return groups;
}

/** @returns its number */
function begin(groups: Groups, rows: Frame['rows']): number {
  for (let i = 0; i < rows.length; i++) groups.rows.push(rows[i] ?? null);
  for (const each of groups.states) each.begin();
  return groups.count++;
}

function restoreGroup({ rows, computed }: Frame, groups: Groups, group: number, keyCount: number): void {
  for (let i = 0; i < rows.length; i++) rows[i] = groups.rows[group * rows.length + i] ?? null;
  for (let i = 0; i < keyCount; i++) computed[i] = groups.keys[group * keyCount + i] ?? null;
  for (let i = 0; i < groups.states.length; i++) computed[keyCount + i] = groups.states[i]?.result(group) ?? null;
}
