/** Relations and indexes by name and number, as `regclass` reads and writes them: they share their names. PostgreSQL manual, 8.19. */
import { type Catalog, effectivePath, quoteName, type Relation, splitName, type Table } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import type { SearchedCatalog } from './searched-catalog.ts';

/** A relation or an index. */
export interface NamedRelation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
}

/** The first along the search path. @param names of the schema, if any, and the relation */
export function findRelation({ catalog, searchPath }: SearchedCatalog, names: readonly string[]): NamedRelation | null {
  const name = names.at(-1) ?? '';
  const schema = names.at(-2);
  for (const each of schema === undefined ? effectivePath(searchPath) : [schema]) {
    const relation = catalog.relation(each, name);
    if (relation !== undefined) return relation;
    const index = catalog.index(each, name)?.index;
    if (index !== undefined) return { id: index.id, schema: each, name };
  }
  return null;
}

/** @throws SqlError 42P01 */
export function requireRelation(searched: SearchedCatalog, name: string): NamedRelation {
  const found = findRelation(searched, splitName(name));
  if (found === null) throw missingRelation(name);
  return found;
}

export function missingRelation(name: string): SqlError {
  return new SqlError('42P01', `relation "${name}" does not exist`);
}

export function relationOrIndex(catalog: Catalog, id: number): NamedRelation | null {
  const relation = relationById(catalog, id);
  if (relation !== undefined) return relation;
  const found = indexById(catalog, id);
  return found === undefined ? null : { id, schema: found.table.schema, name: found.index.name };
}

export function relationById(catalog: Catalog, id: number): Relation | undefined {
  for (const relation of catalog.relations()) if (relation.id === id) return relation;
  return undefined;
}

export function indexById(catalog: Catalog, id: number): { table: Table; index: Table['indexes'][number] } | undefined {
  for (const table of catalog.tables()) {
    const index = table.indexes.find((each) => each.id === id);
    if (index !== undefined) return { table, index };
  }
  return undefined;
}

/** Does the search path find it without its schema? */
export function isVisible({ id, name }: NamedRelation, searched: SearchedCatalog): boolean {
  return findRelation(searched, [name])?.id === id;
}

/** With its schema where the search path does not find it. */
export function titleOfRelation(relation: NamedRelation, searched: SearchedCatalog): string {
  const name = quoteName(relation.name);
  return isVisible(relation, searched) ? name : `${quoteName(relation.schema)}.${name}`;
}
