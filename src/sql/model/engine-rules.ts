/** What the engine of a dialect does, as far as plans, DDL and constraints depend on it. */
export interface EngineRules {
  /** DDL commits before it runs and after it. */
  readonly ddlCommits: boolean;
  /** Definitions and statements take metadata locks; a writer shares those of the tables that refer to its own. */
  readonly hasMetadataLocks: boolean;
  /** A table without an index to go by is read in the order of its primary key, and MIN and MAX of an index at its ends. */
  readonly isClustered: boolean;
  /** UPDATE, DELETE and SELECT ... FOR UPDATE lock the latest rows as they scan. Otherwise they lock what a snapshot shows them. */
  readonly locksWhileScanning: boolean;
  /** A condition that gives a whole unique key is always looked up by it. Otherwise the planner may read the table whole. */
  readonly looksUpUniqueKeys: boolean;
  /** The row of a table that is constant for a query is read before the rows of the others: `constant-tables.ts`. */
  readonly readsConstantTablesFirst: boolean;
  /** A table that only its LEFT JOIN looks at, and that has one row for it at most, is not read: `unread-tables.ts`. */
  readonly leavesUnreadTablesOut: boolean;
  /** An index may be read whole for a condition on a column that is not its first, and a partial one for its own condition alone. */
  readonly filtersWholeIndexes: boolean;
  /** `(a, b) > (1, 2)` is a range of an index that begins with `a`. */
  readonly searchesRowRanges: boolean;
  /** May a join of two tables begin with either of them, or read both by indexes on the columns that it compares, one row of each at a time? */
  readonly mergesJoins: boolean;
  /** Conditions that a query puts on the rows of a subquery in FROM are conditions of the subquery, where that changes no row. */
  readonly pushesConditionsDown: boolean;
  /** The rows of queries in FROM and WITH are computed as far as they are read. Otherwise all, before the first is read. */
  readonly streamsInnerQueries: boolean;
  /** NULLs are smaller than all values in indexes and ORDER BY. Otherwise larger. */
  readonly nullsAreSmallest: boolean;
  /** An UPDATE writes no row whose values stay the same, and does not count it. */
  readonly skipsUnchangedRows: boolean;
  /** May ORDER BY compute from the columns of SELECT DISTINCT? Elsewhere its expressions have to be in the select list. */
  readonly sortsDistinctByExpressions: boolean;
  /** How many rows an upsert counts for one that it overwrites. */
  readonly countOfOverwritten: 1 | 2;
  /** Assignments of an UPDATE read what those before them have assigned. */
  readonly assignsInOrder: boolean;
  /** INSERT ... SELECT writes a row before it reads the next, unless the table is its own source. */
  readonly insertsRowByRow: boolean;
  /** Every table has columns of the system, such as xmax, that `*` does not show. */
  readonly hasSystemColumns: boolean;
  /** Foreign keys are checked, and their actions run, row by row as rows change. Otherwise when the statement ends. */
  readonly checksKeysByRow: boolean;
  /** The name of an index is that of a relation. Otherwise it is one of its table, and may be a constraint's. */
  readonly indexesAreRelations: boolean;
  /**
   * Which conditions of an UPDATE or DELETE that look at no row are evaluated before the first row is read. `outside comparisons`: a subquery in a
   * longer WHERE only as the operand of EXISTS or IN. Of a SELECT all are.
   */
  readonly evaluatesFirst: 'all' | 'outside comparisons';
  /** An UPDATE or DELETE looks the value of a subquery over a derived table up by an index. */
  readonly looksUpDerived: boolean;
  /** Does it look the values of `IN (SELECT ...)` up by an index: those of the subquery in the table, or each row's in the subquery's table? */
  readonly looksUpMembers: boolean;
  /** Are EXISTS and `IN (SELECT ...)` in WHERE made joins? The new version of a row is then compared with what the old one was joined with. */
  readonly joinsSubqueries: boolean;
  /** Conditions on one column are compared with each other before the first row is read. */
  readonly comparesConditions: boolean;
  /** A database's name stands where the other has a schema's. There is one database: a name that is no schema's is its own. */
  readonly databasesAreSchemas: boolean;
  /** The names of columns and aliases are the same in any case. */
  readonly ignoresCaseOfColumns: boolean;
  /** The tables of information_schema are found in any case, and its columns have capital names, which results show however they were written. */
  readonly hasCapitalCatalog: boolean;
  /** LIMIT in a recursive query ends it; ORDER BY may stand there, too. Otherwise both are errors. */
  readonly limitsRecursion: boolean;
  /** The types of a recursive query's columns are those of its first part. Otherwise the second part must have the same. */
  readonly firstPartDecidesTypes: boolean;
  /** A foreign key has an index of its own and the name `child_ibfk_1`, and may refer to columns that are not unique. */
  readonly indexesForeignKeys: boolean;
  /** A lock of the row for another update than of its keys lets other transactions lock the key. */
  readonly locksKeysApart: boolean;
  /** Temporary and permanent tables have no foreign keys to each other. */
  readonly keepsTemporaryApart: boolean;
  /** DDL enters names into system tables, whose unique keys make others wait. */
  readonly entersNames: boolean;
  /** DROP TABLE of several takes foreign keys among them for gone. Otherwise it drops one after the other. */
  readonly dropsTogether: boolean;
  /** The type of a column that a view or a generated column uses does not change. */
  readonly keepsTypesInUse: boolean;
  /** CREATE TABLE ... LIKE is a copy of the whole table. Otherwise LIKE is one of the elements. */
  readonly likeIsWhole: boolean;
  /** INSERT must name a NOT NULL column without a default, and one that is added has the implicit default of its type. Otherwise both are NULL. */
  readonly hasImplicitDefaults: boolean;
  /** TRUNCATE restarts the sequences of the table. */
  readonly truncateRestarts: boolean;
  /** What describes a result says which keys its columns are in, and their declared types. */
  readonly describesKeys: boolean;
  /** INSERT without a list of columns may give values for the first of them only. */
  readonly leavesColumnsOut: boolean;
  /** FOR UPDATE locks the rows that subqueries in FROM read, too, and no rows of an outer join's other side. */
  readonly locksDerivedTables: boolean;
  /** FOR UPDATE may stand inside of UNION. */
  readonly locksInsideUnion: boolean;
}
