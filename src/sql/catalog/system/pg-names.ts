/** Numbers and texts of pg_catalog that more than one relation shows. */
import type { Node } from '@pgsql/types';
import { type SqlArray, notSupported } from '../../model/index.ts';
import type { Catalog } from '../catalog.ts';
import { quoteName } from '../name.ts';
import { columnAtCell, type Index, type Table } from '../relation.ts';
import { expressionText, prettyText } from './expression-text.ts';

const schemaIds: Readonly<Record<string, number>> = { pg_catalog: 11, public: 2200, information_schema: 13_000 };

/** The number of the role that owns everything. */
export const owner = 10;

/** And of the one that owns the schema public: pg_database_owner. */
export const publicOwner = 6171;

/** PostgreSQL's numbers for its own; a number made of the name for the others. */
export function schemaId(name: string): number {
  const known = schemaIds[name];
  if (known !== undefined) return known;
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_000;
  return 1_000_000_000 + hash;
}

/** Whom PostgreSQL lets use it. */
export const publicRights: SqlArray = {
  kind: 'array',
  elements: ['pg_database_owner=UC/pg_database_owner', '=U/pg_database_owner'],
};

export function schemaComment(catalog: Catalog, name: string): string | undefined {
  return catalog.comment(`schema ${name}`) ?? (name === 'public' ? 'standard public schema' : undefined);
}

export function indexId({ id }: Index): number {
  return id;
}

/** As `pg_get_indexdef` prints it: casts and operators in brackets, or only where they are needed. */
export function indexDefinition(table: Table, index: Index, isPretty = false): string {
  const columns = index.parts.map((part, i) => {
    const text = indexPartText(table, index, i, isPretty);
    return part.isDescending ? `${text} DESC` : text;
  });
  const where = index.predicate === null ? '' : ` WHERE ${shown(index.predicate, table, isPretty)}`;
  const unique = index.isUnique ? 'UNIQUE ' : '';
  const schema = isPretty && table.schema === 'public' ? '' : `${quoteName(table.schema)}.`;
  const nulls = index.isUnique && index.nullsAreEqual ? ' NULLS NOT DISTINCT' : '';
  const on = `${schema}${quoteName(table.name)} USING btree (${columns.join(', ')})`;
  return `CREATE ${unique}INDEX ${quoteName(index.name)} ON ${on}${nulls}${where}`;
}

/** A column of the index, from 0. */
export function indexPartText(table: Table, index: Index, i: number, isPretty: boolean): string {
  const { cell = -1, expression = null } = index.parts[i] ?? {};
  if (expression === null) return quoteName(columnAtCell(table, cell)?.name ?? '');
  const text = shown(expression, table, isPretty);
  return looksLikeFunction(expression) ? text : `(${text})`;
}

/** What needs no brackets as a part of an index. */
function looksLikeFunction(node: Node): boolean {
  return ['FuncCall', 'CoalesceExpr', 'MinMaxExpr', 'SQLValueFunction'].some((kind) => kind in node);
}

function shown(expression: Node, table: Table, isPretty: boolean): string {
  const text = expressionText(expression, undefined, table);
  if (text === null) throw notSupported('the text of an expression of an index');
  return isPretty ? prettyText(text) : text;
}
