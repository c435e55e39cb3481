/** What functions and casts ask of the catalog, as one session sees it: by its search path. PostgreSQL manual, 8.19 and 9.26. */
export interface CatalogLookups {
  /** The first schema of the search path that there is. */
  currentSchema(): string | null;
  /** Is it found without its schema? `null`: there is no such relation. */
  isVisible(relation: number): boolean | null;
  toRegclass(name: string): string | null;
  toRegtype(name: string): string | null;
  /** `null`: no role has this number. */
  roleName(role: number): string | null;
  readonly names: Readonly<Record<NameType, NamedNumbers>>;
  /** The sequence behind a column, with its schema. @throws SqlError 42P01, 42703 */
  serialSequence(table: string, column: string): string | null;
  /** @param catalog of the object: `pg_class`, `pg_namespace`...; `''`: any @throws SqlError 0A000 */
  comment(object: number, catalog: string): string | null;
  /** @param column its position, from 1 */
  columnComment(relation: number, column: number): string | null;
  /** @throws SqlError 0A000 */
  viewDefinition(view: number): string | null;
  constraintDefinition(constraint: number, isPretty: boolean): string | null;
  /** @param column its position in the index, from 1; 0: all of the index */
  indexDefinition(index: number, column: number, isPretty: boolean): string | null;
  /** An expression of the catalog without the parentheses that are not needed. */
  prettyExpression(text: string): string;
}

/** Types whose values are numbers of the catalog, shown as the names that they stand for. */
export type NameType = 'regclass' | 'regtype' | 'regnamespace' | 'regrole';

export interface NamedNumbers {
  /** The name as the server shows it. @throws SqlError 42P01, 42704, 3F000 there is none */
  read(name: string): string;
  /** `-` for 0; the number where it stands for nothing. */
  nameOf(number: number): string;
  /** @throws SqlError 42P01, 42704 */
  numberOf(name: string): number | null;
}
