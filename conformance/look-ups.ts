/**
 * `IN (SELECT ...)` where the server looks each value up by an index (a nested loop over the subquery's rows), while moirai reads the table whole:
 * moirai plans `= ANY (ARRAY(SELECT ...))` by the index, and so takes the server's way.
 */
import type { Schedule } from './schedule.ts';

/** The schedule with one such statement of a serializable session by look-ups, each in turn, then all of them. */
export function lookUpForms(schedule: Schedule): Schedule[] {
  if (schedule.dialect !== 'postgres') return [];
  const { steps, levels } = schedule;
  const places = [...steps.keys()].filter((i) => {
    const step = steps[i];
    return step !== undefined && levels[step.session] === 'serializable' && byLookUps(step.sql) !== step.sql;
  });
  const sets = places.length > 1 ? [...places.map((place) => [place]), places] : [places];
  return sets
    .filter((set) => set.length > 0)
    .map((set) => ({
      ...schedule,
      steps: steps.map((step, i) => (set.includes(i) ? { ...step, sql: byLookUps(step.sql) } : step)),
    }));
}

function byLookUps(sql: string): string {
  const begin = /(?<!\bnot )\bin \((?=\s*select\b)/i.exec(sql);
  if (begin === null) return sql;
  const from = begin.index + begin[0].length;
  const to = closingParenthesis(sql, from);
  if (to === null) return sql;
  return `${sql.slice(0, begin.index)}= any (array(${byLookUps(sql.slice(from, to))}))${byLookUps(sql.slice(to + 1))}`;
}

/** Of the parenthesis that is open at `from`. */
function closingParenthesis(sql: string, from: number): number | null {
  let depth = 1;
  let isQuoted = false;
  for (let i = from; i < sql.length; i += 1) {
    const character = sql[i];
    if (character === "'") isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0) return i;
  }
  return null;
}
