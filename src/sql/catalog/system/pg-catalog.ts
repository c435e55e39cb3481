/** pg_catalog: what drivers, ORMs and migration tools ask for. PostgreSQL manual, chapter 53; columns that none of them asks for are left out. */
import type { Node } from '@pgsql/types';
import { numberOfType, typeLength } from '../../model/index.ts';
import { columnTitle } from '../../plan/target.ts';
import {
  type Column,
  columnAtCell,
  type Index,
  type IndexPart,
  type Relation,
  type Table,
  viewColumns,
} from '../relation.ts';
import { expressionText } from './expression-text.ts';
import { constraintRows, positions } from './pg-constraint-rows.ts';
import { indexDefinition, indexId, owner, publicOwner, publicRights, schemaComment, schemaId } from './pg-names.ts';
import { pgActivity } from './pg-activity.ts';
import { pgNothing } from './pg-nothing.ts';
import { pgRoles } from './pg-roles.ts';
import { pgSequences } from './pg-sequences.ts';
import { builtInTypeRows, storageOf, typeRows } from './pg-type-rows.ts';
import type { VirtualDefinition, VirtualRow } from './virtual.ts';
import { isTemporary } from '../name.ts';

/** Of the extensions that PostgreSQL 15 comes with. */
const extensionVersions: Readonly<Record<string, string>> = { plpgsql: '1.0', pgcrypto: '1.3', 'uuid-ossp': '1.1' };

