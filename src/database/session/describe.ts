/** Catalog lookups of functions: what `to_regclass`, `pg_get_serial_sequence`, `version` and the like answer. */
import {
  type Catalog,
  constraintDefinition,
  effectivePath,
  indexDefinition,
  indexPartText,
  isTemporary,
  ownerRole,
  prettyText,
  publicOwnerRole,
  quoteName,
  type Relation,
  schemaComment,
  schemaId,
  splitName,
  type Table,
} from '../../sql/index.ts';
import { notSupported, SqlError, type SqlValue } from '../../sql/model/index.ts';
import { requiredType, titleOfType, typeNamed } from './describe-type.ts';

export interface Describing {
  readonly catalog: Catalog;
  readonly searchPath: readonly string[];
  readonly version: string;
  readonly transactionId: number;
  readonly user: string;
}

/** @throws SqlError 42P01, 42703, 42704 */
export function describe(what: string, names: readonly string[], from: Describing): SqlValue {
  const [first = '', second = '', third = ''] = names;
  const lookup = lookups[what];
  return lookup === undefined ? null : lookup(from, first, second, third);
}

type Lookup = (from: Describing, first: string, second: string, third: string) => SqlValue;

const lookups: Readonly<Record<string, Lookup>> = {
  version: ({ version }) => version,
  'current schema': ({ catalog, searchPath }) =>
    searchPath.find((schema) => !isTemporary(schema) && catalog.hasSchema(schema)) ?? null,
  'transaction id': ({ transactionId }) => transactionId,
  // A text of digits is an object number, of which PostgreSQL asks no more than a number.
  regclass: (from, name) => (/^\d+$/.test(name) ? regclassOfOid(from, name) : titleOf(requiredNamed(from, name), from)),
  to_regclass: (from, name) => {
    const relation = named(from, splitName(name));
    return relation === undefined ? null : titleOf(relation, from);
  },
  'regclass of oid': regclassOfOid,
  'oid of regclass': (from, name) => (/^\d+$/.test(name) ? Number(name) : requiredNamed(from, name).id),
  'is visible': (from, oid) => {
    const found = namedById(from, Number(oid));
    return found !== undefined && named(from, [found.name])?.id === found.id;
  },
  regtype: (from, name) => titleOfType(from, requiredType(from, name)),
  to_regtype: (from, name) => {
    const type = typeNamed(from, name);
    return type === undefined ? null : titleOfType(from, type);
  },
  'regtype of oid': (from, oid) => {
    for (const { type, arrayType } of from.catalog.types()) {
      if (type.oid === Number(oid)) return titleOfType(from, type);
      if (arrayType.oid === Number(oid)) return titleOfType(from, arrayType);
    }
    return numberText(oid);
  },
  'oid of regtype': (from, name) => typeNamed(from, name)?.oid ?? null,
  'serial sequence': (from, name, columnName) => {
    const table = required(from, name);
    const column = table.kind === 'table' ? table.columns.find((each) => each.name === columnName) : undefined;
    if (column === undefined)
      throw new SqlError('42703', `column "${columnName}" of relation "${table.name}" does not exist`);
    const { sequence } = column;
    return sequence === null ? null : `${quoteName(sequence.schema)}.${quoteName(sequence.name)}`;
  },
  'regnamespace of oid': ({ catalog }, oid) => {
    const name = catalog.schemas().find((each) => schemaId(each) === Number(oid));
    return name === undefined ? numberText(oid) : quoteName(name);
  },
  regnamespace: ({ catalog }, name) => {
    const [schema = ''] = splitName(name);
    if (/^\d+$/.test(name) || catalog.hasSchema(schema)) return name;
    throw new SqlError('3F000', `schema "${schema}" does not exist`);
  },
  'oid of regnamespace': (_from, name) => (/^\d+$/.test(name) ? Number(name) : schemaId(splitName(name)[0] ?? '')),
  'regrole of oid': (from, oid) => {
    const role = rolesOf(from).find(([id]) => id === Number(oid));
    return role === undefined ? numberText(oid) : quoteName(role[1]);
  },
  regrole: (from, name) => {
    requiredRole(from, name);
    return name;
  },
  'oid of regrole': requiredRole,
  comment: (from, oid, of) => {
    const { catalog } = from;
    if (of === 'pg_namespace') {
      const schema = catalog.schemas().find((each) => schemaId(each) === Number(oid));
      return schema === undefined ? null : (schemaComment(catalog, schema) ?? null);
    }
    const index = of === '' || of === 'pg_class' ? indexById(catalog, Number(oid)) : undefined;
    if (index !== undefined) return catalog.comment(`index ${index.table.schema}.${index.index.name}`) ?? null;
    if (of === 'pg_constraint') throw notSupported('comments of constraints');
    const relation = of === '' || of === 'pg_class' ? relationById(from, Number(oid)) : undefined;
    return relation === undefined
      ? null
      : (catalog.comment(`${relation.kind} ${relation.schema}.${relation.name}`) ?? null);
  },
  'column comment': (from, oid, number) => {
    const relation = relationById(from, Number(oid));
    const column = relation?.kind === 'table' ? relation.columns[Number(number) - 1] : undefined;
    if (relation === undefined || column === undefined) return null;
    return from.catalog.comment(`column ${relation.schema}.${relation.name}.${column.name}`) ?? null;
  },
  'view definition': (from, oid) => {
    const view = relationById(from, Number(oid));
    if (view?.kind === 'view' && view.text === '') throw notSupported('the text of a view');
    return view?.kind === 'view' ? view.text : null;
  },
  'pretty expression': (_from, text) => prettyText(text),
  'constraint definition': ({ catalog }, oid, style) =>
    constraintDefinition(catalog, Number(oid), style === 'pretty') ?? null,
  'index definition': ({ catalog }, oid, column, style) => {
    const found = indexById(catalog, Number(oid));
    if (found === undefined) return null;
    const { table, index } = found;
    const number = Number(column);
    if (number === 0) return indexDefinition(table, index, style === 'pretty');
    return index.parts[number - 1] === undefined ? '' : indexPartText(table, index, number - 1, style === 'pretty');
  },
};

