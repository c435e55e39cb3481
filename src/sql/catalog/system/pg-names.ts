/** Numbers and texts of pg_catalog that more than one relation shows. */
import { quoteName } from '../name.ts';
import { columnAtCell, type Index, type Table } from '../relation.ts';
import { expressionText } from './expression-text.ts';

const schemaIds: Readonly<Record<string, number>> = { pg_catalog: 11, public: 2200, information_schema: 13_000 };

/** The number of the role that owns everything. */
export const owner = 10;

/** PostgreSQL's numbers for its own; a number made of the name for the others. */
export function schemaId(name: string): number {
  const known = schemaIds[name];
  if (known !== undefined) return known;
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_000;
  return 1_000_000_000 + hash;
}

export function indexId({ id }: Index): number {
  return id;
}

/** As `pg_get_indexdef` prints it. */
export function indexDefinition(table: Table, index: Index): string {
  const columns = index.parts.map(({ cell, expression, isDescending }) => {
    const text = expression === null ? quoteName(columnAtCell(table, cell)?.name ?? '') : expressionText(expression);
    return isDescending ? `${text} DESC` : `${text}`;
  });
  const where = index.predicate === null ? '' : ` WHERE ${expressionText(index.predicate)}`;
  const unique = index.isUnique ? 'UNIQUE ' : '';
  const on = `${quoteName(table.schema)}.${quoteName(table.name)}`;
  return `CREATE ${unique}INDEX ${quoteName(index.name)} ON ${on} USING btree (${columns.join(', ')})${where}`;
}
