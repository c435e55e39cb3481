/** What a database leaves open is decided by a seed, or by decisions that a run is given. */
import { type Chooser, seeded } from '../../base/index.ts';
import { type Decisions, drawing } from '../../mockdb/index.ts';
import type { SqlDatabaseOptions } from './database-options.ts';

export class SeededChoices {
  #seed: number;
  #decisions: Decisions;
  #draws: Chooser;
  #holding: Chooser;
  #awaited: (() => number | undefined) | undefined;

  constructor({ seed = 1, decisions, awaited }: Pick<SqlDatabaseOptions, 'seed' | 'decisions' | 'awaited'>) {
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

  /** For `random()` and spurious failures: drawn in the order of the schedule, so that a replay draws the same. */
  get draws(): Chooser {
    return this.#draws;
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
