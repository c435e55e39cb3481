/**
 * Units of several transactions: nothing makes these one. A unit is meant to be atomic where it writes because of what an earlier transaction of it
 * read. An anomaly is a schedule of two units, as the application runs them, whose final state is that of no serial order of whole units.
 */
import type { IsolationName } from '../sql/index.ts';
import { type Anomaly, anomalyOf, type Fix, isRobustWith, type ProofOptions } from './anomaly.ts';
import type { AnyStep, Unit, UnitStep, Value } from './application.ts';
import { boundaryAmounts } from './boundary-amounts.ts';
import { candidateChanges, type Change, changedWitness } from './changes.ts';
import { type Amounts, concreteWitness } from './concrete-witness.ts';
import { confirm, type ExploreLimits, exploreWitness } from './confirm.ts';
import { rowRules, type Witness } from './robust-set.ts';
import type { Schema } from './schema.ts';
import { type PathTemplate, templatesOf } from './templates.ts';
import { analyzedSteps, type AnalyzedTransaction } from './transactions.ts';
import { hasDependentWrite, staleReads } from './unit-witness.ts';
import type { WitnessDefinition } from './witness-program.ts';

export interface UnitSet extends ProofOptions {
  readonly limits: ExploreLimits;
  /** Tried after those on the edge of conditions. */
  readonly attempts: readonly Amounts[];
}

export interface UnitAnalysis {
  readonly anomalies: readonly Anomaly[];
  /** Units of which not every path is followed. */
  readonly cut: readonly string[];
}

/** `not atomic`: the dependencies of a history name anomalies of transactions, not of units. */
export const unitAnomalyName = 'not atomic';

const witnessesMax = 4;

/**
 * A unit as if it were one transaction. @param parts its transactions in the order of its steps, with their changes
 */
export function wholeUnit(unit: Unit, parts: readonly AnalyzedTransaction[], schema: Schema): AnalyzedTransaction {
  const left = [...parts];
  const steps = withParts(unit.steps, left);
  return {
    name: unit.name,
    unit,
    place: unit.place,
    level: parts.length === 1 ? (parts[0]?.level ?? null) : null,
    isAutocommit: false,
    steps,
    ...analyzedSteps(steps, unit.place, schema),
  };
}

/** @param parts those that the steps have not taken yet */
function withParts(steps: readonly UnitStep[], parts: AnalyzedTransaction[]): readonly AnyStep[] {
  return steps.map((step): AnyStep => {
    switch (step.kind) {
      case 'statement':
        parts.shift();
        return step;
      case 'transaction': {
        const part = parts.shift();
        if (part === undefined) return step;
        // A transaction has the steps of one, changed or not.
        return { ...step, level: part.level, steps: part.steps as typeof step.steps };
      }
      case 'branch':
        return { ...step, ifTrue: withParts(step.ifTrue, parts), ifFalse: withParts(step.ifFalse, parts) };
      case 'loop':
        return { ...step, steps: withParts(step.steps, parts) };
      default:
        return step;
    }
  });
}

export async function unitAnomalies(units: readonly AnalyzedTransaction[], set: UnitSet): Promise<UnitAnalysis> {
  const search = new UnitSearch(
    units.filter(({ notUnderstood }) => notUnderstood.length === 0),
    set,
  );
  const unread = units.filter((one) => hasPieces(one) && one.notUnderstood.length > 0);
  return { anomalies: await search.run(), cut: [...unread.map(({ name }) => name), ...search.cut] };
}

function hasPieces({ paths }: AnalyzedTransaction): boolean {
  return paths.some((path) => new Set(path.map(({ piece }) => piece)).size > 1);
}

class UnitSearch {
  readonly #units: readonly AnalyzedTransaction[];
  readonly #set: UnitSet;
  readonly #templates: readonly PathTemplate[];
  readonly cut: readonly string[];
  #changes: readonly Change[] = [];

  constructor(units: readonly AnalyzedTransaction[], set: UnitSet) {
    this.#units = units;
    this.#set = set;
    const { all, cut } = templatesOf(units, rowRules[set.schema.dialect]);
    this.#templates = all;
    this.cut = cut.flatMap((at) => {
      const unit = units[at];
      return unit !== undefined && unit.paths.some(hasDependentWrite) ? [unit.name] : [];
    });
  }

