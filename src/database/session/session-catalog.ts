/** The catalog as one session sees it: what `to_regclass`, `pg_get_serial_sequence`, `obj_description` and the like answer. */
import {
  type Catalog,
  type CatalogLookups,
  constraintDefinition,
  indexDefinition,
  indexPartText,
  isTemporary,
  prettyText,
  quoteName,
  type Relation,
  schemaComment,
  schemaId,
  splitName,
} from '../../sql/index.ts';
import { notSupported, SqlError } from '../../sql/model/index.ts';
import { nameTypes, roleNamed } from './name-types.ts';
import {
  findRelation,
  indexById,
  isVisible,
  missingRelation,
  relationById,
  relationOrIndex,
  titleOfRelation,
} from './relation-names.ts';
import type { SearchedCatalog } from './searched-catalog.ts';
import { titleOfType, typeNamed } from './type-names.ts';

interface SessionCatalogOptions {
  readonly searched: () => SearchedCatalog;
  readonly user: string;
  /** Called when a program asks whether a relation is there. */
  readonly onLookup: (name: string, isFound: () => boolean) => void;
}

export function sessionCatalog({ searched, user, onLookup }: SessionCatalogOptions): CatalogLookups {
  const catalog = (): Catalog => searched().catalog;
  const toRegclass = (name: string): string | null => {
    const relation = findRelation(searched(), splitName(name));
    return relation === null ? null : titleOfRelation(relation, searched());
  };
  return {
    currentSchema: () =>
      searched().searchPath.find((schema) => !isTemporary(schema) && catalog().hasSchema(schema)) ?? null,
    isVisible: (id) => {
      const relation = relationOrIndex(catalog(), id);
      return relation === null ? null : isVisible(relation, searched());
    },
    toRegclass: (name) => {
      onLookup(name, () => toRegclass(name) !== null);
      return toRegclass(name);
    },
    toRegtype: (name) => {
      const type = typeNamed(searched(), name);
      return type === undefined ? null : titleOfType(searched(), type);
    },
    roleName: (id) => roleNamed(id, user),
    names: nameTypes(searched, user),
    serialSequence: (name, columnName) => {
      const table = catalog().find(splitName(name), searched().searchPath);
      if (table === undefined) throw missingRelation(name);
      const column = table.kind === 'table' ? table.columns.find((each) => each.name === columnName) : undefined;
      if (column === undefined)
        throw new SqlError('42703', `column "${columnName}" of relation "${table.name}" does not exist`);
      const { sequence } = column;
      return sequence === null ? null : `${quoteName(sequence.schema)}.${quoteName(sequence.name)}`;
    },
    comment: (id, of) => commentOf(id, of, catalog(), relationById(catalog(), id)),
    columnComment: (id, number) => {
      const relation = relationById(catalog(), id);
      const column = relation?.kind === 'table' ? relation.columns[number - 1] : undefined;
      if (relation === undefined || column === undefined) return null;
      return catalog().comment(`column ${relation.schema}.${relation.name}.${column.name}`) ?? null;
    },
    viewDefinition: (id) => {
      const view = relationById(catalog(), id);
      if (view?.kind !== 'view') return null;
      if (view.text === '') throw notSupported('the text of a view');
      return view.text;
    },
    constraintDefinition: (id, isPretty) => constraintDefinition(catalog(), id, isPretty) ?? null,
    indexDefinition: (id, column, isPretty) => {
      const found = indexById(catalog(), id);
      if (found === undefined) return null;
      const { table, index } = found;
      if (column === 0) return indexDefinition(table, index, isPretty);
      return index.parts[column - 1] === undefined ? '' : indexPartText(table, index, column - 1, isPretty);
    },
    prettyExpression: prettyText,
  };
}

function commentOf(id: number, of: string, catalog: Catalog, relation: Relation | undefined): string | null {
  if (of === 'pg_namespace') {
    const schema = catalog.schemas().find((each) => schemaId(each) === id);
    return schema === undefined ? null : (schemaComment(catalog, schema) ?? null);
  }
  if (of === 'pg_constraint') throw notSupported('comments of constraints');
  if (of !== '' && of !== 'pg_class') return null;
  const index = indexById(catalog, id);
  if (index !== undefined) return catalog.comment(`index ${index.table.schema}.${index.index.name}`) ?? null;
  if (relation === undefined) return null;
  return catalog.comment(`${relation.kind} ${relation.schema}.${relation.name}`) ?? null;
}
