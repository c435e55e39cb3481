/**
 * The unsupported statements of many runs as one list. Where in the user's code they are sent costs a stack for every write, so runs do not
 * look: a run in which one comes up for the first time is made once more, and looks.
 */
import type { UnsupportedStatement } from '../evidence/index.ts';
import { mergedUnsupported } from '../database/index.ts';
import type { SqlRun } from './sql-run.ts';

type Finished = Extract<SqlRun, { kind: 'finished' }>;

export class UnsupportedOfRuns {
  readonly #again: (run: Finished) => Promise<SqlRun>;
  readonly #lookedFor = new Set<string>();
  #list: readonly UnsupportedStatement[] = [];

  /** @param again the same run, which looks where statements are sent */
  constructor(again: (run: Finished) => Promise<SqlRun>) {
    this.#again = again;
  }

  get list(): readonly UnsupportedStatement[] {
    return this.#list;
  }

  /** What earlier runs have shown. */
  restore(list: readonly UnsupportedStatement[]): void {
    this.#list = list;
    for (const each of list) this.#lookedFor.add(keyOf(each));
  }

  async add(run: Finished): Promise<void> {
    this.#list = mergedUnsupported([this.#list, run.unsupported]);
    const isNew = this.#list.some((each) => each.place === null && !this.#lookedFor.has(keyOf(each)));
    if (!isNew) return;
    for (const each of this.#list) this.#lookedFor.add(keyOf(each));
    const looking = await this.#again(run);
    if (looking.kind === 'timeout') return;
    const places = new Map(looking.unsupported.map((each) => [keyOf(each), each.place]));
    this.#list = this.#list.map((each) => ({ ...each, place: each.place ?? places.get(keyOf(each)) ?? null }));
  }
}

function keyOf({ session, statement, reason }: UnsupportedStatement): string {
  return `${session}\0${statement}\0${reason}`;
}
