/** pg_catalog: what drivers, ORMs and migration tools ask for. PostgreSQL manual, chapter 53; columns that nobody asks for are not there. */
import type { Node } from '@pgsql/types';
import { someNode, stringsOf } from '../../plan/tree.ts';
import { types } from '../../type.ts';
import type { SqlArray } from '../../value.ts';
import type { Catalog } from '../catalog.ts';
import { type Column, columnAtCell, type ForeignKey, type Index, type Relation, type Table } from '../relation.ts';
import { expressionText } from './expression-text.ts';
import { indexDefinition, indexId, owner, schemaId } from './pg-names.ts';
import { lengthOf, typeRows } from './pg-type-rows.ts';
import type { VirtualDefinition, VirtualRow } from './virtual.ts';

export const pgCatalog: readonly VirtualDefinition[] = [
  {
    name: 'pg_namespace',
    columns: 'oid oid, nspname name, nspowner oid',
    *rows(catalog) {
      for (const name of catalog.schemas()) yield { oid: schemaId(name), nspname: name, nspowner: owner };
    },
  },
  {
    name: 'pg_class',
    columns:
      'oid oid, relname name, relnamespace oid, reltype, relowner, relam, relpages int4, reltuples float4, relhasindex bool, relispartition, relrowsecurity, relforcerowsecurity, relhastriggers, relhasrules, relpersistence char, relkind, relreplident, relnatts int2, relchecks, reltoastrelid oid, reltablespace, reloftype, relpartbound text, reloptions text[]',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        yield classRow(relation);
        if (relation.kind !== 'table') continue;
        for (const index of relation.indexes) yield indexClassRow(relation, index);
      }
    },
  },
  {
    name: 'pg_attribute',
    columns:
      'attrelid oid, attname name, atttypid oid, attlen int2, attnum, attndims int4, atttypmod, attnotnull bool, atthasdef, attisdropped, attislocal, attidentity char, attgenerated, attcollation oid',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const [i, column] of table.columns.entries()) yield attributeRow(table.id, column, i + 1);
        for (const index of table.indexes) {
          for (const [i, part] of index.parts.entries()) yield indexAttributeRow(table, index, part.cell, i + 1);
        }
      }
    },
  },
  {
    name: 'pg_attrdef',
    columns: 'oid oid, adrelid, adnum int2, adbin text',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const [i, column] of table.columns.entries()) {
          const node = column.default ?? column.generated;
          if (node !== null)
            yield { oid: table.id, adrelid: table.id, adnum: i + 1, adbin: expressionText(node, column.type) };
        }
      }
    },
  },
  {
    name: 'pg_type',
    columns:
      'oid oid, typname name, typnamespace oid, typowner, typlen int2, typbyval bool, typtype char, typcategory, typispreferred bool, typisdefined, typdelim char, typrelid oid, typelem, typarray, typbasetype, typinput text, typtypmod int4, typnotnull bool, typndims int4, typcollation oid, typdefault text',
    *rows(catalog) {
      for (const type of Object.values(types)) if (type.oid !== 0) yield* typeRows(type, type.name, 'pg_catalog');
      for (const { schema, name, type } of catalog.types()) yield* typeRows(type, name, schema);
    },
  },
  {
    name: 'pg_enum',
    columns: 'oid oid, enumtypid, enumsortorder float4, enumlabel name',
    *rows(catalog) {
      for (const { type } of catalog.types()) {
        for (const [i, label] of (type.labels ?? []).entries()) {
          yield { oid: type.oid * 1000 + i, enumtypid: type.oid, enumsortorder: i + 1, enumlabel: label };
        }
      }
    },
  },
  {
    // Sequelize finds a table's number here.
    name: 'pg_statio_all_tables',
    columns: 'relid oid, schemaname name, relname',
    *rows(catalog) {
      for (const { id, schema, name } of catalog.tables()) yield { relid: id, schemaname: schema, relname: name };
    },
  },
  {
    name: 'pg_index',
    columns:
      'indexrelid oid, indrelid, indnatts int2, indnkeyatts, indisunique bool, indnullsnotdistinct, indisprimary, indisexclusion, indimmediate, indisclustered, indisvalid, indisready, indislive, indisreplident, indkey int2vector, indoption, indclass oid[], indexprs text, indpred',
    *rows(catalog) {
      for (const table of catalog.tables()) for (const index of table.indexes) yield indexRow(table, index);
    },
  },
  {
    name: 'pg_constraint',
    columns:
      'oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred, convalidated, conrelid oid, contypid, conindid, conparentid, confrelid, confupdtype char, confdeltype, confmatchtype, conislocal bool, conkey int2[], confkey, conbin text',
    *rows(catalog) {
      for (const table of catalog.tables()) yield* constraintRows(table, catalog);
    },
  },
  {
    name: 'pg_database',
    columns:
      'oid oid, datname name, datdba oid, encoding int4, datcollate name, datctype, datistemplate bool, datallowconn, datconnlimit int4',
    *rows(catalog) {
      yield {
        oid: 5,
        datname: catalog.database,
        datdba: owner,
        encoding: 6,
        datcollate: 'C',
        datctype: 'C',
        datistemplate: false,
        datallowconn: true,
        datconnlimit: -1,
      };
    },
  },
  {
    name: 'pg_description',
    columns: 'objoid oid, classoid, objsubid int4, description text',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        const text = catalog.comment(`${relation.kind} ${relation.schema}.${relation.name}`);
        if (text !== undefined) yield { objoid: relation.id, classoid: 1259, objsubid: 0, description: text };
        if (relation.kind !== 'table') continue;
        for (const [i, { name }] of relation.columns.entries()) {
          const own = catalog.comment(`column ${relation.schema}.${relation.name}.${name}`);
          if (own !== undefined) yield { objoid: relation.id, classoid: 1259, objsubid: i + 1, description: own };
        }
      }
    },
  },
  {
    name: 'pg_tables',
    columns: 'schemaname name, tablename, tableowner, tablespace, hasindexes bool, hasrules, hastriggers, rowsecurity',
    *rows(catalog) {
      for (const { schema, name, indexes } of catalog.tables()) {
        yield {
          schemaname: schema,
          tablename: name,
          tableowner: 'postgres',
          hasindexes: indexes.length > 0,
          hasrules: false,
          hastriggers: false,
          rowsecurity: false,
        };
      }
    },
  },
  {
    name: 'pg_views',
    columns: 'schemaname name, viewname, viewowner, definition text',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        if (relation.kind === 'view')
          yield {
            schemaname: relation.schema,
            viewname: relation.name,
            viewowner: 'postgres',
            definition: relation.text,
          };
      }
    },
  },
  {
    name: 'pg_indexes',
    columns: 'schemaname name, tablename, indexname, tablespace, indexdef text',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const index of table.indexes) {
          yield {
            schemaname: table.schema,
            tablename: table.name,
            indexname: index.name,
            indexdef: indexDefinition(table, index),
          };
        }
      }
    },
  },
  {
    name: 'pg_sequences',
    columns:
      'schemaname name, sequencename, sequenceowner, data_type text, start_value int8, min_value, max_value, increment_by, cycle bool, cache_size int8, last_value',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        if (relation.kind !== 'sequence') continue;
        const { start, min, max, increment, isCycle } = relation.options;
        const last = relation.isCalled ? relation.last : null;
        yield {
          schemaname: relation.schema,
          sequencename: relation.name,
          sequenceowner: 'postgres',
          data_type: 'bigint',
          start_value: start,
          min_value: min,
          max_value: max,
          increment_by: increment,
          cycle: isCycle,
          cache_size: 1n,
          last_value: last,
        };
      }
    },
  },
  {
    name: 'pg_am',
    columns: 'oid oid, amname name, amtype char',
    *rows() {
      yield { oid: 2, amname: 'heap', amtype: 't' };
      yield { oid: 403, amname: 'btree', amtype: 'i' };
    },
  },
  {
    name: 'pg_roles',
    columns: 'oid oid, rolname name, rolsuper bool, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin',
    *rows() {
      yield {
        oid: owner,
        rolname: 'postgres',
        rolsuper: true,
        rolinherit: true,
        rolcreaterole: true,
        rolcreatedb: true,
        rolcanlogin: true,
      };
    },
  },
  empty('pg_range', 'rngtypid oid, rngsubtype, rngmultitypid, rngcollation, rngsubopc'),
  empty('pg_proc', 'oid oid, proname name, pronamespace oid, prokind char, prorettype oid, proargtypes text'),
  empty('pg_trigger', 'oid oid, tgrelid, tgname name, tgfoid oid, tgisinternal bool'),
  empty('pg_inherits', 'inhrelid oid, inhparent, inhseqno int4'),
  empty('pg_extension', 'oid oid, extname name, extowner oid, extnamespace, extrelocatable bool, extversion text'),
  empty('pg_collation', 'oid oid, collname name, collnamespace oid'),
  empty('pg_policy', 'oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles oid[], polqual text, polwithcheck'),
  empty('pg_policies', 'schemaname name, tablename, policyname'),
  empty('pg_matviews', 'schemaname name, matviewname, matviewowner, definition text'),
  empty('pg_depend', 'classid oid, objid, objsubid int4, refclassid oid, refobjid, refobjsubid int4, deptype char'),
  empty('pg_locks', 'locktype text, database oid, relation, pid int4, mode text, granted bool'),
  empty('pg_stat_activity', 'datid oid, datname name, pid int4, usename name, application_name text, state, query'),
  empty('pg_partitioned_table', 'partrelid oid, partstrat char, partattrs int2[]'),
  empty('pg_rewrite', 'oid oid, rulename name, ev_class oid'),
  empty('pg_tablespace', 'oid oid, spcname name, spcowner oid'),
];

