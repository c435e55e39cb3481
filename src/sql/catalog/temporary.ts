/** Temporary tables: in a schema of their session, which hides others of their names and goes with the session. */
import type { Catalog, Undo } from './catalog.ts';
import type { Relation, Table } from './relation.ts';
import { temporarySchema } from './name.ts';

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

/** The session has ended: all see that its tables are gone. */
export function endTemporarySchema(catalog: Catalog, session: number): void {
  if (!catalog.hasSchema(temporarySchema(session))) return;
  catalog.lookAs(session);
  dropTemporarySchema(catalog, session);
  catalog.committed(session);
}

export function ensureTemporarySchema(catalog: Catalog, session: number): Undo | null {
  const schema = temporarySchema(session);
  return catalog.hasSchema(schema) ? null : catalog.createSchema(schema);
}