export const pgCatalog: readonly VirtualDefinition[] = [
  {
    name: 'pg_namespace',
    columns: 'oid oid, nspname name, nspowner oid, nspacl text[]',
    *rows(catalog) {
      for (const name of catalog.schemas()) {
        const row = { oid: schemaId(name), nspname: name, nspowner: owner };
        yield name === 'public' ? { ...row, nspowner: publicOwner, nspacl: publicRights } : row;
      }
    },
  },
  {
    name: 'pg_class',
    columns:
      'oid oid, relname name, relnamespace oid, reltype, relowner, relam, relpages int4, reltuples float4, relhasindex bool, relispartition, relrowsecurity, relforcerowsecurity, relhastriggers, relhasrules, relpersistence char, relkind, relreplident, relnatts int2, relchecks, reltoastrelid oid, reltablespace, reloftype, relpartbound text, reloptions text[], relacl',
    *rows(catalog) {
      // Foreign keys are triggers on both sides.
      const referenced = new Set(
        catalog.tables().flatMap(({ foreignKeys }) => foreignKeys.map(({ parent }) => parent)),
      );
      for (const relation of catalog.relations()) {
        const row = classRow(relation);
        yield referenced.has(relation.id) ? { ...row, relhastriggers: true } : row;
        if (relation.kind !== 'table') continue;
        for (const index of relation.indexes) yield indexClassRow(relation, index);
      }
    },
  },
  {
    name: 'pg_attribute',
    columns:
      'attrelid oid, attname name, atttypid oid, attlen int2, attnum, attndims int4, atttypmod, attnotnull bool, atthasdef, attisdropped, attislocal, attidentity char, attgenerated, attstorage, attcompression, attcollation oid, attstattarget int4, attacl text[], attoptions',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const [i, column] of table.columns.entries()) yield attributeRow(table.id, column, i + 1);
        for (const index of table.indexes) {
          for (const [i, part] of index.parts.entries()) yield indexAttributeRow(table, index, part, i + 1);
        }
      }
      for (const relation of catalog.relations()) {
        if (relation.kind !== 'view') continue;
        for (const [i, column] of viewColumns(relation).entries()) yield attributeRow(relation.id, column, i + 1);
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
            yield { oid: table.id, adrelid: table.id, adnum: i + 1, adbin: expressionText(node, column.type, table) };
        }
      }
    },
  },
  {
    name: 'pg_type',
    columns:
      'oid oid, typname name, typnamespace oid, typowner, typlen int2, typbyval bool, typtype char, typcategory, typispreferred bool, typisdefined, typdelim char, typrelid oid, typelem, typarray, typbasetype, typinput text, typtypmod int4, typnotnull bool, typndims int4, typcollation oid, typdefault text, typacl text[]',
    *rows(catalog) {
      yield* builtInTypeRows;
      for (const { schema, name, type } of catalog.types()) yield* typeRows(type, name, schema);
    },
  },
  {
    name: 'pg_extension',
    columns: 'oid oid, extname name, extowner oid, extnamespace, extrelocatable bool, extversion text',
    *rows(catalog) {
      for (const { name, id } of catalog.extensions()) {
        const isOfServer = name === 'plpgsql';
        yield {
          oid: id,
          extname: name,
          extowner: owner,
          extnamespace: schemaId(isOfServer ? 'pg_catalog' : 'public'),
          extrelocatable: !isOfServer,
          extversion: extensionVersions[name] ?? null,
        };
      }
    },
  },
  {
    name: 'pg_enum',
    columns: 'oid oid, enumtypid, enumsortorder float4, enumlabel name',
    *rows(catalog) {
      for (const { type } of catalog.types().filter((each) => each.type.domain === undefined)) {
        for (const [i, label] of (type.labels ?? []).entries()) {
          yield {
            oid: type.oid * 1000 + i,
            enumtypid: type.oid,
            enumsortorder: type.labelOrders?.[i] ?? i + 1,
            enumlabel: label,
          };
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
    name: 'pg_description',
    columns: 'objoid oid, classoid, objsubid int4, description text',
    *rows(catalog) {
      for (const name of catalog.schemas()) {
        const text = schemaComment(catalog, name);
        if (text !== undefined) yield { objoid: schemaId(name), classoid: 2615, objsubid: 0, description: text };
      }
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
  ...pgSequences,
  {
    name: 'pg_am',
    columns: 'oid oid, amname name, amtype char',
    *rows() {
      yield { oid: 2, amname: 'heap', amtype: 't' };
      yield { oid: 403, amname: 'btree', amtype: 'i' };
    },
  },
  ...pgRoles,
  pgActivity,
  ...pgNothing,
];

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
    relpersistence: isTemporary(schema) ? 't' : 'p',
    relkind: kinds[kind],
    relnatts: kind === 'sequence' ? 0 : relation.columns.length,
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
    atttypid: numberOfType(type),
    attlen: typeLength(type),
    attnum: number,
    attndims: type.name === 'array' ? 1 : 0,
    atttypmod: type.domain === undefined ? modifier : -1,
    attnotnull: isNotNull,
    atthasdef: column.default !== null || generated !== null,
    attisdropped: false,
    attislocal: true,
    attidentity: identity === null ? '' : identity === 'always' ? 'a' : 'd',
    attgenerated: generated === null ? '' : 's',
    attstorage: storageOf(type),
    attcompression: '',
    attcollation: 0,
    attstattarget: -1,
  };
}

function indexAttributeRow(
  table: Table,
  index: Index,
  { cell, expression, type }: IndexPart,
  number: number,
): VirtualRow {
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
    attname: expression === null ? '' : indexedName(expression),
    atttypid: type.oid,
    attlen: typeLength(type),
    attnum: number,
    atttypmod: -1,
    attnotnull: false,
    attisdropped: false,
    attstorage: storageOf(type),
    attcompression: '',
    attstattarget: -1,
  };
}

/** Of an expression: the function's name, as PostgreSQL's. */
function indexedName(expression: Node): string {
  const title = columnTitle(expression);
  return title === '?column?' ? 'expr' : title;
}

function indexRow(table: Table, index: Index): VirtualRow {
  const { parts, isUnique, isPrimary, nullsAreEqual, predicate, deferral } = index;
  const expressions = parts.flatMap(({ expression }) =>
    expression === null ? [] : [expressionText(expression, undefined, table) ?? ''],
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
    indimmediate: deferral === 'never',
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
    indpred: predicate === null ? null : expressionText(predicate, undefined, table),
  };
}
