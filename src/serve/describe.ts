/** Catalog lookups of functions: what `to_regclass`, `pg_get_serial_sequence`, `version` and the like answer. */
import { typeTitle } from '../sql/type-title.ts';
import {
  type Catalog,
  quoteName,
  type Relation,
  splitName,
  SqlError,
  type SqlValue,
  type Table,
  typeByName,
} from '../sql/index.ts';

export interface Describing {
  readonly catalog: Catalog;
  readonly searchPath: readonly string[];
  readonly version: string;
  readonly transactionId: number;
}

/** @throws SqlError 42P01, 42703, 42704 */
export function describe(what: string, names: readonly string[], from: Describing): SqlValue {
  const [first = '', second = ''] = names;
  const lookup = lookups[what];
  return lookup === undefined ? null : lookup(from, first, second);
}

type Lookup = (from: Describing, first: string, second: string) => SqlValue;

const lookups: Readonly<Record<string, Lookup>> = {
  version: ({ version }) => version,
  'current schema': ({ catalog, searchPath }) => searchPath.find((schema) => catalog.hasSchema(schema)) ?? null,
  'transaction id': ({ transactionId }) => transactionId,
  // A text of digits is an object number, of which PostgreSQL asks no more than a number.
  regclass: (from, name) => (/^\d+$/.test(name) ? regclassOfOid(from, name) : titleOf(required(from, name), from)),
  to_regclass: (from, name) => {
    const relation = relationNamed(from, name);
    return relation === undefined ? null : titleOf(relation, from);
  },
  'regclass of oid': regclassOfOid,
  'oid of regclass': (from, name) => (/^\d+$/.test(name) ? Number(name) : required(from, name).id),
  'is visible': (from, oid) => {
    const relation = relationById(from, Number(oid));
    return relation !== undefined && from.catalog.find([relation.name], from.searchPath) === relation;
  },
  regtype: (from, name) => {
    const title = typeTitleNamed(from, name);
    if (title === null) throw new SqlError('42704', `type "${name}" does not exist`);
    return title;
  },
  to_regtype: (from, name) => typeTitleNamed(from, name),
  'regtype of oid': ({ catalog }, oid) => {
    for (const { name, type, arrayType } of catalog.types()) {
      if (type.oid === Number(oid)) return quoteName(name);
      if (arrayType.oid === Number(oid)) return `${quoteName(name)}[]`;
    }
    return oid === '0' ? '-' : oid;
  },
  'oid of regtype': ({ catalog }, name) => {
    for (const each of catalog.types()) if (each.name === name) return each.type.oid;
    return typeByName(name)?.oid ?? null;
  },
  'serial sequence': (from, name, columnName) => {
    const table = required(from, name);
    const column = table.kind === 'table' ? table.columns.find((each) => each.name === columnName) : undefined;
    if (column === undefined)
      throw new SqlError('42703', `column "${columnName}" of relation "${table.name}" does not exist`);
    const { sequence } = column;
    return sequence === null ? null : `${quoteName(sequence.schema)}.${quoteName(sequence.name)}`;
  },
  comment: (from, oid) => {
    const relation = relationById(from, Number(oid));
    return relation === undefined
      ? null
      : (from.catalog.comment(`${relation.kind} ${relation.schema}.${relation.name}`) ?? null);
  },
  'view definition': (from, oid) => {
    const view = relationById(from, Number(oid));
    return view?.kind === 'view' ? view.text : null;
  },
  'index definition': ({ catalog }, oid, column) => {
    for (const table of catalog.tables()) {
      const index = table.indexes.find(({ id }) => id === Number(oid));
      if (index !== undefined) return indexText(table, index, Number(column));
    }
    return null;
  },
};

function regclassOfOid(from: Describing, oid: string): SqlValue {
  const relation = relationById(from, Number(oid));
  return relation === undefined ? oid : titleOf(relation, from);
}

function indexText(table: Table, index: Table['indexes'][number], column: number): string {
  const parts = index.parts.map(({ cell }) =>
    quoteName(table.columns.find((each) => each.cell === cell)?.name ?? '(expression)'),
  );
  if (column > 0) return parts[column - 1] ?? '';
  const unique = index.isUnique ? 'UNIQUE ' : '';
  return `CREATE ${unique}INDEX ${quoteName(index.name)} ON ${table.schema}.${quoteName(table.name)} USING btree (${parts.join(', ')})`;
}

function relationNamed({ catalog, searchPath }: Describing, name: string): Relation | undefined {
  return catalog.find(splitName(name), searchPath);
}

function required(from: Describing, name: string): Relation {
  const relation = relationNamed(from, name);
  if (relation === undefined) throw new SqlError('42P01', `relation "${name}" does not exist`);
  return relation;
}

function relationById({ catalog }: Describing, id: number): Relation | undefined {
  for (const relation of catalog.relations()) if (relation.id === id) return relation;
  return undefined;
}

/** With its schema where the search path does not find it. */
function titleOf(relation: Relation, { catalog, searchPath }: Describing): string {
  const name = quoteName(relation.name);
  return catalog.find([relation.name], searchPath) === relation ? name : `${quoteName(relation.schema)}.${name}`;
}

function typeTitleNamed({ catalog }: Describing, name: string): string | null {
  for (const each of catalog.types()) if (each.name === name) return quoteName(name);
  const names = splitName(name);
  const type = names.length > 1 && names[0] !== 'pg_catalog' ? undefined : typeByName(names.at(-1) ?? '');
  return type === undefined ? null : typeTitle(type);
}
