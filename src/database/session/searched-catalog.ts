import type { Catalog } from '../../sql/index.ts';

/** The catalog, and the schemas in which a session looks for names. */
export interface SearchedCatalog {
  readonly catalog: Catalog;
  readonly searchPath: readonly string[];
}