/** Things of which there are none here. */
function empty(name: string, columns: string): VirtualDefinition {
  return { name, columns, rows: () => [] };
}

const kinds: Readonly<Record<Relation['kind'], string>> = { table: 'r', view: 'v', sequence: 'S', virtual: 'v' };

function classRow(relation: Relation): VirtualRow {
  const { kind, id, schema, name } = relation;
  const isTable = kind === 'table';
  return {
    oid: id,
    relname: name,
    relnamespace: schemaId(schema),
    reltype: 0,
    relowner: owner,
    relam: isTable ? 2 : 0,
    relpages: 0,
    reltuples: -1,
    relhasindex: isTable && relation.indexes.length > 0,
    relispartition: false,
    relrowsecurity: false,
    relforcerowsecurity: false,
    relhastriggers: isTable && relation.foreignKeys.length > 0,
    relhasrules: kind === 'view',
    relreplident: isTable ? 'd' : 'n',
    reltablespace: 0,
    reloftype: 0,
    relpersistence: 'p',
    relkind: kinds[kind],
    relnatts: isTable || kind === 'virtual' ? relation.columns.length : 0,
    relchecks: isTable ? relation.checks.length : 0,
    reltoastrelid: 0,
  };
}

function indexClassRow(table: Table, index: Index): VirtualRow {
  const base = classRow({ ...table, indexes: [], checks: [] });
  return { ...base, oid: indexId(index), relname: index.name, relam: 403, relkind: 'i', relnatts: index.parts.length };
}

