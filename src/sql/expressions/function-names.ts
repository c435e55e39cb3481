/** Names of functions that stand only where the planner puts them: in FROM, in the SELECT list, before OVER. */
const setReturningNames = [
  'generate_series',
  'generate_subscripts',
  'unnest',
  'json_array_elements',
  'json_array_elements_text',
  'jsonb_array_elements',
  'jsonb_array_elements_text',
  'json_object_keys',
  'jsonb_object_keys',
  'json_each',
  'json_each_text',
  'jsonb_each',
  'jsonb_each_text',
  'string_to_table',
  'regexp_split_to_table',
  'regexp_matches',
  'pg_partition_ancestors',
] as const;

export type SetReturningName = (typeof setReturningNames)[number];

/** Aggregates are window functions, too. */
const windowFunctionNames = [
  'row_number',
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
  'ntile',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'nth_value',
] as const;

export type WindowFunctionName = (typeof windowFunctionNames)[number];

export function isSetReturning(name: string): name is SetReturningName {
  return (setReturningNames as readonly string[]).includes(name);
}

export function isWindowFunction(name: string): name is WindowFunctionName {
  return (windowFunctionNames as readonly string[]).includes(name);
}
