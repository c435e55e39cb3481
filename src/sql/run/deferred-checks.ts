/**
 * The checks of constraints that a transaction has put off, and what SET CONSTRAINTS has said. After PostgreSQL's `trigger.c`: a pending check
 * belongs to one row version, fires once, and is pending again when the savepoint in which it fired is rolled back.
 */
import type { TableId, Waiting } from '../model/index.ts';
import type { Running, ConstraintId, ConstraintCheck, DeferredConstraints } from '../execution.ts';

/** What SET CONSTRAINTS has said; without a word on a constraint its definition holds. */
interface Timing {
  readonly all: boolean | null;
  readonly named: ReadonlyMap<string, boolean>;
}

export interface DeferralMark {
  readonly pending: number;
  readonly fired: number;
  readonly timing: Timing;
}

const asDefined: Timing = { all: null, named: new Map() };

export class DeferredChecks implements DeferredConstraints {
  readonly #checks: ConstraintCheck[] = [];
  /** In the order in which they fired. */
  readonly #fired: ConstraintCheck[] = [];
  readonly #isFired = new Set<ConstraintCheck>();
  #timing = asDefined;

  isDeferred({ deferral, constraint }: Pick<ConstraintCheck, 'deferral' | 'constraint'>): boolean {
    if (deferral === 'never') return false;
    return this.#timing.named.get(keyOf(constraint)) ?? this.#timing.all ?? deferral === 'initially deferred';
  }

  defer(check: ConstraintCheck): void {
    this.#checks.push(check);
  }

  isPendingOn(table: TableId): boolean {
    return this.#checks.some((check) => check.table === table && !this.#isFired.has(check));
  }

  /** SET CONSTRAINTS. @param constraints `null`: all */
  set(constraints: readonly ConstraintId[] | null, isDeferred: boolean): void {
    if (constraints === null) this.#timing = { all: isDeferred, named: new Map() };
    else {
      const said = constraints.map((each): [string, boolean] => [keyOf(each), isDeferred]);
      this.#timing = { ...this.#timing, named: new Map([...this.#timing.named, ...said]) };
    }
  }

  /** Is there a check to run now? @param atCommit of all that are pending */
  hasDue(atCommit: boolean): boolean {
    return this.#checks.some((check) => this.#isDue(check, atCommit));
  }

  /** Runs them in the order in which their rows were written. @throws SqlError 23503, 23505 */
  *runDue(running: Running, atCommit: boolean): Waiting<void> {
    // A check may add others.
    for (let i = 0; i < this.#checks.length; i++) {
      const check = this.#checks[i] as ConstraintCheck;
      if (!this.#isDue(check, atCommit)) continue;
      this.#isFired.add(check);
      this.#fired.push(check);
      yield* check.run(running);
    }
  }

  #isDue(check: ConstraintCheck, atCommit: boolean): boolean {
    return !this.#isFired.has(check) && (atCommit || !this.isDeferred(check));
  }

  mark(): DeferralMark {
    return { pending: this.#checks.length, fired: this.#fired.length, timing: this.#timing };
  }

  backTo({ pending, fired, timing }: DeferralMark): void {
    for (const check of this.#fired.splice(fired)) this.#isFired.delete(check);
    for (const check of this.#checks.splice(pending)) this.#isFired.delete(check);
    this.#timing = timing;
  }

  /** The transaction has ended. */
  clear(): void {
    if (this.#checks.length === 0 && this.#timing === asDefined) return;
    this.backTo({ pending: 0, fired: 0, timing: asDefined });
  }
}

function keyOf({ table, name }: ConstraintId): string {
  return `${table} ${name}`;
}
