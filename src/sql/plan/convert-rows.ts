import { coerce } from '../expressions/index.ts';
import { isSameType, type SqlType, types } from '../model/index.ts';
import { newFrame, type PlannedQuery } from './query.ts';
import { computedExpression, type QueryScope } from './scope.ts';

/** The rows of a query with its columns converted to these types. */
export function convertRows(
  query: Pick<PlannedQuery, 'columns' | 'rows'>,
  target: readonly SqlType[],
  scope: QueryScope,
): PlannedQuery['rows'] {
  const isSame = target.every((type, i) => isSameType(type, query.columns[i]?.type ?? type));
  if (isSame) return query.rows;
  const conversions = target.map((type, i) => {
    const from = query.columns[i]?.type ?? type;
    const isText = from.name === 'unknown';
    const column = computedExpression(i, isText ? types.text : from);
    return coerce(column, type, -1, isText ? 'explicit' : 'implicit', scope);
  });
  return function* converted(outer, running) {
    const frame = newFrame(0, running, outer);
    for (const row of query.rows(outer, running)) {
      for (const [i, value] of row.entries()) frame.computed[i] = value;
      yield conversions.map(({ evaluate }) => evaluate(frame));
    }
  };
}
