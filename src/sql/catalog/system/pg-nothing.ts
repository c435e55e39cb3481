/** Relations of pg_catalog about things of which there are none here: they have no rows, and the columns that are asked for. */
import type { VirtualDefinition } from './virtual.ts';

export const pgNothing: readonly VirtualDefinition[] = [
  empty('pg_range', 'rngtypid oid, rngsubtype, rngmultitypid, rngcollation, rngsubopc'),
  empty(
    'pg_proc',
    'oid oid, proname name, pronamespace oid, proowner, prolang, prokind char, provolatile, proparallel, prosecdef bool, proretset, prorettype oid, proargtypes text, prosrc, proacl text[]',
  ),
  empty(
    'pg_trigger',
    'oid oid, tgrelid, tgparentid, tgname name, tgfoid oid, tgconstraint, tgtype int2, tgenabled char, tgisinternal bool',
  ),
  empty('pg_inherits', 'inhrelid oid, inhparent, inhseqno int4, inhdetachpending bool'),
  empty(
    'pg_collation',
    'oid oid, collname name, collnamespace oid, collowner, collprovider char, collisdeterministic bool, collencoding int4, collcollate text, collctype, colliculocale, collversion',
  ),
  empty(
    'pg_policy',
    'oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles oid[], polqual text, polwithcheck',
  ),
  empty('pg_policies', 'schemaname name, tablename, policyname'),
  empty('pg_matviews', 'schemaname name, matviewname, matviewowner, definition text'),
  empty('pg_partitioned_table', 'partrelid oid, partstrat char, partattrs int2[]'),
  empty('pg_rewrite', 'oid oid, rulename name, ev_class oid'),
  empty(
    'pg_statistic_ext',
    'oid oid, stxrelid, stxname name, stxnamespace oid, stxowner, stxstattarget int4, stxkeys int2vector, stxkind char[]',
  ),
  empty('pg_auth_members', 'roleid oid, member, grantor, admin_option bool'),
  empty(
    'pg_publication',
    'oid oid, pubname name, pubowner oid, puballtables bool, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot',
  ),
  empty('pg_publication_namespace', 'oid oid, pnpubid, pnnspid'),
  empty('pg_publication_rel', 'oid oid, prpubid, prrelid, prqual text, prattrs int2vector'),
  empty('pg_subscription', 'oid oid, subdbid, subname name, subowner oid, subenabled bool'),
  empty('pg_foreign_table', 'ftrelid oid, ftserver, ftoptions text[]'),
  empty(
    'pg_foreign_server',
    'oid oid, srvname name, srvowner oid, srvfdw, srvtype text, srvversion, srvacl text[], srvoptions',
  ),
  empty(
    'pg_foreign_data_wrapper',
    'oid oid, fdwname name, fdwowner oid, fdwhandler, fdwvalidator, fdwacl text[], fdwoptions',
  ),
  empty('pg_event_trigger', 'oid oid, evtname name, evtevent, evtowner oid, evtfoid, evtenabled char, evttags text[]'),
  empty('pg_db_role_setting', 'setdatabase oid, setrole, setconfig text[]'),
  empty(
    'pg_language',
    'oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted, lanplcallfoid oid, laninline, lanvalidator, lanacl text[]',
  ),
  empty('pg_default_acl', 'oid oid, defaclrole, defaclnamespace, defaclobjtype char, defaclacl text[]'),
  empty('pg_aggregate', 'aggfnoid oid, aggkind char'),
  empty('pg_opclass', 'oid oid, opcmethod, opcname name, opcnamespace oid'),
];

function empty(name: string, columns: string): VirtualDefinition {
  return { name, columns, rows: () => [] };
}
