/** The columns of the schema's tables: what a row has of which the source does not say the fields. */
import { primaryKey, type Table } from '../../sql/index.ts';
import type { Application } from '../application.ts';
import { readSchema } from '../schema.ts';

export interface TableColumn {
  readonly name: string;
  readonly isKey: boolean;
  /** The database makes its value: a sequence, a generated column. */
  readonly isGenerated: boolean;
  readonly hasDefault: boolean;
}

/** By the name of the table or view, without its schema. */
export type TableColumns = ReadonlyMap<string, readonly TableColumn[]>;

/** @throws InputError `analyze/schema` */
export async function tableColumns(ddl: Pick<Application, 'dialect' | 'schema'>): Promise<TableColumns> {
  const { catalog } = await readSchema(ddl);
  return new Map(
    [...catalog.relations()].flatMap((relation): readonly (readonly [string, readonly TableColumn[]])[] => {
      if (relation.kind === 'table') return [[relation.name, columnsOf(relation)]];
      if (relation.kind !== 'view') return [];
      const plain = { isKey: false, isGenerated: false, hasDefault: false };
      return [[relation.name, relation.columns.map(({ name }) => ({ name, ...plain }))]];
    }),
  );
}

function columnsOf(table: Table): readonly TableColumn[] {
  const keys = new Set(primaryKey(table)?.parts.map(({ cell }) => cell));
  return table.columns.map(({ name, cell, default: value, generated, identity, sequence }) => ({
    name,
    isKey: keys.has(cell),
    isGenerated: generated !== null || identity !== null || sequence !== null,
    hasDefault: value !== null,
  }));
}
