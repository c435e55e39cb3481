/**
 * The footprint of each step of a SQL program. The engine records rows, locks and snapshots; this adds what no engine knows: sequences, and
 * statements whose effect on others is not modelled, which conflict with every step.
 *
 * What is not an outcome: numbers of transactions and of rows in messages of errors and in `txid_current()`, which depend on the order in which
 * transactions begin. And sessions are taken to know of each other by the database alone.
 */
import { FootprintRecorder, type Footprint } from '../../engine/index.ts';
import type { SqlDatabase, StatementEvent } from '../../database/index.ts';
import type { Phase } from './schedule-tree.ts';

export class StepFootprints {
  readonly recorder = new FootprintRecorder();
  phase: Phase = 'schema';
  #database: SqlDatabase | null = null;
  #sequences = new Map<number, string>();
  /** Connections whose open transaction conflicts with everything, and so will its end. */
  readonly #global = new Set<number>();

  /** A run begins. */
  begin(): void {
    this.recorder.begin();
    this.phase = 'schema';
    this.#database = null;
  }

  open(database: SqlDatabase): void {
    this.#database = database;
    this.phase = 'sessions';
    this.#global.clear();
    this.#sequences = this.#sequenceStates();
    // The transactions of the schema are over.
    this.recorder.end();
    this.recorder.take();
  }

  judge(): void {
    this.end();
    this.phase = 'judging';
  }

  /** The sessions have ended: the footprints of their steps are whole. */
  end(): void {
    this.recorder.end();
  }

  processOf(connection: number): string {
    return this.#database?.nameOf(connection) ?? String(connection);
  }

  /** Who waits for others, who may be done by now. One that only lets others go first does not. */
  waiting(): string[] {
    const waiting = this.#database?.scheduler.waiting() ?? [];
    return waiting
      .filter(({ wait }) => wait !== null && wait.blockers.length > 0)
      .map(({ session }) => this.processOf(session));
  }

  ended(connection: number, { sql, isStep }: StatementEvent): void {
    if (!isStep) return;
    const wasGlobal = this.#global.has(connection);
    const isGlobal = conflictsWithAll(sql);
    if (isGlobal || wasGlobal) this.recorder.current.touchAll();
    const isOpen = this.#database?.session(connection)?.transactionStatus !== 'idle';
    if (!isOpen) this.#global.delete(connection);
    else if (isGlobal) this.#global.add(connection);
  }

  /** The footprint of the step that went last, with all that its client did until the next decision. */
  take(): Footprint {
    const footprint = this.recorder.current;
    for (const connection of this.#global) {
      if (this.#database?.session(connection) !== undefined) continue;
      this.#global.delete(connection);
      footprint.touchAll();
    }
    if (this.#hasUrgent()) footprint.touchAll();
    const sequences = this.#sequenceStates();
    for (const [id, state] of sequences)
      if (this.#sequences.get(id) !== state) footprint.touch(`sequence ${id}`, 'change');
    this.#sequences = sequences;
    return this.recorder.take();
  }

  /**
   * Are there sessions that have to go before all others, such as those of which one is a deadlock's victim? What they will do belongs to this step: no
   * other session's step can come in between.
   */
  #hasUrgent(): boolean {
    return this.#database?.scheduler.waiting().some(({ wait }) => wait?.isUrgent?.() === true) ?? false;
  }

  #sequenceStates(): Map<number, string> {
    const states = new Map<number, string>();
    for (const relation of this.#database?.catalog.relations() ?? [])
      if (relation.kind === 'sequence') states.set(relation.id, `${relation.last} ${relation.isCalled}`);
    return states;
  }
}

/** Statements whose accesses the engine records, or that only their own session notices. */
const known =
  /^\s*(?:select|insert|update|delete|replace|merge|with|values|table|begin|start|commit|end|rollback|abort|savepoint|release|set|show|reset|use|explain|prepare|deallocate|declare|fetch|close)\b/i;

/** Texts that ask for something that sessions share beside rows. Words inside literals count as well: that is only more careful. */
const shared =
  /\b(?:setval|last_value|txid_\w+|pg_current_\w+|pg_notify|pg_locks|pg_stat_\w+|pg_sequences?|uuid_short|processlist|innodb_\w+|data_locks|data_lock_waits)\b|^\s*set\s+(?:@@)?(?:global|persist)\b/i;

function conflictsWithAll(sql: string): boolean {
  const text = sql.replace(/^(?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n|\()+/, '');
  return text !== '' && (!known.test(text) || shared.test(sql));
}
