/**
 * What the schema of a program comes to: the first run makes it, statement by statement, and the others begin with a copy. A run cannot tell them apart:
 * with the copy come the turns of the schema's statements, their looks at the clock, and what is taken for granted of them.
 */
import type { DatabaseImage, SqlDatabase, Ways } from '../database/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import { splitStatements, statementLine } from '../sql/index.ts';
import { prepareSchema } from './prepare-schema.ts';

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

/** What the first text of several schemas comes to: programs with the same tables differ in their rows. */
export class SharedBeginning {
  /** `null`: none has made it that others can begin with. */
  made: MadeSchema | null = null;
}

/** Of the runs of one program with one profile, whose clocks are alike. */
export class SharedSchema {
  /** By ways to rows; `null`: each run has to make it. */
  readonly #made = new Map<string, MadeSchema | null>();
  readonly #beginning: SharedBeginning | undefined;

  /** @param beginning of schemas that begin with the same text, for the same profile. Default: the schema is made as a whole */
  constructor(beginning?: SharedBeginning) {
    this.#beginning = beginning;
  }

  with(ways: Ways): MadeSchema | null | undefined {
    return this.#made.get(JSON.stringify(ways));
  }

  /** What a run can begin with that has to make the rest. */
  get beginning(): MadeSchema | undefined {
    return this.#beginning?.made ?? undefined;
  }

  /** Runs what the database has not begun with. @param made so far */
  async prepare(
    database: SqlDatabase,
    schema: readonly string[],
    begun: MadeSchema | undefined,
    made: { readonly notes: SchemaNotes; readonly takenForGranted: Iterable<string> },
  ): Promise<void> {
    const [first = '', ...rest] = schema;
    if (begun !== undefined) return prepareSchema(database, rest);
    if (this.#beginning === undefined || !definesOnly(first, database)) return prepareSchema(database, schema);
    await prepareSchema(database, [first]);
    this.#beginning.made ??= madeSchema(database, made.notes, made.takenForGranted);
    return prepareSchema(database, rest);
  }

  /** The schema has run, for the first time. @param takenForGranted by the schema alone */
  keep(ways: Ways, database: SqlDatabase, notes: SchemaNotes, takenForGranted: Iterable<string>): void {
    this.#made.set(JSON.stringify(ways), madeSchema(database, notes, takenForGranted));
  }
}

/** Does its session come out of it like a new one? */
function definesOnly(text: string, { dialect }: SqlDatabase): boolean {
  return splitStatements(text, dialect).every((sql) => definition.test(statementLine(sql)));
}

const definition = /^(?:create (?:table|type|sequence|index|unique index)|alter table) /i;

/** What comes after it comes in every run, and is no part of it. */
function madeSchema(
  database: SqlDatabase,
  { turns, looks }: SchemaNotes,
  takenForGranted: Iterable<string>,
): MadeSchema | null {
  const image = turns.every(({ length }) => length === 1) ? database.image() : null;
  return image === null ? null : { image, notes: { turns: [...turns], looks }, takenForGranted: [...takenForGranted] };
}
