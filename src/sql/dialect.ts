/** What the two dialects do differently, beyond syntax: MySQL's text is rewritten to the one grammar before it comes here. */
export type Dialect = 'postgres' | 'mysql';