function attributeRow(relation: number, column: Column, number: number): VirtualRow {
  const { name, type, modifier, isNotNull, identity, generated } = column;
  return {
    attrelid: relation,
    attname: name,
    atttypid: type.oid,
    attlen: lengthOf(type),
    attnum: number,
    attndims: type.name === 'array' ? 1 : 0,
    atttypmod: modifier,
    attnotnull: isNotNull,
    atthasdef: column.default !== null || generated !== null,
    attisdropped: false,
    attislocal: true,
    attidentity: identity === null ? '' : identity === 'always' ? 'a' : 'd',
    attgenerated: generated === null ? '' : 's',
    attcollation: 0,
  };
}

function indexAttributeRow(table: Table, index: Index, cell: number, number: number): VirtualRow {
  const column = columnAtCell(table, cell);
  if (column !== undefined) {
    return {
      ...attributeRow(indexId(index), column, number),
      attnotnull: false,
      atthasdef: false,
      attidentity: '',
      attgenerated: '',
    };
  }
  return {
    attrelid: indexId(index),
    attname: 'expr',
    atttypid: 25,
    attlen: -1,
    attnum: number,
    atttypmod: -1,
    attnotnull: false,
    attisdropped: false,
  };
}

/** Positions from 1 of the columns with these cells; 0 for expressions. */
function positions(table: Table | undefined, cells: readonly number[]): SqlArray {
  const elements = cells.map((cell) => (table?.columns.findIndex((column) => column.cell === cell) ?? -1) + 1);
  return { kind: 'array', elements };
}

