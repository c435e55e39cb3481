/** Names of constraints and indexes that the statement does not name: PostgreSQL's `ChooseRelationName` and `makeObjectName`. */
import { engineRules } from '../model/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Planning } from '../plan/planning.ts';

const bytesMax = 63;

/** `is_taken` is asked with 1, 2, ... behind the label until a name is free. */
export function chooseName(
  table: string,
  columns: readonly string[],
  label: string,
  isTaken: (name: string) => boolean,
): string {
  for (let pass = 0; ; pass++) {
    const name = objectName(table, columns.join('_'), pass === 0 ? label : `${label}${pass}`);
    if (!isTaken(name)) return name;
  }
}

export function isTakenIn(catalog: Catalog, schema: string, others: Iterable<string> = []): (name: string) => boolean {
  const own = new Set(others);
  return (name) => own.has(name) || catalog.isTakenByAny(schema, name);
}

/** Names of indexes are names of relations to PostgreSQL; to MySQL they are their table's own. */
export function isRelationTaken({ catalog, dialect }: Planning, schema: string, name: string): boolean {
  return engineRules[dialect].indexesAreRelations
    ? catalog.isTaken(schema, name)
    : catalog.relation(schema, name) !== undefined;
}

/** The longer of the two parts is cut first. */
function objectName(first: string, second: string, label: string): string {
  const overhead = label.length + 1 + (second === '' ? 0 : 1);
  let [a, b] = [first, second];
  while (a.length + b.length + overhead > bytesMax) {
    if (a.length > b.length) a = a.slice(0, -1);
    else b = b.slice(0, -1);
  }
  return b === '' ? `${a}_${label}` : `${a}_${b}_${label}`;
}
