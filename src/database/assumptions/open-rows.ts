/**
 * What a run takes for granted of rows that no ORDER BY sorts. A server gives them in the order in which it happens to read them, and that changes with its
 * plans, its vacuum and its version.
 */
import { type OpenRows, statementLine, withoutLiterals } from '../../sql/index.ts';

/** @param takenForGranted clauses; statements that differ in literals only are one */
export function openRowsIn(takenForGranted: Set<string>, sql: string): (what: OpenRows) => void {
  return (what) => note(takenForGranted, what, sql);
}

function note(takenForGranted: Set<string>, what: OpenRows, sql: string): void {
  const text = statementLine(sql);
  if (/^(?:show|desc|describe|explain)\b/i.test(text)) return;
  const clause = `${clauses[what]}: ${text.length <= textMax ? text : `${text.slice(0, textMax - 3)}...`}`;
  const known = [...takenForGranted].map(withoutLiterals);
  if (!known.includes(withoutLiterals(clause))) takenForGranted.add(clause);
}

const clauses: Record<OpenRows, string> = {
  order: 'with its rows in another order (it has no ORDER BY) the program would do the same',
  limit: 'with other rows for its LIMIT (it has no ORDER BY) the program would do the same',
};

const textMax = 120;
