/** What SET CONSTRAINTS names. */
import { SqlError } from '../model/index.ts';
import type { Catalog } from './catalog.ts';
import type { Deferral, Table } from './relation.ts';
import type { ConstraintId } from '../execution.ts';

/** All constraints of this name in the first schema that has one. @throws SqlError 42704, 42809 */
export function constraintsNamed(
  names: readonly string[],
  catalog: Catalog,
  searchPath: readonly string[],
): ConstraintId[] {
  const name = names.at(-1) ?? '';
  const schemas = names.length > 1 ? names.slice(-2, -1) : searchPath;
  for (const schema of schemas) {
    const found = catalog
      .tables()
      .filter((table) => table.schema === schema)
      .flatMap((table) => constraintsOf(table).filter((each) => each.name === name));
    if (found.length === 0) continue;
    if (found.some(({ deferral }) => deferral === 'never'))
      throw new SqlError('42809', `constraint "${name}" is not deferrable`);
    return found;
  }
  throw new SqlError('42704', `constraint "${names.join('.')}" does not exist`);
}

function constraintsOf({ id, indexes, foreignKeys, checks }: Table): (ConstraintId & { deferral: Deferral })[] {
  return [
    ...indexes.filter(({ isConstraint }) => isConstraint).map(({ name, deferral }) => ({ table: id, name, deferral })),
    ...foreignKeys.map(({ name, deferral }) => ({ table: id, name, deferral })),
    ...checks.map(({ name }) => ({ table: id, name, deferral: 'never' as const })),
  ];
}
