/** Kysely's helpers for related rows as JSON, `kysely/helpers/postgres`. */
import { type Abstract, constant, type Fragment, type Native, undefinedValue } from '../abstract-value.ts';
import { entriesOf } from './clauses.ts';
import { join, notRead, operand, whyNotConstant } from './fragment.ts';
import { expressionOf, literal, type Naming } from './kysely-expressions.ts';

/** `jsonArrayFrom(query)`, `jsonObjectFrom(query)`, `jsonBuildObject({ ... })`; `undefined`: another function. */
export function jsonHelper(
  naming: Naming,
  name: string | undefined,
  [given = undefinedValue]: readonly Abstract[],
): Native | undefined {
  switch (name) {
    case 'jsonArrayFrom':
      return expressionOf(naming, ["(SELECT coalesce(json_agg(agg), '[]') FROM ", ...operand(given), ' AS agg)']);
    case 'jsonObjectFrom':
      return expressionOf(naming, ['(SELECT to_json(obj) FROM ', ...operand(given), ' AS obj)']);
    case 'jsonBuildObject':
      return expressionOf(naming, builtObject(given));
    default:
      return undefined;
  }
}

function builtObject(given: Abstract): Fragment {
  const entries = entriesOf(given);
  if (entries === null) return notRead(`what jsonBuildObject is given is ${whyNotConstant(given)}`);
  const parts = entries.map(([name, value]): Fragment => [...literal(constant(name)), ', ', ...operand(value)]);
  return ['json_build_object(', ...join(parts, ', '), ')'];
}
