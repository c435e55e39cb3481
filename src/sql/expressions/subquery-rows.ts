/** A subquery's rows, read as far as they are needed. */
import type { Frame, Subquery } from '../expression.ts';
import { SqlError, type SqlValue } from '../model/index.ts';

/** What `of` makes of a subquery's rows: it reads no more of them than it needs, and once a statement where they do not depend on the query around. */
export function once<Made>(
  subquery: Subquery,
  of: (rows: Iterable<readonly SqlValue[]>) => Made,
): (frame: Frame) => Made {
  return keptOnce(subquery, (frame) => of(subquery.rows(frame)));
}

/** EXISTS. */
export function someRow(subquery: Subquery): (frame: Frame) => boolean {
  return keptOnce(subquery, subquery.hasRow);
}

function keptOnce<Made>(subquery: Subquery, make: (frame: Frame) => Made): (frame: Frame) => Made {
  if (subquery.isCorrelated) return make;
  const use = {};
  return (frame) => {
    const kept = subquery.keptIn(frame);
    if (kept.has(use)) return kept.get(use) as Made;
    const made = make(frame);
    kept.set(use, made);
    return made;
  };
}

/** @throws SqlError 21000 */
export function oneRow(rows: Iterable<readonly SqlValue[]>): readonly SqlValue[] | undefined {
  let found: readonly SqlValue[] | undefined;
  for (const row of rows) {
    if (found !== undefined) {
      throw new SqlError('21000', 'more than one row returned by a subquery used as an expression');
    }
    found = row;
  }
  return found;
}
