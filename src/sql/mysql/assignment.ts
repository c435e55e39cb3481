/** SET a = 1 and RETURNING: what INSERT, UPDATE and DELETE have in common. */
import type { Node } from '@pgsql/types';
import { type Assignment as AssignedColumn, defaultValue } from '../tree/write.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { parseSelectList } from './select-list.ts';

export interface Assignment {
  readonly qualifier: Name | undefined;
  readonly column: Name;
  readonly value: Node;
}

/** `a = 1`, `t.a = DEFAULT`. */
export function parseAssignment(cursor: Cursor): Assignment {
  const names = [cursor.name()];
  while (cursor.accept('.')) names.push(cursor.nameAfterPoint());
  const column = names.at(-1);
  if (column === undefined || cursor.acceptOneOf('=', ':=') === undefined) throw cursor.syntaxError();
  return { qualifier: names.at(-2), column, value: parseValue(cursor) };
}

/** An expression, or DEFAULT alone. */
export function parseValue(cursor: Cursor): Node {
  const isDefault = cursor.is('DEFAULT') && !cursor.is('DEFAULT', '(');
  return isDefault ? defaultValue(cursor.take().at) : parseExpression(cursor);
}

export function assignedColumns(cursor: Cursor, assignments: readonly Assignment[]): AssignedColumn[] {
  return assignments.map(({ column, value }) => ({ column: cursor.nameText(column), value, at: column.at }));
}

/** MariaDB's RETURNING. */
export function parseReturning(cursor: Cursor): readonly Node[] {
  return cursor.accept('RETURNING') ? parseSelectList(cursor).items : [];
}
