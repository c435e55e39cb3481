/**
 * What exists, by name. Every change gives back how to undo it and makes a new version, so that statements planned against the one before
 * are planned again. Rows are the storage's; here is only what they mean.
 */
import { SqlError, type Storage, type SqlType } from '../model/index.ts';
import { splitName } from './name.ts';
import type { Relation, Table } from './relation.ts';
import type { Sequence } from './sequence.ts';
import { isTemporary } from './temporary.ts';
import { UncommittedChanges } from './uncommitted.ts';
import { addSystemRelations } from './system/index.ts';

export type Undo = () => void;

/** Object numbers below are PostgreSQL's own. */
const firstId = 16_384;

const systemSchemas: readonly string[] = ['pg_catalog', 'information_schema'];

export interface EnumType {
  readonly schema: string;
  readonly name: string;
  readonly type: SqlType;
  readonly arrayType: SqlType;
}

interface Schema {
  readonly relations: Map<string, Relation>;
  readonly types: Map<string, EnumType>;
}

export class Catalog {
  readonly storage: Storage;
  /** The name of the database that it describes. */
  readonly database: string;
  readonly #uncommitted = new UncommittedChanges();
  readonly #schemas = new Map<string, Schema>();
  readonly #comments = new Map<string, string>();
  #version = 1;
  #nextId = firstId;

  constructor(storage: Storage, database = 'postgres') {
    this.storage = storage;
    this.database = database;
    for (const name of ['public', ...systemSchemas]) {
      this.#schemas.set(name, { relations: new Map(), types: new Map() });
    }
    addSystemRelations(this);
  }

  /** From now on this session looks: it sees its own changes, and those that are committed. */
  lookAs(session: number): void {
    if (this.#uncommitted.lookAs(session)) this.#version++;
  }

  /** Are there changes that the session that looks does not see? */
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

  /** Puts a relation under its name, in the place of one with this name. */
  put(relation: Relation): Undo {
    return this.#set(this.#schema(relation.schema).relations, relation.name, relation);
  }

  remove(relation: Relation): Undo {
    return this.#set(this.#schema(relation.schema).relations, relation.name, undefined);
  }

  type(schema: string, name: string): EnumType | undefined {
    return this.#schemas.get(schema)?.types.get(name);
  }

  types(): EnumType[] {
    return [...this.#schemas.values()].flatMap(({ types }) => [...types.values()]);
  }

  putType(type: EnumType): Undo {
    return this.#set(this.#schema(type.schema).types, type.name, type);
  }

  removeType(type: EnumType): Undo {
    return this.#set(this.#schema(type.schema).types, type.name, undefined);
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
    const undo = this.#uncommitted.change(map, name, value);
    this.#version++;
    return () => {
      undo();
      this.#version++;
    };
  }
}

/** PostgreSQL looks among the session's temporary tables first, then in pg_catalog unless the path names it. */
export function effectivePath(searchPath: readonly string[]): readonly string[] {
  if (searchPath.includes('pg_catalog')) return searchPath;
  const temporary = searchPath.filter(isTemporary);
  return [...temporary, 'pg_catalog', ...searchPath.slice(temporary.length)];
}
