/** What is there once: the role that owns everything, the database, the tablespaces. */
import { owner, publicOwner } from './pg-names.ts';
import type { VirtualDefinition } from './virtual.ts';

export const pgRoles: readonly VirtualDefinition[] = [
  {
    name: 'pg_roles',
    columns:
      'oid oid, rolname name, rolsuper bool, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit int4, rolvaliduntil timestamptz, rolconfig text[]',
    *rows() {
      const none = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolcanlogin: false };
      const base = { ...none, rolinherit: true, rolreplication: false, rolbypassrls: false, rolconnlimit: -1 };
      const all = { rolsuper: true, rolcreaterole: true, rolcreatedb: true, rolcanlogin: true };
      yield { ...base, ...all, rolreplication: true, rolbypassrls: true, oid: owner, rolname: 'postgres' };
      yield { ...base, oid: publicOwner, rolname: 'pg_database_owner' };
    },
  },
  {
    name: 'pg_database',
    columns:
      'oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn, datconnlimit int4, dattablespace oid, datcollate text, datctype, daticulocale, datcollversion, datacl text[]',
    *rows(catalog) {
      yield {
        oid: 5,
        datname: catalog.database,
        datdba: owner,
        encoding: 6,
        datlocprovider: 'c',
        datistemplate: false,
        datallowconn: true,
        datconnlimit: -1,
        dattablespace: defaultSpace,
        datcollate: 'C',
        datctype: 'C',
      };
    },
  },
  {
    name: 'pg_tablespace',
    columns: 'oid oid, spcname name, spcowner oid, spcacl text[], spcoptions',
    *rows() {
      yield { oid: defaultSpace, spcname: 'pg_default', spcowner: owner };
      yield { oid: 1664, spcname: 'pg_global', spcowner: owner };
    },
  },
];

const defaultSpace = 1663;