  /** For each unit whose writes depend on its reads, with itself and with each other unit that its changes so far do not mend. */
  async run(): Promise<readonly Anomaly[]> {
    const anomalies: Anomaly[] = [];
    for (const [at, unit] of this.#units.entries()) {
      if (!unit.paths.some(hasDependentWrite)) continue;
      for (const other of [unit, ...this.#units.filter((one) => one !== unit)]) {
        const witnesses = this.#witnesses(at, this.#units.indexOf(other));
        const taking = [...new Set([unit, other])];
        if (witnesses.length === 0 || this.#isMended(taking)) continue;
        anomalies.push(await this.#anomaly(witnesses, taking));
      }
    }
    return anomalies;
  }

  #witnesses(first: number, second: number): readonly Witness[] {
    const found: Witness[] = [];
    const ofSecond = this.#templates.filter(({ transaction }) => transaction === second);
    for (const one of this.#templates.filter(({ transaction }) => transaction === first))
      for (const other of ofSecond.toSorted((a, b) => Number(b === one) - Number(a === one)))
        for (const witness of staleReads(one, other)) {
          found.push(witness);
          if (found.length === witnessesMax) return found;
        }
    return found;
  }

  async #anomaly(witnesses: readonly Witness[], taking: readonly AnalyzedTransaction[]): Promise<Anomaly> {
    const definitions = this.#definitions(witnesses, taking);
    const confirmation = await confirm(definitions, this.#set.limits);
    const definition = confirmation.kind === 'confirmed' ? confirmation.definition : null;
    const fix = await this.#fix(taking, definition);
    // What is only possible must not hide what can be confirmed.
    if (fix !== null && definition !== null) this.#changes = [...this.#changes, ...fix.changes];
    return { ...anomalyOf(unitAnomalyName, taking, confirmation, fix), isLeft: false };
  }

  /** Each once. */
  #definitions(witnesses: readonly Witness[], taking: readonly AnalyzedTransaction[]): readonly WitnessDefinition[] {
    const { schema, attempts } = this.#set;
    const set = {
      transactions: this.#units,
      levels: new Map(this.#units.map((one) => [one, this.#levelOf(one)])),
      schema,
      scope: 'transactions of their own' as const,
    };
    const checked = taking.map((one) => ({ transaction: this.#units.indexOf(one), conditions: conditionsOf(one) }));
    const amounts = [...boundaryAmounts(checked), ...attempts];
    const all = amounts.flatMap((amount) => witnesses.map((witness) => concreteWitness(witness, set, amount)));
    return [...new Map(all.map((definition) => [JSON.stringify(definition), definition])).values()];
  }

  /** One transaction around each unit that has several, and the cheapest changes beside it. */
  async #fix(taking: readonly AnalyzedTransaction[], definition: WitnessDefinition | null): Promise<Fix | null> {
    const own = this.#changes.filter((change) => taking.some(({ name }) => name === change.transaction));
    const around = taking
      .filter(hasPieces)
      .map(({ name, place }): Change => ({ kind: 'around', transaction: name, place }))
      .filter((change) => !own.some((other) => JSON.stringify(other) === JSON.stringify(change)));
    const more = candidateChanges(taking, (one) => this.#levelOf(one), this.#set.schema.dialect);
    const candidates = [[], ...more].map((changes) => [...own, ...around, ...changes]);
    const changes = candidates.find((one) => isRobustWith(one, taking, this.#set));
    if (changes === undefined) return null;
    const added = changes.filter((change) => !this.#changes.includes(change));
    if (definition === null) return { changes: added, isProven: true, schedules: 0 };
    const unitOf = (session: number): string =>
      taking.find(({ name }) => definition.sessions[session]?.name.startsWith(`${name} `) === true)?.name ?? '';
    const changed = changedWitness(definition, changes, unitOf);
    const explored = await exploreWitness(
      {
        ...changed,
        compared: 'state and reads',
        sessions: changed.sessions.map((session) => ({ ...session, scope: 'one transaction' })),
      },
      this.#set.limits,
    );
    if (explored.kind === 'failed' || explored.violations > 0) return null;
    return { changes: added, isProven: true, schedules: explored.schedules };
  }

  /** Is each of them one transaction by the changes so far, and are they robust with these? */
  #isMended(taking: readonly AnalyzedTransaction[]): boolean {
    const areWhole = taking
      .filter(hasPieces)
      .every(({ name }) => this.#changes.some((change) => change.kind === 'around' && change.transaction === name));
    return areWhole && isRobustWith(this.#changes, taking, this.#set);
  }

  #levelOf({ level }: AnalyzedTransaction): IsolationName {
    return level ?? this.#set.isolation;
  }
}

function conditionsOf({ paths }: AnalyzedTransaction): readonly Value[] {
  return paths.flat().flatMap(({ conditions }) => conditions);
}
