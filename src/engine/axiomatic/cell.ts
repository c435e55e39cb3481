/**
 * Cells: what the axioms call keys. At cell granularity a row has an existence cell (true, false) and one cell a column; at row granularity
 * one cell, which holds the row's values or `null`. A cell comes to be when the first transaction touches it; until then a row is no more
 * than its initial values.
 */
import type { Value } from '../../history/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import { jsonValue } from './json-value.ts';
import type { StoredRow } from './table.ts';

/** What a version of a cell holds: a column's value, existence, or a row. */
export type Held = SqlValue | readonly SqlValue[];

/** Who wrote a version, as long as it is kept apart from the initial state: `node` is its node in the commit orders, then 0. */
export interface Writer {
  node: number;
  readonly session: number;
  /** Its place among the transactions that are about to become part of the initial state; -1 for others. */
  fixedAt: number;
}

/** A committed write, as strategies see it too (mockdb/strategy.ts). */
export class Version {
  readonly writer: Writer;
  readonly held: Held;
  #value: Value | undefined;

  constructor(writer: Writer, held: Held) {
    this.writer = writer;
    this.held = held;
  }

  get node(): number {
    return this.writer.node;
  }

  get session(): number {
    return this.writer.session;
  }

  get value(): Value {
    this.#value ??= jsonValue(this.held);
    return this.#value;
  }
}

export const initialWriter: Writer = Object.freeze({ node: 0, session: -1, fixedAt: -1 });

/** Shared by all that have none. */
const none: readonly Version[] = [];

export class Cell {
  readonly row: StoredRow;
  readonly initial: Held;
  /** 0: existence, or the whole row; else a column's position + 1. */
  readonly slot: number;
  /** Its number in the commit orders; -1 while they do not know it. */
  key = -1;
  /** What the initial state holds, with all that has become part of it. */
  base: Version;
  /** The versions after it, in order of commit. */
  versions: readonly Version[] = none;

  constructor(row: StoredRow, slot: number, initial: Held) {
    this.row = row;
    this.slot = slot;
    this.initial = initial;
    this.base = new Version(initialWriter, initial);
  }

  addVersion(version: Version): void {
    this.versions = [...this.versions, version];
  }

  keepVersions(stays: (version: Version) => boolean): void {
    const kept = this.versions.filter(stays);
    this.versions = kept.length === 0 ? none : kept;
  }

  get latest(): Version {
    return this.versions.at(-1) ?? this.base;
  }
}
