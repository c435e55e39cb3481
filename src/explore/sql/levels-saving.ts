/** Checkpoints of a SQL exploration at one level, or at all levels of an engine one after the other. */
import type { SqlProgram } from '../../program/index.ts';
import type { Profile } from '../../database/index.ts';
import { shapeOfSql } from '../../sql-program/index.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import {
  type AnySqlCheckpoint,
  type LevelsCheckpoint,
  type OneCheckpoint,
  type PlansCheckpoint,
  requireKind,
  requireOne,
  requireSameShapes,
} from './sql-checkpoint.ts';

/** Of one level. */
export type LevelCheckpoint = OneCheckpoint | PlansCheckpoint;

interface Saved {
  readonly resume?: AnySqlCheckpoint;
  readonly onCheckpoint?: (made: AnySqlCheckpoint) => void;
}

export class LevelsSaving {
  /** Of the levels that are over. */
  readonly results: ExploreSqlResult[] = [];
  readonly #isOfAll: boolean;
  readonly #shapes: LevelsCheckpoint['shapes'];
  readonly #onCheckpoint: Saved['onCheckpoint'];
  /** Of the next level, where an earlier exploration has begun it. */
  #resume: LevelCheckpoint | null = null;
  /** A level was not explored to its end: the last checkpoint of it is where to continue. */
  #hasStopped = false;

  /** @throws InputError `explore/checkpoint` */
  constructor(program: SqlProgram, profiles: readonly Profile[], isOfAll: boolean, { resume, onCheckpoint }: Saved) {
    this.#isOfAll = isOfAll;
    this.#shapes = profiles.map((profile) => shapeOfSql(program, profile));
    this.#onCheckpoint = onCheckpoint;
    if (resume === undefined) return;
    if (isOfAll) {
      const levels = requireKind('levels', resume);
      requireSameShapes(levels, this.#shapes);
      this.results.push(...levels.results);
      this.#resume = levels.current;
    } else {
      this.#resume = 'kind' in resume && resume.kind === 'plans' ? resume : requireOne(resume);
    }
  }

  /** For the next level. */
  options(): { readonly resume?: LevelCheckpoint; readonly onCheckpoint?: (made: LevelCheckpoint) => void } {
    const resume = this.#resume;
    const onCheckpoint = this.#onCheckpoint;
    return {
      ...(resume === null ? {} : { resume }),
      ...(onCheckpoint === undefined || this.#hasStopped
        ? {}
        : { onCheckpoint: (made) => onCheckpoint(this.#standing(made)) }),
    };
  }

  /** Of the level under way; `null`: there is a better one. */
  standing(current: LevelCheckpoint): AnySqlCheckpoint | null {
    return this.#hasStopped ? null : this.#standing(current);
  }

  add(result: ExploreSqlResult): void {
    this.#resume = null;
    this.results.push(result);
    this.#hasStopped ||= result.stopped !== null;
    const isComplete = !this.#hasStopped && this.results.length === this.#shapes.length;
    if (isComplete && this.#isOfAll)
      this.#onCheckpoint?.({
        kind: 'levels',
        shapes: this.#shapes,
        results: [...this.results],
        current: null,
        isComplete,
      });
  }

  #standing(current: LevelCheckpoint): AnySqlCheckpoint {
    if (!this.#isOfAll) return current;
    return { kind: 'levels', shapes: this.#shapes, results: [...this.results], current, isComplete: false };
  }
}
