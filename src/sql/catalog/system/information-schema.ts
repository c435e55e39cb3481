/** information_schema: the standard's view of the catalog, with the columns that MySQL has beside them. */
import { lengthOf, precisionAndScale, typeTitle, types, type SqlValue } from '../../model/index.ts';
import type { Catalog } from '../catalog.ts';
import {
  type Column,
  columnAtCell,
  type Deferral,
  type ForeignKey,
  type Index,
  type Relation,
  type Table,
} from '../relation.ts';
import { expressionText } from './expression-text.ts';
import { schemaId } from './pg-names.ts';
import { mysqlColumnRow } from './mysql-schema.ts';
import type { VirtualDefinition, VirtualRow } from './virtual.ts';

export const informationSchema: readonly VirtualDefinition[] = [
  {
    name: 'schemata',
    columns:
      'catalog_name text, schema_name, schema_owner, default_character_set_name, default_collation_name, sql_path',
    *rows(catalog, database) {
      for (const name of catalog.schemas())
        if (database === null || name !== 'pg_catalog')
          yield { ...named(catalog, 'catalog_name'), schema_name: name, schema_owner: 'postgres' };
    },
  },
  {
    name: 'tables',
    columns:
      'table_catalog text, table_schema, table_name, table_type, self_referencing_column_name, reference_generation, user_defined_type_name, is_insertable_into, is_typed, commit_action, engine, table_collation, table_comment, table_rows int8, auto_increment',
    *rows(catalog) {
      for (const relation of visible(catalog)) {
        if (relation.kind !== 'sequence') yield tableRow(relation, catalog);
      }
    },
  },
  {
    name: 'views',
    columns:
      'table_catalog text, table_schema, table_name, view_definition, check_option, is_updatable, is_insertable_into',
    *rows(catalog) {
      for (const { kind, schema, name } of visible(catalog)) {
        if (kind !== 'view') continue;
        yield { ...place(catalog, schema, name), check_option: 'NONE', is_updatable: 'NO', is_insertable_into: 'NO' };
      }
    },
  },
  {
    name: 'columns',
    columns:
      'table_catalog text, table_schema, table_name, column_name, ordinal_position int4, column_default text, is_nullable, data_type, character_maximum_length int4, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, interval_type text, character_set_name, collation_name, domain_schema, domain_name, udt_catalog, udt_schema, udt_name, is_self_referencing, is_identity, identity_generation, is_generated, generation_expression, is_updatable, column_type, column_key, extra, column_comment, privileges',
    *rows(catalog, database) {
      for (const table of catalog.tables()) {
        for (const [i, column] of table.columns.entries()) {
          const row = columnRow(table, column, i + 1, catalog);
          yield database === null ? row : { ...row, ...mysqlColumnRow(column) };
        }
      }
    },
  },
  {
    name: 'table_constraints',
    columns:
      'constraint_catalog text, constraint_schema, constraint_name, table_catalog, table_schema, table_name, constraint_type, is_deferrable, initially_deferred, enforced',
    *rows(catalog, database) {
      for (const table of catalog.tables()) {
        const notNull = database === null ? notNullChecks(table) : [];
        for (const { name, type, deferral } of [...constraintsOf(table), ...notNull]) {
          const at = { ...place(catalog, table.schema, table.name), ...constraintPlace(catalog, table, name) };
          const isDeferrable = deferral === 'never' ? 'NO' : 'YES';
          const isDeferred = deferral === 'initially deferred' ? 'YES' : 'NO';
          const timing = { is_deferrable: isDeferrable, initially_deferred: isDeferred };
          yield { ...at, constraint_type: type, ...timing, enforced: 'YES' };
        }
      }
    },
  },
  {
    name: 'key_column_usage',
    columns:
      'constraint_catalog text, constraint_schema, constraint_name, table_catalog, table_schema, table_name, column_name, ordinal_position int4, position_in_unique_constraint, referenced_table_schema text, referenced_table_name, referenced_column_name',
    *rows(catalog) {
      for (const table of catalog.tables()) yield* keyColumns(table, catalog);
    },
  },
  {
    name: 'constraint_column_usage',
    columns:
      'table_catalog text, table_schema, table_name, column_name, constraint_catalog, constraint_schema, constraint_name',
    *rows(catalog) {
      for (const table of catalog.tables()) yield* usedColumns(table, catalog);
    },
  },
  {
    name: 'referential_constraints',
    columns:
      'constraint_catalog text, constraint_schema, constraint_name, unique_constraint_catalog, unique_constraint_schema, unique_constraint_name, match_option, update_rule, delete_rule, table_name, referenced_table_name',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const key of table.foreignKeys) yield referenceRow(table, key, catalog);
      }
    },
  },
  {
    name: 'triggers',
    columns:
      'trigger_catalog text, trigger_schema, trigger_name, event_manipulation, event_object_catalog, event_object_schema, event_object_table',
    rows: () => [],
  },
  {
    name: 'routines',
    columns:
      'specific_catalog text, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, routine_type',
    rows: () => [],
  },
  {
    name: 'check_constraints',
    columns: 'constraint_catalog text, constraint_schema, constraint_name, check_clause',
    *rows(catalog, database) {
      for (const table of catalog.tables()) {
        for (const { name, expression } of table.checks) {
          yield { ...constraintPlace(catalog, table, name), check_clause: expressionText(expression) };
        }
        for (const { name, column } of database === null ? notNullChecks(table) : [])
          yield { ...constraintPlace(catalog, table, name), check_clause: `${column} IS NOT NULL` };
      }
    },
  },
  {
    name: 'sequences',
    columns:
      'sequence_catalog text, sequence_schema, sequence_name, data_type, numeric_precision int4, numeric_precision_radix, numeric_scale, start_value text, minimum_value, maximum_value, increment, cycle_option',
    *rows(catalog) {
      // The standard's view knows no sequences of identity columns.
      const hidden = new Set(
        catalog
          .tables()
          .flatMap(({ columns }) =>
            columns.flatMap(({ identity, sequence }) => (identity === null || sequence === null ? [] : [sequence.id])),
          ),
      );
      for (const relation of visible(catalog)) {
        if (relation.kind !== 'sequence' || hidden.has(relation.id)) continue;
        const { type, start, min, max, increment, isCycle } = relation.options;
        yield {
          sequence_catalog: catalog.database,
          sequence_schema: relation.schema,
          sequence_name: relation.name,
          data_type: typeTitle(types[type]),
          numeric_precision: { int2: 16, int4: 32, int8: 64 }[type],
          numeric_precision_radix: 2,
          numeric_scale: 0,
          start_value: String(start),
          minimum_value: String(min),
          maximum_value: String(max),
          increment: String(increment),
          cycle_option: isCycle ? 'YES' : 'NO',
        };
      }
    },
  },
  {
    name: 'statistics',
    columns:
      'table_catalog text, table_schema, table_name, non_unique int4, index_schema text, index_name, seq_in_index int4, column_name text, collation, cardinality int8, sub_part, nullable text, index_type, comment, expression, packed, index_comment, is_visible',
    *rows(catalog) {
      for (const table of catalog.tables()) {
        for (const index of table.indexes) yield* statisticsRows(table, index, catalog);
      }
    },
  },
];

