/**
 * Writes the steps of one unit while its code is read. Steps go to the current list; a branch of which one side ended (`if (!row) return`) leaves
 * the other side's list current, so that what follows stands in it. Which transaction is open belongs to the path, as the list does.
 */
import type {
  Abort,
  Branch,
  Loop,
  NotUnderstood,
  Place,
  Return,
  Statement,
  Step,
  Transaction,
  UnitStep,
  Value,
} from '../application.ts';
import type { IsolationName } from '../../sql/index.ts';
import { allOf, isConstant, not } from './conditions.ts';

export type AnyStep = Step | UnitStep;
type List = AnyStep[];

/** A connection, as far as a transaction is open on it. The pool has none of its own. */
export interface Connection {
  /** The unit in which a transaction began on it. */
  begunIn?: Emitter;
}

export interface OpenTransaction {
  readonly connection: Connection;
  readonly step: Transaction & { level: IsolationName | null };
  readonly steps: List;
  /** Where it stands. */
  readonly outer: Mark;
  /** Names of its results. */
  readonly results: Set<string>;
}

/** A point of the path to come back to. */
export interface Mark {
  readonly list: List;
  readonly open: OpenTransaction | null;
  readonly path: readonly Value[];
}

export class Emitter {
  readonly steps: List = [];
  list: List = this.steps;
  open: OpenTransaction | null = null;
  /** The conditions that hold here. */
  path: readonly Value[] = [];
  /** How many steps were written. */
  written = 0;
  /** Of loops and trials in which the path is: what runs there runs any number of times. */
  repeats = 0;
  #names = new Set<string>();
  readonly #suspended: Connection[] = [];
  #statements: readonly Statement[] = [];
  /** Throws into a handler, each with the conditions of its path and how many handlers there were. */
  #thrown: readonly { readonly path: readonly Value[]; readonly depth: number }[] = [];

  mark(): Mark {
    return { list: this.list, open: this.open, path: this.path };
  }

  /** Back to `mark`, whatever happened since. */
  reset({ list, open, path }: Mark): void {
    this.list = list;
    this.open = open;
    this.path = path;
  }

  /** To the code behind what began at `mark`: in the transaction that is open now. */
  continueAfter(mark: Mark): void {
    if (this.open === mark.open) this.list = mark.list;
    else if (this.open !== null) this.list = this.open.steps;
    else if (mark.open !== null) this.#behind(mark.open, mark.path);
    this.path = mark.path;
  }

  push(step: AnyStep): void {
    this.written++;
    if (step.kind === 'statement') this.#statements = [...this.#statements, step];
    this.list.push(step);
  }

