/**
 * What exists, by name. Every change gives back how to undo it and makes a new version, so that statements planned against the one before
 * are planned again. Rows are the storage's; here is only what they mean.
 */
import { type IndexId, SqlError, type Storage, type SqlType } from '../model/index.ts';
import { splitName, isTemporary } from './name.ts';
import { rebased } from './rebased.ts';
import type { Index, Relation, Table } from './relation.ts';
import type { Sequence } from './sequence.ts';
import { UncommittedChanges } from './uncommitted.ts';

export type Undo = () => void;

/** Object numbers below are PostgreSQL's own. */
const firstId = 16_384;

const systemSchemas: readonly string[] = ['pg_catalog', 'information_schema'];

/** An enum or a domain. */
export interface UserType {
  readonly schema: string;
  readonly name: string;
  readonly type: SqlType;
  readonly arrayType: SqlType;
}

interface Schema {
  readonly relations: Map<string, Relation>;
  readonly types: Map<string, UserType>;
}

export class Catalog {
  readonly storage: Storage;
  /** The name of the database that it describes. */
  readonly database: string;
  readonly #uncommitted = new UncommittedChanges();
  readonly #schemas = new Map<string, Schema>();
  readonly #comments = new Map<string, string>();
  /** PostgreSQL's, by name, with their numbers: every database has the first. */
  readonly #extensions = new Map([['plpgsql', 13_500]]);
  #version = 1;
  #nextId = firstId;

  /** Empty: `newCatalog` adds the relations that every database has. */
  constructor(storage: Storage, database: string) {
    this.storage = storage;
    this.database = database;
    for (const name of ['public', ...systemSchemas]) {
      this.#schemas.set(name, { relations: new Map(), types: new Map() });
    }
  }

  /** Are no changes open? */
  get isSettled(): boolean {
    return this.#uncommitted.areNone;
  }