function* visible(catalog: Catalog): Iterable<Exclude<Relation, { kind: 'virtual' }>> {
  for (const relation of catalog.relations()) if (relation.kind !== 'virtual') yield relation;
}

function named(catalog: Catalog, column: string): VirtualRow {
  return { [column]: catalog.database };
}

function place(catalog: Catalog, schema: string, name: string): VirtualRow {
  return { table_catalog: catalog.database, table_schema: schema, table_name: name };
}

function constraintPlace(catalog: Catalog, table: Table, name: string): VirtualRow {
  return { constraint_catalog: catalog.database, constraint_schema: table.schema, constraint_name: name };
}

function tableRow(relation: Exclude<Relation, { kind: 'virtual' }>, catalog: Catalog): VirtualRow {
  const { kind, schema, name } = relation;
  const identity = kind === 'table' ? relation.columns.find((column) => column.identity !== null)?.sequence : undefined;
  return {
    ...place(catalog, schema, name),
    table_type: kind === 'table' ? 'BASE TABLE' : 'VIEW',
    is_insertable_into: kind === 'table' ? 'YES' : 'NO',
    is_typed: 'NO',
    engine: kind === 'table' ? 'InnoDB' : null,
    table_collation: 'utf8mb4_0900_ai_ci',
    table_comment: catalog.comment(`table ${schema}.${name}`) ?? '',
    auto_increment: identity === undefined || identity === null ? null : identity.last + (identity.isCalled ? 1n : 0n),
  };
}

