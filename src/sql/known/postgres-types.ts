/** Types that are no arrays and no rows of a table. Made by scripts/engine-names.mjs from PostgreSQL 15.18 and MariaDB 10.11.19. */
export const postgresTypes = `
aclitem any anyarray anycompatible anycompatiblearray anycompatiblemultirange anycompatiblenonarray anycompatiblerange anyelement anyenum anymultirange
anynonarray anyrange bit bool box bpchar bytea char cid cidr circle cstring date datemultirange daterange event_trigger fdw_handler float4 float8
gtsvector index_am_handler inet int2 int2vector int4 int4multirange int4range int8 int8multirange int8range internal interval json jsonb jsonpath
language_handler line lseg macaddr macaddr8 money numeric nummultirange numrange oid oidvector path pg_brin_bloom_summary pg_brin_minmax_multi_summary
pg_ddl_command pg_dependencies pg_lsn pg_mcv_list pg_ndistinct pg_node_tree pg_snapshot point polygon record refcursor regclass regcollation regconfig
regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype table_am_handler text tid time timestamp timestamptz timetz trigger
tsm_handler tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector txid_snapshot unknown uuid varbit varchar void xid xid8 xml
`;
