/**
 * Units of several transactions: nothing makes these one. A unit is meant to be atomic where it writes because of what an earlier transaction of it
 * read. An anomaly is a schedule of two units, as the application runs them, whose final state is that of no serial order of whole units.
 */
import type { IsolationName } from '../sql/index.ts';
import { mergeAlike } from './alike-anomalies.ts';
import { type Anomaly, anomalyOf, type Fix, isRobustWith, type ProofOptions, unitAnomalyName } from './anomaly.ts';
import type { AnyStep, Unit, UnitStep } from './application.ts';
import { boundaryAmounts, conditionsOf } from './boundary-amounts.ts';
import { candidateChanges, type Change, changedWitness } from './changes.ts';
import type { Amounts } from './amounts.ts';
import { concreteWitness } from './concrete-witness.ts';
import { confirm, type ConfirmLimits, provenSchedulesMax, stoppedBefore } from './confirm.ts';
import { rowRules, type Witness } from './robust-set.ts';
import type { ParameterColumns } from './parameter-columns.ts';
import type { Schema } from './schema.ts';
import { type PathTemplate, type RowRules, templatesOf } from './templates.ts';
import { analyzedSteps, type AnalyzedTransaction } from './transactions.ts';
import { hasDependentWrite, hasLaterWrite, staleReads } from './unit-witness.ts';
import type { WitnessDefinition, WitnessSession } from './witness-definition.ts';

export interface UnitSet extends ProofOptions {
  readonly limits: ConfirmLimits;
  readonly columns: ParameterColumns;
  /** Tried after those on the edge of conditions. */
  readonly attempts: readonly Amounts[];
}

/** A unit as if it were one transaction, and the transactions that it has. */
export interface AnalyzedUnit {
  readonly whole: AnalyzedTransaction;
  readonly parts: readonly AnalyzedTransaction[];
}

export interface UnitAnalysis {
  readonly anomalies: readonly Anomaly[];
  /** Units of which not every path is followed. */
  readonly cut: readonly string[];
  /** Units whose search for anomalies did not begin: the time was over, or the user interrupted it. */
  readonly unsearched: readonly string[];
  /** Units of which a transaction writes after another has read, and no value was seen to go from one to the other. */
  readonly independent: readonly string[];
}

const witnessesMax = 4;

