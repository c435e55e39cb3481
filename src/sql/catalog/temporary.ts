/** Temporary tables: in a schema of their session, which hides others of their names and goes with the session. */
import type { Catalog, Undo } from './catalog.ts';
import type { Relation, Table } from './relation.ts';

const lead = 'pg_temp_';

export function temporarySchema(session: number): string {
  return `${lead}${session}`;
}

export function isTemporary(schema: string): boolean {
  return schema.startsWith(lead);
}

export function temporaryTables(catalog: Catalog, session: number): Table[] {
  const schema = temporarySchema(session);
  return catalog.hasSchema(schema) ? catalog.tables().filter((table) => table.schema === schema) : [];
}

/** Without a look at what depends on it: nothing outside the session can. */
export function dropTemporary(catalog: Catalog, relations: readonly Relation[]): void {
  for (const relation of relations) {
    catalog.remove(relation);
    if (relation.kind !== 'table') continue;
    for (const { sequence } of relation.columns) if (sequence !== null) catalog.remove(sequence);
  }
}

/** All that the session has. */
export function dropTemporarySchema(catalog: Catalog, session: number): void {
  const schema = temporarySchema(session);
  if (catalog.hasSchema(schema)) catalog.dropSchema(schema);
}

export function ensureTemporarySchema(catalog: Catalog, session: number): Undo | null {
  const schema = temporarySchema(session);
  return catalog.hasSchema(schema) ? null : catalog.createSchema(schema);
}
