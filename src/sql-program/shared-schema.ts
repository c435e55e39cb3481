/**
 * What the schema of a program comes to: the first run makes it, statement by statement, and the others begin with a copy. A run cannot tell them apart:
 * with the copy come the turns of the schema's statements, their looks at the clock, and what is taken for granted of them.
 */
import type { DatabaseImage, SqlDatabase, Ways } from '../database/index.ts';
import type { Decisions } from '../mockdb/index.ts';

/** What a run decides and asks while its schema runs. */
export interface SchemaNotes {
  readonly turns: readonly (readonly number[])[];
  /** At the clock. */
  readonly looks: number;
}

export interface MadeSchema {
  readonly image: DatabaseImage;
  readonly notes: SchemaNotes;
  readonly takenForGranted: readonly string[];
}

/** What others than the first run do in place of the schema. */
export function repeatSchema(
  { notes, takenForGranted }: MadeSchema,
  run: { readonly decisions: Decisions; readonly clock: () => bigint; readonly takenForGranted: Set<string> },
): void {
  for (const turn of notes.turns) run.decisions.session(turn);
  for (let look = 0; look < notes.looks; look += 1) run.clock();
  for (const clause of takenForGranted) run.takenForGranted.add(clause);
}

/** Of the runs of one program with one profile, whose clocks are alike. */
export class SharedSchema {
  /** By ways to rows; `null`: each run has to make it. */
  readonly #made = new Map<string, MadeSchema | null>();

  with(ways: Ways): MadeSchema | null | undefined {
    return this.#made.get(JSON.stringify(ways));
  }

  /** The schema has run, for the first time. @param takenForGranted by the schema alone */
  keep(ways: Ways, database: SqlDatabase, { turns, looks }: SchemaNotes, takenForGranted: Iterable<string>): void {
    const image = turns.every(({ length }) => length === 1) ? database.image() : null;
    // What comes after the schema comes in every run, and is no part of it.
    const notes = { turns: [...turns], looks };
    const made = image === null ? null : { image, notes, takenForGranted: [...takenForGranted] };
    this.#made.set(JSON.stringify(ways), made);
  }
}
