// Writes src/sql/known: the names that PostgreSQL 15 and MySQL have, so that moirai tells what it lacks from what no server has.
// Usage: node scripts/engine-names.mjs POSTGRES_URL MARIADB_SOCKET (through psql and mysql), both servers freshly made, with their default settings.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../src/sql/known/', import.meta.url));
const [postgresUrl = '', mariadbSocket = ''] = process.argv.slice(2);

/** Types as `pg_type` names them; `=` after those with a default, `...` before the variadic one. */
const signature = `(select coalesce(string_agg(
    case when o = cardinality(proargtypes::oid[]) and provariadic <> 0 then '...' else '' end || typname ||
    case when o > cardinality(proargtypes::oid[]) - pronargdefaults then '=' else '' end, ',' order by o), '')
  from unnest(proargtypes) with ordinality u(t, o) join pg_type on pg_type.oid = t)`;
const internal = `array['internal', 'cstring', 'trigger', 'event_trigger', 'language_handler', 'fdw_handler']::regtype[]`;

write(
  'postgres-functions',
  'postgresFunctions',
  'Functions and aggregates: `name(types|types)`; those of the server alone left out.',
  [
    ...postgresRows(`select proname || '(' || string_agg(distinct types, '|' order by types) || ')'
    from (select proname, ${signature} as types from pg_proc where pronamespace = 'pg_catalog'::regnamespace
      and prorettype <> all (${internal}) and not proargtypes::oid[]::regtype[] && ${internal}) p group by proname order by proname`),
  ],
);
write('postgres-operators', 'postgresOperators', 'Operators: `name(types|types)`.', [
  ...postgresRows(`select oprname || '(' || string_agg(distinct concat_ws(',', l.typname, r.typname), '|') || ')'
    from pg_operator left join pg_type l on l.oid = oprleft join pg_type r on r.oid = oprright group by oprname order by oprname`),
]);
write('postgres-types', 'postgresTypes', 'Types that are no arrays and no rows of a table.', [
  ...postgresRows(`select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace and typelem = 0 and typrelid = 0
    and typtype in ('b', 'r', 'm', 'p') order by typname`),
  'box',
  'point',
  'lseg',
  'line',
  'int2vector',
  'oidvector',
]);
write('postgres-settings', 'postgresSettings', 'Settings that a session may change.', [
  ...postgresRows(
    `select name from pg_settings where context in ('user', 'superuser', 'backend', 'superuser-backend') order by name`,
  ),
]);
write('postgres-fixed-settings', 'postgresFixedSettings', 'Settings that a session may show and not change.', [
  ...postgresRows(`select name from pg_settings where context in ('postmaster', 'sighup', 'internal') order by name`),
]);
write(
  'postgres-catalog',
  'postgresCatalog',
  'Tables and views of pg_catalog and information_schema: `name(columns)`.',
  [
    ...postgresRows(`select relname || '(' || string_agg(attname, ',' order by attnum) || ')' from pg_attribute join pg_class c on c.oid = attrelid
    where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and relkind in ('r', 'v') and attnum > 0
    group by relname order by relname`),
  ],
);
const functions = mariadbRows(`select lower(function) from information_schema.sql_functions
  union select lower(replace(name, ' Function', '')) from mysql.help_topic
    where help_category_id in (select help_category_id from mysql.help_category where name like '%function%')`);
write(
  'mysql-functions',
  'mysqlFunctions',
  'Functions of MariaDB, and those of the MySQL 8.0 manual, chapter 14, that it lacks.',
  [...new Set([...functions.filter((name) => /^[a-z_0-9]+$/.test(name)), ...mysqlAlone()])],
);
const variables = mariadbRows('select lower(variable_name) from information_schema.system_variables');
write('mysql-variables', 'mysqlVariables', 'System variables of MariaDB, and those that MySQL 8.0 adds.', [
  ...new Set([...variables, ...mysqlVariablesAlone()]),
]);

function postgresRows(sql) {
  return linesOf(execFileSync('psql', ['-XAt', '-c', sql, postgresUrl], { encoding: 'utf8' }));
}

function mariadbRows(sql) {
  return linesOf(execFileSync('mysql', ['-uroot', '-NB', '-S', mariadbSocket, '-e', sql], { encoding: 'utf8' }));
}

function linesOf(text) {
  return text.split('\n').filter((line) => line !== '');
}

function write(file, name, what, names) {
  const lines = [''];
  for (const each of names.toSorted()) {
    if (lines.at(-1).length + each.length > 150) lines.push('');
    lines.push(`${lines.pop()} ${each}`.trim());
  }
  const text = lines.join('\n').replaceAll('\\', '\\\\').replaceAll('`', '\\`');
  const head = `/** ${what} Made by scripts/engine-names.mjs from PostgreSQL 15.18 and MariaDB 10.11.19. */`;
  writeFileSync(`${folder}${file}.ts`, `${head}\nexport const ${name} = \`\n${text}\n\`;\n`);
}

function mysqlAlone() {
  return `any_value bin_to_uuid can_access_column can_access_database can_access_table current_role format_bytes format_pico_time
    gtid_subset gtid_subtract grouping icu_version is_uuid json_schema_valid json_schema_validation_report json_storage_free
    json_storage_size json_value ps_current_thread_id ps_thread_id regexp_like roles_graphml statement_digest statement_digest_text
    timestamp timestampadd timestampdiff uuid_to_bin validate_password_strength wait_for_executed_gtid_set weight_string
    source_pos_wait asymmetric_encrypt st_area st_asbinary st_asgeojson st_astext st_buffer st_centroid st_collect st_contains
    st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals
    st_exteriorring st_geohash st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn
    st_intersection st_intersects st_isclosed st_isempty st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude
    st_makeenvelope st_numgeometries st_numpoints st_overlaps st_pointfromtext st_pointn st_polyfromtext st_simplify st_srid
    st_startpoint st_symdifference st_touches st_transform st_union st_validate st_within st_x st_y mbrcontains mbrequals mbrintersects
    mbroverlaps mbrwithin point linestring polygon multipoint multilinestring multipolygon geometrycollection ascii avg char charset
    curdate current_date current_time current_timestamp current_user day hour if insert interval left localtime localtimestamp minute
    month repeat replace right second sysdate time trim truncate user utc_date utc_time utc_timestamp values year date row_number
    subdate substring_index json_table last_value first_value`.split(/\s+/);
}

function mysqlVariablesAlone() {
  return `admin_port cte_max_recursion_depth default_collation_for_utf8mb4 explain_format generated_random_password_length
    information_schema_stats_expiry internal_tmp_mem_storage_engine print_identified_with_as_hex resultset_metadata
    secondary_engine_cost_threshold select_into_buffer_size session_track_gtids show_create_table_skip_secondary_engine
    sql_generate_invisible_primary_key sql_require_primary_key super_read_only tablespace_definition_cache temptable_max_ram
    transaction_allow_batching use_secondary_engine windowing_use_high_precision xa_detach_on_prepare max_prepared_stmt_count
    local_infile transaction_isolation transaction_read_only`.split(/\s+/);
}
