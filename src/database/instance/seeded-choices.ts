/** What a database leaves open is decided by a seed, or by decisions that a run is given. */
import { type Chooser, seeded } from '../../base/index.ts';
import { type Decisions, drawing } from '../../mockdb/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import type { SqlDatabaseOptions } from './database-options.ts';

export class SeededChoices {
  /** The share of statements and commits that fail spuriously. */
  abortRate: number;
  /** Has anything but a decision been drawn? */
  hasDrawn = false;
  #seed: number;
  #decisions: Decisions;
  /** For `random()` and spurious failures: drawn in the order of the schedule, so that a replay draws the same. */
  #draws: Chooser;
  #holding: Chooser;
  #awaited: (() => number | undefined) | undefined;

  constructor({ seed = 1, decisions, awaited, abortRate = 0 }: SqlDatabaseOptions) {
    this.abortRate = abortRate;
    this.#seed = seed;
    this.#decisions = decisions ?? drawing({ chooser: seeded(seed) });
    this.#draws = seeded(seed, 1);
    this.#holding = seeded(seed, 2);
    this.#awaited = awaited;
  }

  /** Which session is next, and what a read sees. */
  get decisions(): Decisions {
    return this.#decisions;
  }

  /** In [0, 1). */
  random(): number {
    this.hasDrawn = true;
    return this.#draws.choose(2 ** 31) / 2 ** 31;
  }

  /**
   * Retry code is what test suites lack most. Does not draw for sessions that read strongly: those check, and have nothing to retry.
   * @throws SqlError 40001
   */
  mayFailSpuriously({ readsStrongly }: { readonly readsStrongly: boolean }, isolation: IsolationName): void {
    const rate = this.abortRate;
    if (rate === 0 || readsStrongly || isolation === 'read committed' || isolation === 'read uncommitted') return;
    this.hasDrawn = true;
    if (this.#draws.choose(1_000_000) < rate * 1_000_000)
      throw new SqlError('40001', 'could not serialize access (a spurious failure, as asked for)', {
        mysqlNumber: 1213,
      });
  }

  /** For what a replay does not do. */
  get holding(): Chooser {
    return this.#holding;
  }

  /** Which session a recorded schedule has next. */
  get awaited(): number | undefined {
    return this.#awaited?.();
  }

  /** Begins again, with the decisions of this seed. @param seed default: the last one */
  reseed(seed = this.#seed): void {
    this.#seed = seed;
    this.#draws = seeded(seed, 1);
    this.#holding = seeded(seed, 2);
    this.#decisions = drawing({ chooser: seeded(seed) });
    this.#awaited = undefined;
  }
}