  /**
   * Gives a new catalog, over other storage, all that this one has, which `isSettled`. Tables are shared, for a change makes another one; sequences,
   * which change, are copied, and so are the tables whose columns own them.
   */
  copyTo(copy: Catalog): void {
    const sequences = new Map<Sequence, Sequence>();
    const own = new Map(copy.#schemas);
    copy.#schemas.clear();
    for (const [name, { relations, types: named }] of this.#schemas) {
      const system = systemSchemas.includes(name) ? own.get(name)?.relations : undefined;
      const copied = [...relations].map(
        ([key, relation]) => [key, system?.get(key) ?? copyOf(relation, sequences)] as const,
      );
      copy.#schemas.set(name, { relations: new Map(copied), types: new Map(named) });
    }
    for (const [key, text] of this.#comments) copy.#comments.set(key, text);
    copy.#extensions.clear();
    for (const [name, id] of this.#extensions) copy.#extensions.set(name, id);
    copy.#version = this.#version;
    copy.#nextId = this.#nextId;
  }

  /** From now on names are looked up as this session sees them: with its own changes and the committed ones. */
  lookAs(session: number): void {
    if (this.#uncommitted.lookAs(session)) this.#version++;
  }

  /** Are there changes that this session does not see? */
  get isChanging(): boolean {
    return this.#uncommitted.areHidden;
  }

  /** The session's transaction has ended. */
  committed(session: number): void {
    this.#uncommitted.committed(session);
  }

  get version(): number {
    return this.#version;
  }

  newId(): number {
    return this.#nextId++;
  }

  schemas(): string[] {
    return [...this.#schemas.keys()];
  }

  hasSchema(name: string): boolean {
    return this.#schemas.has(name);
  }

  createSchema(name: string): Undo {
    return this.#set(this.#schemas, name, { relations: new Map(), types: new Map() });
  }

  dropSchema(name: string): Undo {
    return this.#set(this.#schemas, name, undefined);
  }

  relation(schema: string, name: string): Relation | undefined {
    return this.#schemas.get(schema)?.relations.get(name);
  }

  /** All of them, in the order in which they were created. */
  *relations(): Iterable<Relation> {
    for (const { relations } of this.#schemas.values()) yield* relations.values();
  }

  tables(): Table[] {
    return [...this.relations()].filter((relation) => relation.kind === 'table');
  }

  tableById(id: number): Table | undefined {
    // Foreign keys ask for each row that is written.
    for (const { relations } of this.#schemas.values())
      for (const relation of relations.values()) if (relation.id === id && relation.kind === 'table') return relation;
    return undefined;
  }

  /** An index by name: it shares the names of relations. */
  index(schema: string, name: string): { table: Table; index: Table['indexes'][number] } | undefined {
    for (const table of this.tables()) {
      const index = table.schema === schema ? table.indexes.find((each) => each.name === name) : undefined;
      if (index !== undefined) return { table, index };
    }
    return undefined;
  }

  /** Is the name in use by a relation or an index? */
  isTaken(schema: string, name: string): boolean {
    return this.relation(schema, name) !== undefined || this.index(schema, name) !== undefined;
  }

  /** Is it, or has another session given it to a relation or an index and not committed that yet? */
  isTakenByAny(schema: string, name: string): boolean {
    return (
      this.isTaken(schema, name) ||
      this.#hidden(schema).some(
        (relation) =>
          relation.name === name ||
          (relation.kind === 'table' && relation.indexes.some((index) => index.name === name)),
      )
    );
  }

  /** Indexes that other sessions have added to the table and not committed yet. */
  hiddenIndexes({ id, schema, indexes }: Table): readonly Index[] {
    const known = new Set(indexes.map((index) => index.id));
    const hidden = new Map<IndexId, Index>();
    for (const relation of this.#hidden(schema)) {
      if (relation.kind !== 'table' || relation.id !== id) continue;
      for (const index of relation.indexes) if (!known.has(index.id)) hidden.set(index.id, index);
    }
    return [...hidden.values()];
  }

  #hidden(schema: string): Relation[] {
    const relations = this.#schemas.get(schema)?.relations;
    if (relations === undefined) return [];
    return [...this.#uncommitted.hidden(relations)].map(({ value }) => value as Relation);
  }

  /** Puts a relation under its name, in the place of one with this name. */
  put(relation: Relation): Undo {
    return this.#set(this.#schema(relation.schema).relations, relation.name, relation);
  }

  /** Puts a table in the place of `before`, with whatever other sessions do to that and commit meanwhile. */
  replace(before: Table, after: Table): Undo {
    if (before.name === after.name && before.schema === after.schema) {
      return this.#change(this.#schema(after.schema).relations, after.name, (now) =>
        now?.kind === 'table' ? rebased(before, after, now) : now,
      );
    }
    const undoRemoval = this.remove(before);
    const undoPut = this.put(after);
    return () => {
      undoPut();
      undoRemoval();
    };
  }

  remove(relation: Relation): Undo {
    return this.#set(this.#schema(relation.schema).relations, relation.name, undefined);
  }

  type(schema: string, name: string): UserType | undefined {
    return this.#schemas.get(schema)?.types.get(name);
  }

  types(): UserType[] {
    return [...this.#schemas.values()].flatMap(({ types }) => [...types.values()]);
  }

  putType(type: UserType): Undo {
    return this.#set(this.#schema(type.schema).types, type.name, type);
  }

  removeType(type: UserType): Undo {
    return this.#set(this.#schema(type.schema).types, type.name, undefined);
  }

  extensions(): readonly { readonly name: string; readonly id: number }[] {
    return [...this.#extensions].map(([name, id]) => ({ name, id }));
  }

  hasExtension(name: string): boolean {
    return this.#extensions.has(name);
  }

  createExtension(name: string): Undo {
    return this.#set(this.#extensions, name, this.newId());
  }

  dropExtension(name: string): Undo {
    return this.#set(this.#extensions, name, undefined);
  }

  /** COMMENT ON; `what` names kind and object. */
  comment(what: string): string | undefined {
    return this.#comments.get(what);
  }

  putComment(what: string, text: string | undefined): Undo {
    return this.#set(this.#comments, what, text);
  }

  /** A sequence by its name as `nextval` takes it: `name`, `schema.name`, quoted where needed. @throws SqlError 42P01, 42809 */
  sequence(name: string, searchPath: readonly string[] = ['public']): Sequence {
    const names = splitName(name);
    const relation = this.find(names, searchPath);
    if (relation === undefined) throw new SqlError('42P01', `relation "${names.join('.')}" does not exist`);
    if (relation.kind !== 'sequence') throw new SqlError('42809', `"${names.at(-1)}" is not a sequence`);
    return relation;
  }

  /** By one name along the search path, or by schema and name. */
  find(names: readonly string[], searchPath: readonly string[]): Relation | undefined {
    const name = names.at(-1) ?? '';
    const schema = names.at(-2);
    if (schema !== undefined) return this.relation(schema, name);
    for (const each of effectivePath(searchPath)) {
      const found = this.relation(each, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #schema(name: string): Schema {
    const schema = this.#schemas.get(name);
    if (schema === undefined) throw new SqlError('3F000', `schema "${name}" does not exist`);
    return schema;
  }

  #set<T>(map: Map<string, T>, name: string, value: T | undefined): Undo {
    return this.#change(map, name, () => value);
  }

  #change<T>(map: Map<string, T>, name: string, make: (before: T | undefined) => T | undefined): Undo {
    // The map has values of one type.
    const undo = this.#uncommitted.change(map, name, (before) => make(before as T | undefined));
    this.#version++;
    return () => {
      undo();
      this.#version++;
    };
  }
}

/** @param sequences copies of those that were copied already */
function copyOf(relation: Relation, sequences: Map<Sequence, Sequence>): Relation {
  const sequenceOf = (sequence: Sequence): Sequence => {
    const known = sequences.get(sequence) ?? sequence.copy();
    sequences.set(sequence, known);
    return known;
  };
  if (relation.kind === 'sequence') return sequenceOf(relation);
  if (relation.kind !== 'table' || relation.columns.every(({ sequence }) => sequence === null)) return relation;
  const columns = relation.columns.map((column) =>
    column.sequence === null ? column : { ...column, sequence: sequenceOf(column.sequence) },
  );
  return { ...relation, columns };
}

/** PostgreSQL looks among the session's temporary tables first, then in pg_catalog unless the path names it. */
export function effectivePath(searchPath: readonly string[]): readonly string[] {
  if (searchPath.includes('pg_catalog')) return searchPath;
  const temporary = searchPath.filter(isTemporary);
  return [...temporary, 'pg_catalog', ...searchPath.slice(temporary.length)];
}