function indexRow(table: Table, index: Index): VirtualRow {
  const { parts, isUnique, isPrimary, nullsAreEqual, predicate } = index;
  const expressions = parts.flatMap(({ expression }) =>
    expression === null ? [] : [expressionText(expression) ?? ''],
  );
  return {
    indexrelid: indexId(index),
    indrelid: table.id,
    indnatts: parts.length,
    indnkeyatts: parts.length,
    indisunique: isUnique,
    indnullsnotdistinct: nullsAreEqual,
    indisprimary: isPrimary,
    indisexclusion: false,
    indimmediate: true,
    indisclustered: false,
    indisvalid: true,
    indisready: true,
    indislive: true,
    indisreplident: false,
    indkey: positions(
      table,
      parts.map(({ cell }) => cell),
    ),
    indoption: { kind: 'array', elements: parts.map(({ isDescending }) => (isDescending ? 3 : 0)) },
    indclass: { kind: 'array', elements: parts.map(() => 0) },
    indexprs: expressions.length === 0 ? null : expressions.join(', '),
    indpred: predicate === null ? null : expressionText(predicate),
  };
}

function mentioned(table: Table, expression: Node): SqlArray {
  const isMentioned = ({ name }: Column): boolean =>
    someNode(expression, (node) => 'ColumnRef' in node && stringsOf(node.ColumnRef.fields).at(-1) === name);
  return positions(
    table,
    table.columns.filter(isMentioned).map(({ cell }) => cell),
  );
}

const actionLetters = { 'no action': 'a', restrict: 'r', cascade: 'c', 'set null': 'n', 'set default': 'd' } as const;

function* constraintRows(table: Table, catalog: Catalog): Iterable<VirtualRow> {
  const base = {
    connamespace: schemaId(table.schema),
    condeferrable: false,
    condeferred: false,
    convalidated: true,
    conrelid: table.id,
    contypid: 0,
    conindid: 0,
    conparentid: 0,
    confrelid: 0,
    confupdtype: ' ',
    confdeltype: ' ',
    confmatchtype: ' ',
    conislocal: true,
  };
  for (const index of table.indexes.filter(({ isConstraint }) => isConstraint)) {
    const conkey = positions(
      table,
      index.parts.map(({ cell }) => cell),
    );
    yield {
      ...base,
      oid: indexId(index) + 500_000,
      conname: index.name,
      contype: index.isPrimary ? 'p' : 'u',
      conindid: indexId(index),
      conkey,
    };
  }
  for (const [i, key] of table.foreignKeys.entries()) yield { ...base, ...foreignKeyRow(table, key, i, catalog) };
  for (const [i, { name, expression }] of table.checks.entries()) {
    yield {
      ...base,
      oid: table.id * 1000 + i,
      conname: name,
      contype: 'c',
      conkey: mentioned(table, expression),
      conbin: expressionText(expression),
    };
  }
}

function foreignKeyRow(table: Table, key: ForeignKey, i: number, catalog: Catalog): VirtualRow {
  const parent = catalog.tableById(key.parent);
  return {
    oid: table.id * 1000 + 500 + i,
    conname: key.name,
    contype: 'f',
    confrelid: key.parent,
    confupdtype: actionLetters[key.onUpdate],
    confdeltype: actionLetters[key.onDelete],
    confmatchtype: 's',
    conkey: positions(table, key.cells),
    confkey: positions(parent, key.parentCells),
  };
}
