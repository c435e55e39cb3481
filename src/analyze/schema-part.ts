/**
 * The part of a schema that some statements need: to create all tables of an application for each schedule of two of its transactions takes most of
 * the time. What is left out mentions none of the relations that are kept, or is about another one that refers to them.
 */
/** One statement of the DDL. */
export interface DdlStatement {
  readonly sql: string;
  /** Names of relations that it made, changed or dropped. */
  readonly changed: ReadonlySet<string>;
}

export interface SchemaPart {
  readonly ddl: string;
  /** Is the relation of this name in it? */
  readonly has: (name: string) => boolean;
}

const knownMax = 32;

export class SchemaParts {
  readonly #ddl: readonly DdlStatement[];
  readonly #names: Names;
  /** By statement of the DDL: the relations that it mentions. */
  readonly #mentioned: readonly ReadonlySet<string>[];
  /** Tables with rows that the DDL inserts, among others. */
  readonly #filled: ReadonlySet<string>;
  readonly #known = new Map<string, SchemaPart>();

  constructor(ddl: readonly DdlStatement[]) {
    this.#ddl = ddl;
    this.#names = new Names(ddl.flatMap(({ changed }) => [...changed]));
    this.#mentioned = ddl.map(({ sql }) => this.#names.in(sql));
    this.#filled = new Set(this.#mentioned.flatMap((names, at) => (ddl[at]?.changed.size === 0 ? [...names] : [])));
  }

  /** The part for such statements. O(relations * DDL) */
  for(statements: readonly string[]): SchemaPart {
    const names = new Set(statements.flatMap((sql) => [...this.#names.in(sql)]));
    const key = JSON.stringify([...names].toSorted());
    const known = this.#known.get(key) ?? this.#partWith(names);
    // Each has its text of the DDL.
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }

  #partWith(kept: Set<string>): SchemaPart {
    for (let size = -1; size < kept.size; ) {
      size = kept.size;
      for (const at of this.#ddl.keys()) if (this.#needs(at, kept)) for (const name of this.#all(at)) kept.add(name);
    }
    const wanted = this.#ddl.filter((_, at) => this.#needs(at, kept));
    const ddl = wanted.map(({ sql }) => `${sql.trim().replace(/;$/, '')};`);
    // pg_dump empties it for its own session: rows are inserted on the same one, by the names of their tables alone.
    if (wanted.some(({ sql }) => /\bsearch_path\b/i.test(sql))) ddl.push('RESET search_path;');
    return {
      ddl: ddl.join('\n'),
      has: (name) => kept.has(name),
    };
  }

  #all(at: number): readonly string[] {
    return [...(this.#ddl[at]?.changed ?? []), ...(this.#mentioned[at] ?? [])];
  }

  /** Is the statement about a relation that is kept, about none, or about a table with rows that refer to one? */
  #needs(at: number, kept: ReadonlySet<string>): boolean {
    const changed = [...(this.#ddl[at]?.changed ?? [])];
    const all = this.#all(at);
    const about = changed.length > 0 ? changed : all;
    if (about.length === 0 || about.some((name) => kept.has(name))) return true;
    return changed.some((name) => this.#filled.has(name)) && all.some((name) => kept.has(name));
  }
}

/** Names of relations in texts, whatever they stand for there: too many are found, never too few. */
class Names {
  readonly #byWord = new Map<string, Set<string>>();
  /** Those that are no single word. */
  readonly #others: readonly string[];

  constructor(names: readonly string[]) {
    const others = new Set<string>();
    for (const name of names)
      if (/^[\p{L}\p{N}_$]+$/u.test(name)) {
        const word = name.toLowerCase();
        this.#byWord.set(word, (this.#byWord.get(word) ?? new Set()).add(name));
      } else others.add(name);
    this.#others = [...others];
  }

  in(text: string): ReadonlySet<string> {
    const lower = text.toLowerCase();
    const found = new Set(this.#others.filter((name) => lower.includes(name.toLowerCase())));
    for (const word of lower.match(/[\p{L}\p{N}_$]+/gu) ?? [])
      for (const name of this.#byWord.get(word) ?? []) found.add(name);
    return found;
  }
}
