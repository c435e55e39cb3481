/** SET a = 1 and RETURNING: what INSERT, UPDATE and DELETE have in common. */
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { commaList, type Output } from './output.ts';
import { parseSelectList } from './select-list.ts';

export interface Assignment {
  readonly qualifier: Name | undefined;
  readonly column: Name;
  readonly value: Output;
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
export function parseValue(cursor: Cursor): Output {
  const isDefault = cursor.is('DEFAULT') && !cursor.is('DEFAULT', '(');
  return isDefault ? { text: 'DEFAULT', at: cursor.take().at } : parseExpression(cursor);
}

export function assignmentList(cursor: Cursor, assignments: readonly Assignment[]): Output {
  return commaList(assignments.map(({ column, value }) => [cursor.quoted(column), '=', value]));
}

/** MariaDB's RETURNING. */
export function parseReturning(cursor: Cursor): Output {
  return cursor.accept('RETURNING') ? ['RETURNING', parseSelectList(cursor).items] : '';
}
