/**
 * Which UPDATEs and DELETEs have their row count looked at. Where such a statement finds no row, the code can tell its caller that the change was refused; where
 * the count is not looked at, the change is lost without a word.
 */
import type { AnyStep, Value } from './application.ts';
import { fails } from './compute-value.ts';
import { mapStatements } from './paths.ts';

/** @param given what the unit gives to its caller, besides what the conditions of its steps decide */
export function withSeenCounts<Of extends AnyStep>(steps: readonly Of[], given: readonly Value[]): readonly Of[] {
  const seen = new Set([...conditionsIn(steps).flatMap(resultsIn), ...given.flatMap(resultsBehind)]);
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

/** Results of which the value has the count or rows. That a statement ended with an error says nothing of its count. */
function resultsIn(value: Value): readonly string[] {
  if ('statement' in value) return [value.statement];
  return value.kind === 'expression' && value.operator !== fails ? value.operands.flatMap(resultsIn) : [];
}

/** The same, and those from which other code computes it: `response.json({ count })`. */
function resultsBehind(value: Value): readonly string[] {
  if (value.kind === 'unknown') return (value.from ?? []).flatMap(resultsBehind);
  if (value.kind !== 'expression' || value.operator === fails) return resultsIn(value);
  return value.operands.flatMap(resultsBehind);
}