function columnRow(table: Table, column: Column, position: number, catalog: Catalog): VirtualRow {
  const { name, type, isNotNull, identity, generated } = column;
  return {
    ...place(catalog, table.schema, table.name),
    column_name: name,
    ordinal_position: position,
    column_default: column.default === null ? null : expressionText(column.default, type),
    is_nullable: isNotNull || type.domain?.isNotNull === true ? 'NO' : 'YES',
    data_type: type.name === 'array' ? 'ARRAY' : type.name === 'enum' ? 'USER-DEFINED' : typeTitle(type),
    ...sizes(column),
    domain_schema: type.domain?.schema ?? null,
    domain_name: type.domain?.name ?? null,
    udt_catalog: catalog.database,
    udt_schema: type.name === 'enum' ? table.schema : 'pg_catalog',
    udt_name: type.name === 'array' ? `_${type.element?.title ?? type.element?.name}` : (type.title ?? type.name),
    is_self_referencing: 'NO',
    is_identity: identity === null ? 'NO' : 'YES',
    identity_generation: identity === null ? null : identity === 'always' ? 'ALWAYS' : 'BY DEFAULT',
    is_generated: generated === null ? 'NEVER' : 'ALWAYS',
    generation_expression: generated === null ? null : expressionText(generated),
    is_updatable: 'YES',
    column_key: keyMark(table, column),
    column_comment: catalog.comment(`column ${table.schema}.${table.name}.${name}`) ?? '',
  };
}

function sizes({ type, modifier }: Column): VirtualRow {
  const base: Readonly<Record<string, SqlValue>> = { numeric_precision_radix: 2, numeric_scale: 0 };
  switch (type.name) {
    case 'int2':
      return { ...base, numeric_precision: 16 };
    case 'int4':
      return { ...base, numeric_precision: 32 };
    case 'int8':
    case 'uint8':
      return { ...base, numeric_precision: 64 };
    case 'float4':
      return { numeric_precision: 24, numeric_precision_radix: 2 };
    case 'float8':
      return { numeric_precision: 53, numeric_precision_radix: 2 };
    case 'numeric': {
      if (modifier < 0) return { numeric_precision_radix: 10 };
      const { precision, scale } = precisionAndScale(modifier);
      return { numeric_precision: precision, numeric_precision_radix: 10, numeric_scale: scale };
    }
    case 'varchar':
    case 'bpchar':
      return modifier < 0
        ? { character_octet_length: 1_073_741_824 }
        : { character_maximum_length: lengthOf(modifier), character_octet_length: lengthOf(modifier) * 4 };
    case 'text':
      return { character_octet_length: 1_073_741_824 };
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return { datetime_precision: modifier < 0 ? 6 : modifier };
    case 'date':
      return { datetime_precision: 0 };
    default:
      return {};
  }
}

function keyMark(table: Table, { cell }: Column): string {
  const first = table.indexes.filter(({ parts }) => parts[0]?.cell === cell);
  if (table.indexes.some(({ isPrimary, parts }) => isPrimary && parts.some((part) => part.cell === cell))) return 'PRI';
  if (first.some(({ isUnique, parts }) => isUnique && parts.length === 1)) return 'UNI';
  return first.length > 0 ? 'MUL' : '';
}

function constraintsOf(table: Table): { name: string; type: string; deferral: Deferral }[] {
  return [
    ...table.indexes
      .filter(({ isConstraint }) => isConstraint)
      .map(({ name, isPrimary, deferral }) => ({ name, type: isPrimary ? 'PRIMARY KEY' : 'UNIQUE', deferral })),
    ...table.foreignKeys.map(({ name, deferral }) => ({ name, type: 'FOREIGN KEY', deferral })),
    ...table.checks.map(({ name }) => ({ name, type: 'CHECK', deferral: 'never' as const })),
  ];
}

