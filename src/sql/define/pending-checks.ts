/** PostgreSQL's `CheckTableNotInUse` (tablecmds.c): definitions keep off a table of which a deferred constraint is still to be checked. */
import type { Table } from '../catalog/relation.ts';
import type { Execution } from '../execution.ts';
import { SqlError } from '../model/index.ts';

/** @throws SqlError 55006 */
export function refusePendingChecks(
  command: string,
  { id, name }: Pick<Table, 'id' | 'name'>,
  { deferred }: Execution['surroundings'],
): void {
  if (deferred.isPendingOn(id))
    throw new SqlError('55006', `cannot ${command} "${name}" because it has pending trigger events`);
}
