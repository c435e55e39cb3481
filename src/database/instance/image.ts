import type { EngineProfile } from '../../engine/index.ts';
import { type Catalog, newCatalog } from '../../sql/index.ts';

/** Rows and relations that are changed no more. */
export interface StoredState {
  readonly engine: EngineProfile;
  readonly catalog: Catalog;
}

/**
 * What a database holds when its schema has run, for others of the same profile that begin with it: the rows and the numbering of its engine, and its
 * catalog.
 */
export interface DatabaseImage extends StoredState {
  /** The number of the next session. */
  readonly nextSessionId: number;
}

/** @param into is new @returns the catalog of `into` */
export function copyState({ engine, catalog }: StoredState, into: EngineProfile): Catalog {
  into.copyFrom(engine);
  const copy = newCatalog(into.storage, catalog.database);
  catalog.copyTo(copy);
  return copy;
}
