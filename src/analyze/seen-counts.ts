/**
 * Which UPDATEs and DELETEs have their row count looked at. Where such a statement finds no row, the code can tell its caller that the change was refused; where
 * the count is not looked at, the change is lost without a word.
 */
import type { AnyStep, Value } from './application.ts';
import { fails } from './compute-value.ts';
import { mapStatements } from './paths.ts';

/** @param given what the unit gives to its caller, besides what the conditions of its steps decide */
export function withSeenCounts<Of extends AnyStep>(steps: readonly Of[], given: readonly Value[]): readonly Of[] {
  const seen = new Set([...resultsIn(conditionsIn(steps), false), ...resultsIn(given, true)]);
  return mapStatements(steps, (statement) =>
    statement.result !== null && seen.has(statement.result) && /^\s*(?:update|delete)\b/i.test(statement.sql)
      ? { ...statement, isCountSeen: true }
      : statement,
  );
}

function conditionsIn(steps: readonly AnyStep[]): readonly Value[] {
  return steps.flatMap((step) => {
    if (step.kind === 'branch') return [step.condition, ...conditionsIn([...step.ifTrue, ...step.ifFalse])];
    return step.kind === 'loop' || step.kind === 'transaction' ? conditionsIn(step.steps) : [];
  });
}

/**
 * Results of which the values have the count or rows. That a statement ended with an error says nothing of its count. Values share their parts: each is looked at once.
 * @param isBehind those, too, from which other code computes the values: `response.json({ count })`
 */
function resultsIn(values: readonly Value[], isBehind: boolean): ReadonlySet<string> {
  const [seen, found] = [new Set<Value>(), new Set<string>()];
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    if ('statement' in value) found.add(value.statement);
    else if (value.kind === 'unknown') {
      if (isBehind) value.from?.forEach(visit);
    } else if (value.kind === 'expression' && value.operator !== fails) value.operands.forEach(visit);
  };
  values.forEach(visit);
  return found;
}