/** @param parts its transactions in the order of its steps, with their changes */
export function analyzedUnit(unit: Unit, parts: readonly AnalyzedTransaction[], schema: Schema): AnalyzedUnit {
  const left = [...parts];
  const steps = withParts(unit.steps, left);
  const whole: AnalyzedTransaction = {
    name: unit.name,
    unit,
    place: unit.place,
    level: parts.length === 1 ? (parts[0]?.level ?? null) : null,
    isAutocommit: false,
    steps,
    ...analyzedSteps(steps, unit.place, schema),
  };
  return { whole, parts };
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

export async function unitAnomalies(units: readonly AnalyzedUnit[], set: UnitSet): Promise<UnitAnalysis> {
  const search = new UnitSearch(
    units.filter(({ whole }) => whole.notUnderstood.length === 0),
    set,
  );
  const unread = units.filter(({ whole }) => hasPieces(whole) && whole.notUnderstood.length > 0);
  const independent = units.filter(
    ({ whole: { paths } }) => paths.some(hasLaterWrite) && !paths.some(hasDependentWrite),
  );
  return {
    anomalies: mergeAlike(await search.run()),
    cut: [...unread.map(({ whole }) => whole.name), ...search.cut],
    unsearched: search.unsearched,
    independent: independent.map(({ whole }) => whole.name),
  };
}

/** Each transaction of a unit has locks of its own. */
export function ofUnits(rules: RowRules): RowRules {
  return { ...rules, keepsLocks: false };
}

function hasPieces({ paths }: AnalyzedTransaction): boolean {
  return paths.some((path) => new Set(path.map(({ piece }) => piece)).size > 1);
}

class UnitSearch {
  readonly #units: readonly AnalyzedTransaction[];
  readonly #parts: ReadonlyMap<AnalyzedTransaction, readonly AnalyzedTransaction[]>;
  readonly #set: UnitSet;
  readonly #templates: readonly PathTemplate[];
  readonly cut: readonly string[];
  /** Of which the time did not allow a search. */
  readonly unsearched: string[] = [];
  #changes: readonly Change[] = [];

  constructor(all: readonly AnalyzedUnit[], set: UnitSet) {
    const units = all.map(({ whole }) => whole);
    this.#units = units;
    this.#parts = new Map(all.map(({ whole, parts }) => [whole, parts]));
    this.#set = set;
    const { all: templates, cut } = templatesOf(
      units,
      ofUnits(rowRules[set.schema.dialect]),
      set.search,
      set.rowChanges,
    );
    this.#templates = templates;
    this.cut = cut.flatMap((at) => {
      const unit = units[at];
      return unit !== undefined && unit.paths.some(hasDependentWrite) ? [unit.name] : [];
    });
  }

  /** For each unit whose writes depend on its reads: all with themselves, then each with each other unit that the changes so far do not mend. */
  async run(): Promise<readonly Anomaly[]> {
    return [...(await this.#pairs((unit) => [unit])), ...(await this.#pairs((unit) => this.#othersThan(unit)))];
  }

  #othersThan(unit: AnalyzedTransaction): readonly AnalyzedTransaction[] {
    return this.#units.filter((one) => one !== unit);
  }

  async #pairs(partnersOf: (unit: AnalyzedTransaction) => readonly AnalyzedTransaction[]): Promise<readonly Anomaly[]> {
    const anomalies: Anomaly[] = [];
    for (const [at, unit] of this.#units.entries()) {
      if (!unit.paths.some(hasDependentWrite)) continue;
      for (const other of partnersOf(unit)) {
        if (stoppedBefore(this.#set.limits) !== null) {
          if (!this.unsearched.includes(unit.name)) this.unsearched.push(unit.name);
          break;
        }
        const witnesses = this.#witnesses(at, this.#units.indexOf(other));
        const taking = [...new Set([unit, other])];
        if (witnesses.length === 0 || this.#holds(this.#changes, taking)) continue;
        anomalies.push(await this.#anomaly(witnesses, taking));
      }
    }
    return anomalies;
  }

  #witnesses(first: number, second: number): readonly Witness[] {
    const found: Witness[] = [];
    const ofSecond = this.#templates.filter(({ transaction }) => transaction === second);
    for (const one of this.#templates.filter(({ transaction }) => transaction === first))
      for (const other of ofSecond.toSorted((a, b) => Number(b === one) - Number(a === one))) {
        if (this.#isOver) return found;
        for (const witness of staleReads(one, other, this.#set.rowChanges)) {
          found.push(witness);
          if (found.length === witnessesMax) return found;
        }
      }
    return found;
  }

  /** Is the time over? Then nothing is proven. */
  get #isOver(): boolean {
    return this.#set.search.isOver?.() === true;
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
  *#definitions(witnesses: readonly Witness[], taking: readonly AnalyzedTransaction[]): Generator<WitnessDefinition> {
    const { schema, columns, attempts } = this.#set;
    const set = {
      transactions: this.#units,
      levels: new Map(this.#units.map((one) => [one, this.#levelOf(one)])),
      schema,
      columns,
      scope: 'transactions of their own' as const,
    };
    const checked = taking.map((one) => ({ transaction: this.#units.indexOf(one), conditions: conditionsOf(one) }));
    const amounts = [...boundaryAmounts(checked), ...attempts];
    const seen = new Set<string>();
    for (const amount of amounts)
      for (const witness of witnesses) {
        const definition = concreteWitness(witness, set, amount);
        const text = JSON.stringify(definition);
        if (seen.has(text)) continue;
        seen.add(text);
        yield definition;
      }
  }

  /** One transaction around the first unit, or around each that has several, and the cheapest changes beside it. */
  async #fix(taking: readonly AnalyzedTransaction[], definition: WitnessDefinition | null): Promise<Fix | null> {
    const own = this.#changes.filter((change) => taking.some(({ name }) => name === change.transaction));
    for (const wrapped of [taking.slice(0, 1), taking]) {
      const around = wrapped
        .filter(hasPieces)
        .map(({ name, place }): Change => ({ kind: 'around', transaction: name, place }))
        .filter((change) => !own.some((other) => JSON.stringify(other) === JSON.stringify(change)));
      const more = candidateChanges(wrapped, (one) => this.#levelOf(one), this.#set.schema.dialect);
      const candidates = [[], ...more].map((changes) => [...own, ...around, ...changes]);
      const changes = candidates.find((one) => this.#holds(one, taking));
      const fix = changes === undefined ? null : await this.#tryFix(changes, taking, definition);
      if (fix !== null) return fix;
    }
    return null;
  }

  /** Changes that are proven, run on the witness; `null`: it shows the anomaly still. */
  async #tryFix(
    changes: readonly Change[],
    taking: readonly AnalyzedTransaction[],
    definition: WitnessDefinition | null,
  ): Promise<Fix | null> {
    const added = changes.filter((change) => !this.#changes.includes(change));
    if (definition === null) return { changes: added, isProven: true, schedules: 0 };
    const unitOf = (session: number): AnalyzedTransaction | undefined =>
      taking.find(({ name }) => definition.sessions[session]?.name.startsWith(`${name} `) === true);
    const areWhole = taking.every((one) => isWhole(one, changes));
    const changed = changedWitness(definition, changes, (session) => unitOf(session)?.name ?? '');
    const scopeOf = (session: number): WitnessSession['scope'] => {
      const unit = unitOf(session);
      return unit === undefined || isWhole(unit, changes) ? 'one transaction' : 'transactions of their own';
    };
    const explored = await this.#set.limits.explore(
      {
        ...changed,
        compared: areWhole ? 'state and reads' : 'state and writes',
        sessions: changed.sessions.map((session, number) => ({ ...session, scope: scopeOf(number) })),
      },
      areWhole ? { ...this.#set.limits, schedulesMax: provenSchedulesMax } : this.#set.limits,
    );
    if (explored.kind === 'failed' || explored.violations > 0) return null;
    return areWhole || explored.isComplete ? { changes: added, isProven: true, schedules: explored.schedules } : null;
  }

  /** Does no unit that is several transactions depend on what another changes, and are all transactions robust, with these changes? */
  #holds(changes: readonly Change[], taking: readonly AnalyzedTransaction[]): boolean {
    const isOpen = taking.some(
      (one) =>
        !isWhole(one, changes) &&
        taking.some((other) => this.#witnesses(this.#units.indexOf(one), this.#units.indexOf(other)).length > 0),
    );
    if (isOpen || this.#isOver) return false;
    const all = taking.flatMap((one) => (isWhole(one, changes) ? [one] : (this.#parts.get(one) ?? [])));
    return isRobustWith(changes, all, this.#set);
  }

  #levelOf({ level }: AnalyzedTransaction): IsolationName {
    return level ?? this.#set.isolation;
  }
}

/** Is the unit one transaction, by itself or by a change? */
function isWhole(unit: AnalyzedTransaction, changes: readonly Change[]): boolean {
  return !hasPieces(unit) || changes.some(({ kind, transaction }) => kind === 'around' && transaction === unit.name);
}
