/** Confirmation of what a search found: the witness with several rows and arguments, then others of the same transactions. */
import { type Amounts, amountsForState, attempts, firstAmounts } from './amounts.ts';
import { boundaryAmounts, type CheckedConditions, conditionsOf } from './boundary-amounts.ts';
import { concreteWitness, type WitnessedSet } from './concrete-witness.ts';
import { confirm, type Confirmation, type ConfirmLimits, preferState } from './confirm.ts';
import type { Witness } from './robust-set.ts';
import type { AnalyzedTransaction } from './transactions.ts';
import type { WitnessDefinition } from './witness-definition.ts';

export interface ConfirmedWitness {
  readonly confirmation: Confirmation;
  /** The one that was confirmed; where none was, the first. */
  readonly witness: Witness;
}

/** Of other witnesses than the first. */
const othersMax = 12;

export async function confirmWitness(
  witness: Witness,
  others: Iterable<Witness>,
  set: WitnessedSet,
  limits: ConfirmLimits,
): Promise<ConfirmedWitness> {
  const witnessOf = new Map<WitnessDefinition, Witness>();
  const first = await confirm(definitionsOf(witness, others, set, witnessOf), limits);
  const taking = witness.transactions.map((one) => set.transactions[one] as AnalyzedTransaction);
  // Without one that only reads, the others are serializable: its reads are all that can differ.
  const mayDiffer = first.kind === 'confirmed' && taking.every(writesRows);
  const seen = mayDiffer ? (witnessOf.get(first.definition) ?? witness) : witness;
  const forState = mayDiffer
    ? [...amountsForState, ...boundaryAmounts(checkedIn(seen, set))].map((amounts) =>
        concreteWitness(seen, set, amounts),
      )
    : [];
  for (const definition of forState) witnessOf.set(definition, seen);
  const confirmation = await preferState(first, forState, limits);
  const shown = confirmation.kind === 'confirmed' ? witnessOf.get(confirmation.definition) : undefined;
  return { confirmation, witness: shown ?? witness };
}

/** The first witness with all amounts, others with a few. @param witnessOf is filled */
function* definitionsOf(
  first: Witness,
  others: Iterable<Witness>,
  set: WitnessedSet,
  witnessOf: Map<WitnessDefinition, Witness>,
): Generator<WitnessDefinition> {
  const seen = new Set<string>();
  function* made(witness: Witness, all: readonly Amounts[]): Generator<WitnessDefinition> {
    for (const amounts of all) {
      const definition = concreteWitness(witness, set, amounts);
      const text = JSON.stringify([definition.schema, definition.sessions.map((one) => [one.name, one.arguments])]);
      if (seen.has(text)) continue;
      seen.add(text);
      witnessOf.set(definition, witness);
      yield definition;
    }
  }
  yield* made(first, [...firstAmounts, ...boundaryAmounts(checkedIn(first, set)), ...attempts]);
  let left = othersMax;
  for (const other of others) {
    if (left === 0) return;
    left -= 1;
    yield* made(other, firstAmounts);
  }
}

function checkedIn({ transactions }: Witness, set: WitnessedSet): readonly CheckedConditions[] {
  return transactions.map((transaction) => ({
    transaction,
    conditions: conditionsOf(set.transactions[transaction] as AnalyzedTransaction),
  }));
}

function writesRows({ paths }: AnalyzedTransaction): boolean {
  return paths.flat().some(({ moments }) => moments.flat().some(({ writes }) => writes.size > 0));
}
