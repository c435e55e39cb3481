/** The relations that every database has. */
import type { Catalog } from '../catalog.ts';
import { informationSchema } from './information-schema.ts';
import { pgCatalog } from './pg-catalog.ts';
import { virtualTable } from './virtual.ts';

/** Below the first number of users' objects. */
const firstSystemId = 12_000;

export function addSystemRelations(catalog: Catalog): void {
  let id = firstSystemId;
  for (const definition of pgCatalog) catalog.put(virtualTable(id++, 'pg_catalog', definition, catalog));
  for (const definition of informationSchema)
    catalog.put(virtualTable(id++, 'information_schema', definition, catalog));
}
