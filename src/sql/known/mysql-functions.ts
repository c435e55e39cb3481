/** Functions of MariaDB, and those of the MySQL 8.0 manual, chapter 14, that it lacks. Made by scripts/engine-names.mjs from PostgreSQL 15.18 and MariaDB 10.11.19. */
export const mysqlFunctions = `
abs acos add_months adddate addtime aes_decrypt aes_encrypt aggregates any_value ascii asin asymmetric_encrypt atan atan2 avg benchmark bin bin_to_uuid
binlog_gtid_pos bit_and bit_count bit_length bit_or bit_xor can_access_column can_access_database can_access_table cast ceil ceiling char char_length
character_length charset chr coalesce coercibility collation column_check column_exists column_json column_list compress concat concat_operator_oracle
concat_ws connection_id conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_role current_time current_timestamp
current_user curtime database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear decode decode_histogram
decode_oracle default degrees dense_rank des_decrypt des_encrypt div elt encode encrypt exp export_set extract extractvalue field find_in_set
first_value floor format format_bytes format_pico_time found_rows from_base64 from_days from_unixtime geometrycollection get_lock greatest group_concat
grouping gtid_subset gtid_subtract hex hour icu_version if ifnull in inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is is_free_lock
is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_used_lock is_uuid isnull json_array json_array_append json_array_insert json_arrayagg json_compact
json_contains json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge
json_merge_patch json_merge_preserve json_normalize json_object json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace
json_schema_valid json_schema_validation_report json_search json_set json_storage_free json_storage_size json_table json_type json_unquote json_valid
json_value lag last_day last_insert_id last_value lcase lead least left length lengthb like linestring ln load_file localtime localtimestamp locate log
log10 log2 lower lpad lpad_oracle ltrim ltrim_oracle make_set makedate maketime master_gtid_wait master_pos_wait max mbrcontains mbrequals
mbrintersects mbroverlaps mbrwithin md5 median microsecond mid min minute mod month monthname multilinestring multipoint multipolygon name_const
natural_sort_key now nth_value ntile nullif nvl nvl2 oct octet_length old_password ord parentheses password percent_rank percentile_cont
percentile_disc period_add period_diff pi point polygon position pow power ps_current_thread_id ps_thread_id quarter quote radians rand random_bytes
rank regexp regexp_instr regexp_like regexp_replace regexp_substr release_all_locks release_lock repeat replace replace_oracle reverse right rlike
roles_graphml round row_count row_number rownum rpad rpad_oracle rtrim rtrim_oracle schema schemas sec_to_time second session_user sformat sha sha1
sha2 sign sin sleep soundex source_pos_wait space sqrt st_area st_asbinary st_asgeojson st_astext st_buffer st_centroid st_collect st_contains
st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring
st_geohash st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects st_isclosed
st_isempty st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude st_makeenvelope st_numgeometries st_numpoints st_overlaps
st_pointfromtext st_pointn st_polyfromtext st_simplify st_srid st_startpoint st_symdifference st_touches st_transform st_union st_validate st_within
st_x st_y statement_digest statement_digest_text std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substr_oracle substring
substring_index subtime sum sys_guid sysdate system_user tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64
to_char to_days to_seconds trim trim_oracle trunc truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper user utc_date
utc_time utc_timestamp uuid uuid_short uuid_to_bin validate_password_strength values var_pop var_samp variance version wait_for_executed_gtid_set week
weekday weekofyear weight_string wsrep_last_seen_gtid wsrep_last_written_gtid wsrep_sync_wait_upto_gtid xor year yearweek
`;