/** Every user owns everything. */
function rolesOf({ user }: Describing): readonly (readonly [id: number, name: string])[] {
  return [
    [ownerRole, user],
    [publicOwnerRole, 'pg_database_owner'],
  ];
}

/** The number of a role by its name, or by its number, which need not be one. */
function requiredRole(from: Describing, name: string): number {
  if (/^\d+$/.test(name)) return Number(name);
  const [wanted = ''] = splitName(name);
  const role = rolesOf(from).find(([, each]) => each === wanted);
  if (role === undefined) throw new SqlError('42704', `role "${wanted}" does not exist`);
  return role[0];
}

/** What stands in the place of a name that nothing has. */
function numberText(oid: string): string {
  return oid === '0' ? '-' : oid;
}

function indexById(catalog: Catalog, id: number): { table: Table; index: Table['indexes'][number] } | undefined {
  for (const table of catalog.tables()) {
    const index = table.indexes.find((each) => each.id === id);
    if (index !== undefined) return { table, index };
  }
  return undefined;
}

/** A relation or an index: they share their names. */
interface Named {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
}

function namedById(from: Describing, id: number): Named | undefined {
  const relation = relationById(from, id);
  if (relation !== undefined) return relation;
  const found = indexById(from.catalog, id);
  return found === undefined ? undefined : { id, schema: found.table.schema, name: found.index.name };
}

/** The first along the search path. */
function named({ catalog, searchPath }: Describing, names: readonly string[]): Named | undefined {
  const name = names.at(-1) ?? '';
  const schema = names.at(-2);
  for (const each of schema === undefined ? effectivePath(searchPath) : [schema]) {
    const relation = catalog.relation(each, name);
    if (relation !== undefined) return relation;
    const index = catalog.index(each, name)?.index;
    if (index !== undefined) return { id: index.id, schema: each, name };
  }
  return undefined;
}

function regclassOfOid(from: Describing, oid: string): SqlValue {
  const found = namedById(from, Number(oid));
  return found === undefined ? numberText(oid) : titleOf(found, from);
}

function requiredNamed(from: Describing, name: string): Named {
  const found = named(from, splitName(name));
  if (found === undefined) throw new SqlError('42P01', `relation "${name}" does not exist`);
  return found;
}

function required(from: Describing, name: string): Relation {
  const relation = from.catalog.find(splitName(name), from.searchPath);
  if (relation === undefined) throw new SqlError('42P01', `relation "${name}" does not exist`);
  return relation;
}

function relationById({ catalog }: Describing, id: number): Relation | undefined {
  for (const relation of catalog.relations()) if (relation.id === id) return relation;
  return undefined;
}

/** With its schema where the search path does not find it. */
function titleOf({ id, schema, name }: Named, from: Describing): string {
  return named(from, [name])?.id === id ? quoteName(name) : `${quoteName(schema)}.${quoteName(name)}`;
}
