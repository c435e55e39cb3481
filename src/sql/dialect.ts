/** What the two dialects do differently, beyond syntax: MySQL's text is rewritten to the one grammar before it comes here. */
export type Dialect = 'postgres' | 'mysql';

/** How the engine of a dialect goes about it, where plans and definitions have to know. */
export interface EngineRules {
  /** A definition commits before it and after it. */
  readonly definitionsCommit: boolean;
  /** Definitions and statements meet in metadata locks; a writer shares those of the tables that refer to its own. */
  readonly hasMetadataLocks: boolean;
  /** A table without an index to go by is read in the order of its primary key, and MIN and MAX of an index at its ends. */
  readonly isClustered: boolean;
  /** INSERT ... SELECT writes a row before it reads the next, unless the table is its own source. */
  readonly insertsRowByRow: boolean;
  /** Foreign keys look at the children of each row as it changes. */
  readonly checksChildrenByRow: boolean;
  /** The name of an index is that of a relation. */
  readonly indexesAreRelations: boolean;
  /**
   * Which conditions of an UPDATE or DELETE that look at no row are evaluated before the first row is read. `outside comparisons`: a subquery in a
   * longer WHERE only as the operand of EXISTS or IN. Of a SELECT all are.
   */
  readonly evaluatesFirst: 'all' | 'outside comparisons';
  /** Does an UPDATE or DELETE look up by an index what a subquery of a derived table gives that is computed first? */
  readonly looksUpDerived: boolean;
  /** Does it look the values of `IN (SELECT ...)` up by an index: those of the subquery in the table, or each row's in the subquery's table? */
  readonly looksUpMembers: boolean;
  /** Conditions on one column are compared with each other before the first row is read. */
  readonly comparesConditions: boolean;
}

export const engineRules: Readonly<Record<Dialect, EngineRules>> = {
  postgres: {
    definitionsCommit: false,
    hasMetadataLocks: false,
    isClustered: false,
    insertsRowByRow: false,
    checksChildrenByRow: false,
    indexesAreRelations: true,
    evaluatesFirst: 'all',
    looksUpDerived: true,
    looksUpMembers: false,
    comparesConditions: false,
  },
  mysql: {
    definitionsCommit: true,
    hasMetadataLocks: true,
    isClustered: true,
    insertsRowByRow: true,
    checksChildrenByRow: true,
    indexesAreRelations: false,
    evaluatesFirst: 'outside comparisons',
    looksUpDerived: false,
    looksUpMembers: true,
    comparesConditions: true,
  },
};