/** PostgreSQL shows NOT NULL as a CHECK with a name of numbers: information_schema.sql. */
function notNullChecks(table: Table): (ReturnType<typeof constraintsOf>[number] & { readonly column: string })[] {
  return table.columns.flatMap(({ name: column, isNotNull }, i) => {
    const name = `${schemaId(table.schema)}_${table.id}_${i + 1}_not_null`;
    return isNotNull ? [{ name, column, type: 'CHECK', deferral: 'never' as const }] : [];
  });
}

function nameAt(table: Table | undefined, cell: number): string | null {
  return table === undefined ? null : (columnAtCell(table, cell)?.name ?? null);
}

function* keyColumns(table: Table, catalog: Catalog): Iterable<VirtualRow> {
  const base = place(catalog, table.schema, table.name);
  for (const { name, parts } of table.indexes.filter(({ isConstraint }) => isConstraint)) {
    for (const [i, { cell }] of parts.entries()) {
      yield {
        ...base,
        ...constraintPlace(catalog, table, name),
        column_name: nameAt(table, cell),
        ordinal_position: i + 1,
      };
    }
  }
  for (const { name, cells, parent, parentCells } of table.foreignKeys) {
    const other = catalog.tableById(parent);
    for (const [i, cell] of cells.entries()) {
      yield {
        ...base,
        ...constraintPlace(catalog, table, name),
        column_name: nameAt(table, cell),
        ordinal_position: i + 1,
        position_in_unique_constraint: i + 1,
        referenced_table_schema: other?.schema ?? null,
        referenced_table_name: other?.name ?? null,
        referenced_column_name: nameAt(other, parentCells[i] ?? -1),
      };
    }
  }
}

function* usedColumns(table: Table, catalog: Catalog): Iterable<VirtualRow> {
  for (const { name, parts } of table.indexes.filter(({ isConstraint }) => isConstraint)) {
    for (const { cell } of parts) {
      yield {
        ...place(catalog, table.schema, table.name),
        ...constraintPlace(catalog, table, name),
        column_name: nameAt(table, cell),
      };
    }
  }
  for (const { name, parent, parentCells } of table.foreignKeys) {
    const other = catalog.tableById(parent);
    for (const cell of parentCells) {
      yield {
        ...place(catalog, other?.schema ?? '', other?.name ?? ''),
        ...constraintPlace(catalog, table, name),
        column_name: nameAt(other, cell),
      };
    }
  }
}

function referenceRow(table: Table, key: ForeignKey, catalog: Catalog): VirtualRow {
  const parent = catalog.tableById(key.parent);
  const unique = parent?.indexes.find(
    ({ isUnique, parts }) => isUnique && parts.every(({ cell }) => key.parentCells.includes(cell)),
  );
  return {
    ...constraintPlace(catalog, table, key.name),
    unique_constraint_catalog: catalog.database,
    unique_constraint_schema: parent?.schema ?? null,
    unique_constraint_name: unique?.name ?? null,
    match_option: 'NONE',
    update_rule: key.onUpdate.toUpperCase(),
    delete_rule: key.onDelete.toUpperCase(),
    table_name: table.name,
    referenced_table_name: parent?.name ?? null,
  };
}

function* statisticsRows(table: Table, index: Index, catalog: Catalog): Iterable<VirtualRow> {
  for (const [i, { cell, expression }] of index.parts.entries()) {
    yield {
      ...place(catalog, table.schema, table.name),
      non_unique: index.isUnique ? 0 : 1,
      index_schema: table.schema,
      index_name: index.name,
      seq_in_index: i + 1,
      column_name: nameAt(table, cell),
      collation: 'A',
      nullable: columnAtCell(table, cell)?.isNotNull === true ? '' : 'YES',
      index_type: 'BTREE',
      comment: '',
      index_comment: '',
      is_visible: 'YES',
      expression: expression === null ? null : expressionText(expression),
    };
  }
}
