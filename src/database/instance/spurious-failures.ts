/** Serialization failures without a reason, at a rate: retry code is what test suites lack most. */
import type { IsolationName } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import type { SeededChoices } from './seeded-choices.ts';

export class SpuriousFailures {
  /** The share of statements and commits that fail. */
  rate: number;
  readonly #choices: SeededChoices;

  constructor(rate: number, choices: SeededChoices) {
    this.rate = rate;
    this.#choices = choices;
  }

  /** Does not draw for sessions that read strongly: those check, and have nothing to retry. @throws SqlError 40001 */
  mayFail({ readsStrongly }: { readonly readsStrongly: boolean }, isolation: IsolationName): void {
    if (this.rate === 0 || readsStrongly || isolation === 'read committed' || isolation === 'read uncommitted') return;
    if (this.#choices.draws.choose(1_000_000) < this.rate * 1_000_000)
      throw new SqlError('40001', 'could not serialize access (a spurious failure, as asked for)', {
        mysqlNumber: 1213,
      });
  }
}
