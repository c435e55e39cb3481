/** Which rows are missing while a path runs: a path is analyzed once for each variant. */
export interface Variant {
  /** Texts of rows that are not there. */
  readonly absent: ReadonlySet<string>;
  /** Numbers of statements whose condition does not hold, or whose new row is there already. */
  readonly missed: ReadonlySet<number>;
  /** Numbers of statements that name rows by a result that is empty: NULL is no key. */
  readonly idle: ReadonlySet<number>;
}

/** What the variants of a path decide, each both ways. */
export interface Decided {
  readonly absent: ReadonlySet<string>;
  readonly missed: ReadonlySet<number>;
}