  /** What the path ran while `body` did, in any transaction. */
  statementsOf<Result>(body: () => Result): { readonly result: Result; readonly statements: readonly Statement[] } {
    const { length } = this.#statements;
    const result = body();
    return { result, statements: this.#statements.slice(length) };
  }

  /** Into a list of its own, which the caller may drop. */
  apart<Result>(body: () => Result): { readonly result: Result; readonly steps: List } {
    const [mark, names, written] = [this.mark(), this.#names, this.written];
    const [thrown, statements] = [this.#thrown, this.#statements];
    const steps: List = [];
    this.#names = new Set(names);
    this.list = steps;
    this.repeats++;
    const result = body();
    this.repeats--;
    this.reset(mark);
    this.#names = names;
    this.written = written;
    this.#thrown = thrown;
    this.#statements = statements;
    return { result, steps };
  }

  name(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#names.has(name); count++) name = `${wanted}${count}`;
    this.#names.add(name);
    return name;
  }

  notUnderstood(place: Place, reason: string): void {
    const step: NotUnderstood = { kind: 'not-understood', place, reason };
    const known = this.list.some(
      (other) => other.kind === 'not-understood' && other.reason === reason && other.place.line === place.line,
    );
    if (!known) this.push(step);
  }

  /** Opens a branch or a loop. */
  nest(step: Branch<AnyStep> | Loop<AnyStep>): void {
    this.push(step as AnyStep);
  }

  begin(connection: Connection, name: string, level: IsolationName | null, place: Place): void {
    const steps: List = [];
    const outer = this.mark();
    const step = {
      kind: 'transaction' as const,
      name: this.name(name),
      place,
      level,
      steps: steps as Step[],
    };
    connection.begunIn = this;
    this.push(step);
    this.open = { connection, step, steps, outer, results: new Set() };
    this.list = steps;
  }

  /** COMMIT or ROLLBACK of the open transaction on this path. */
  end(kind: 'commit' | 'abort'): void {
    if (this.open === null) return;
    const { open } = this;
    const last: Abort | Return = kind === 'commit' ? { kind: 'return' } : { kind: 'abort' };
    this.push(last);
    this.open = null;
    this.#behind(open, this.path);
  }

  /** A step of another connection while a transaction is open: before it or, where it uses the transaction's results, after it. */
  pushOutside(step: AnyStep): void {
    if (this.open === null) return this.push(step);
    if (step.kind === 'statement') this.#statements = [...this.#statements, step];
    const { outer, step: transaction } = this.open;
    const depends = this.#usesOpen(step);
    const isConditional = this.list !== this.open.steps;
    const condition: Value = { kind: 'unknown', reason: 'a condition inside the transaction' };
    const placed = isConditional ? ({ kind: 'branch', condition, ifTrue: [step], ifFalse: [] } as AnyStep) : step;
    const index = outer.list.indexOf(transaction);
    if (depends || index < 0) outer.list.push(placed);
    else outer.list.splice(index, 0, placed);
    this.written++;
  }

  /** Runs what begins and ends a transaction of another connection while one is open. */
  outside<Result>(body: () => Result): { readonly result: Result; readonly isBefore: boolean } {
    const mark = this.mark();
    const steps: List = [];
    if (mark.open !== null) this.#suspended.push(mark.open.connection);
    this.open = null;
    this.list = steps;
    const result = body();
    this.reset(mark);
    this.#suspended.pop();
    const isBefore = !steps.some((step) => this.#usesOpen(step));
    for (const step of steps) this.pushOutside(step);
    return { result, isBefore };
  }

  /** Is a transaction open on it that waits for another to end? */
  isSuspended(connection: Connection): boolean {
    return this.#suspended.includes(connection);
  }

  #usesOpen(step: AnyStep): boolean {
    const uses = JSON.stringify(step);
    return [...(this.open?.results ?? [])].some((name) => uses.includes(`"statement":"${name}"`));
  }

  #behind(open: OpenTransaction, path: readonly Value[]): void {
    this.list = open.outer.list;
    const conditions = path.slice(open.outer.path.length);
    if (conditions.length === 0) return;
    this.#enter(allOf(conditions));
  }

  throwInto(depth: number): void {
    this.#thrown = [...this.#thrown, { path: this.path, depth }];
  }

  /** The conditions behind `mark` on which `body` throws into one of the first `depth` handlers. */
  thrownBy<Result>(depth: number, body: () => Result): { readonly result: Result; readonly thrown: readonly Value[] } {
    const [before, { length }] = [this.#thrown.length, this.path];
    const result = body();
    const out = this.#thrown.slice(before).filter((one) => one.depth <= depth);
    return { result, thrown: out.map(({ path }) => allOf(path.slice(length))) };
  }

  /** What follows runs only where none of `ended` held. */
  unless(ended: readonly Value[]): void {
    if (ended.length === 0) return;
    this.#enter(allOf(ended.map(not)));
  }

  #enter(condition: Value): void {
    if (isConstant(condition, true)) return;
    const ifTrue: List = [];
    this.list.push({ kind: 'branch', condition, ifTrue, ifFalse: [] } as AnyStep);
    this.list = ifTrue;
  }
}
