/** Which of PostgreSQL's regression files are the core of SQL: types that applications use, queries, writes, constraints, definitions. */
export const coreFiles: readonly string[] = `
  boolean char varchar text int2 int4 int8 float4 float8 numeric uuid enum strings date time timestamp
  timestamptz interval horology json jsonb arrays select select_into select_distinct select_implicit
  select_having subselect union case join aggregates window with limit portals rangefuncs expressions comments
  prepare insert insert_conflict update delete returning truncate transactions errors create_table
  create_index create_view alter_table constraints foreign_key generated identity sequence matview
`
  .trim()
  .split(/\s+/);
