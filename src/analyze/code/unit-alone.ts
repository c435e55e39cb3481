/** A unit alone, on rows that its statements find: to run it, and to see what it sends. */
import type { IsolationName } from '../../sql/index.ts';
import { usual } from '../amounts.ts';
import type { Unit } from '../application.ts';
import { boundaryAmounts, conditionsOf } from '../boundary-amounts.ts';
import { concreteWitness, type WitnessedSet } from '../concrete-witness.ts';
import { rowRules } from '../robust-set.ts';
import { type RowChanges, templatesOf } from '../templates.ts';
import type { AnalyzedTransaction } from '../transactions.ts';
import { analyzedUnit, ofUnits } from '../unit-anomalies.ts';
import type { WitnessDefinition } from '../witness-definition.ts';

/** With other rows a unit takes other ways through its conditions. */
const definitionsMax = 3;

/** Its rows are there, so that it takes its longest way. */
const alwaysThere: RowChanges = { inserted: new Set(), removed: new Set(), versions: new Map(), references: new Map() };

/** @param parts its transactions @returns none where no statement of it is understood */
export function definitionsAlone(
  unit: Unit,
  parts: readonly AnalyzedTransaction[],
  { schema, columns }: Pick<WitnessedSet, 'schema' | 'columns'>,
  isolation: IsolationName,
): readonly WitnessDefinition[] {
  const { whole } = analyzedUnit(unit, parts, schema);
  const { all } = templatesOf([whole], ofUnits(rowRules[schema.dialect]), {}, alwaysThere);
  const [longest] = all.toSorted((a, b) => b.path.length - a.path.length);
  if (longest === undefined) return [];
  const split = {
    first: { template: 0, variables: new Map(longest.rows.map((_, at) => [at, at])), found: [] },
    after: 0,
    between: [],
    constants: new Map(),
  };
  const witness = { kind: 'witness' as const, templates: [longest], transactions: [0], split };
  const levels = new Map([[whole, whole.level ?? isolation]]);
  const set = { transactions: [whole], levels, schema, columns, scope: 'transactions of their own' as const };
  const amounts = [usual, ...boundaryAmounts([{ transaction: 0, conditions: conditionsOf(whole) }])];
  const made = amounts.map((each) => concreteWitness(witness, set, each));
  const unique = new Map(made.map((one) => [JSON.stringify([one.schema, one.sessions[0]?.arguments]), one]));
  return [...unique.values()].slice(0, definitionsMax);
}
