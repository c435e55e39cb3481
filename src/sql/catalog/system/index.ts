/** The relations that every database has. */
import type { Storage } from '../../model/index.ts';
import { Catalog } from '../catalog.ts';
import { informationSchema } from './information-schema.ts';
import { pgCatalog } from './pg-catalog.ts';
import { virtualTable } from './virtual.ts';

/** PostgreSQL's own numbers, which stand in columns such as pg_description.classoid. */
const knownIds: Readonly<Record<string, number>> = {
  pg_type: 1247,
  pg_attribute: 1249,
  pg_proc: 1255,
  pg_class: 1259,
  pg_database: 1262,
  pg_am: 2601,
  pg_attrdef: 2604,
  pg_constraint: 2606,
  pg_depend: 2608,
  pg_description: 2609,
  pg_index: 2610,
  pg_namespace: 2615,
  pg_trigger: 2620,
};

export { prettyText } from './expression-text.ts';
export { constraintDefinition } from './pg-constraint-rows.ts';
export {
  indexDefinition,
  indexPartText,
  owner as ownerRole,
  publicOwner as publicOwnerRole,
  schemaComment,
  schemaId,
} from './pg-names.ts';

/** Below the first number of users' objects. */
const firstSystemId = 12_000;

/** A catalog with the relations that every database has, and nothing else. @param database its name */
export function newCatalog(storage: Storage, database = 'postgres'): Catalog {
  const catalog = new Catalog(storage, database);
  let id = firstSystemId;
  for (const definition of pgCatalog)
    catalog.put(virtualTable(knownIds[definition.name] ?? id++, 'pg_catalog', definition, catalog));
  for (const definition of informationSchema)
    catalog.put(virtualTable(id++, 'information_schema', definition, catalog));
  return catalog;
}
