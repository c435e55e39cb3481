/** `moirai analyze`: which transactions of an application can go wrong together, which level each needs, and the smallest change. */
import { assert, Budget, type BudgetOptions } from '../base/index.ts';
import { type Evidence, noEvidence } from '../evidence/index.ts';
import { counted } from '../report/index.ts';
import type { IsolationName } from '../sql/index.ts';
import { mergeAlike } from './alike-anomalies.ts';
import { type Anomaly, anomalyOf, type Fix, isRobustWith, type ProofOptions } from './anomaly.ts';
import type { Application, Place } from './application.ts';
import { candidateChanges, type Change, ChangedTransactions, changedWitness } from './changes.ts';
import { attempts } from './amounts.ts';
import type { CodeReport } from './code/code-report.ts';
import { provenSchedulesMax, stoppedBefore } from './confirm.ts';
import { confirmWitness, type ConfirmedWitness } from './confirm-witness.ts';
import { type ExploreLimits, type Explorer, exploringHere } from './explore-witness.ts';
import { inOrder } from './in-order.ts';
import { levelsOf } from './levels.ts';
import { listed } from './listed-names.ts';
import { type CutSearch, RobustSet, type Witness } from './robust-set.ts';
import type { SearchLimits } from './robustness/chain-search.ts';
import { stepsMaxDefault } from './robustness/find-split.ts';
import { ParameterColumns } from './parameter-columns.ts';
import { readSchema, type Schema } from './schema.ts';
import { usesSkipLocked } from './skip-locked-choices.ts';
import { KnownTemplates, rowChangesOf } from './templates.ts';
import {
  type AnalyzedTransaction,
  notUnderstoodInUnit,
  type NotUnderstoodPlace,
  transactionsOf,
} from './transactions.ts';
import { analyzedUnit, unitAnomalies, type UnitAnalysis } from './unit-anomalies.ts';
import type { WitnessDefinition } from './witness-definition.ts';

export interface AnalyzeOptions extends BudgetOptions {
  /** The database's level for transactions that name none. */
  readonly isolation: IsolationName;
  /** Is it a part of an application, which may have no transaction? */
  readonly isPart?: boolean;
  /** Of one search for a witness. */
  readonly stepsMax?: number;
  /** Of all programs of one witness together. Default 200. */
  readonly schedulesMax?: number;
  /** Each explores one program at a time, here or in a thread. The answer is the same for any number. Default: one, here. */
  readonly explorers?: readonly Explorer[];
}

/** What was found in an application. */
export interface Analysis {
  readonly units: number;
  readonly transactions: readonly TransactionReport[];
  readonly anomalies: readonly Anomaly[];
  /** Across the transactions of units, which nothing makes one: their `transactions` are units. With the changes of `anomalies` made. */
  readonly unitAnomalies: readonly Anomaly[];
  readonly notUnderstood: readonly NotUnderstoodPlace[];
  /** As of `Application`: whatever the verdict is. */
  readonly assumed: readonly string[];
  /** As of `Application`: whatever the verdict is. */
  readonly leftOut: readonly string[];
  readonly evidence: Evidence;
  /** What the application's own code did, where it ran. */
  readonly code?: CodeReport;
}

/** One transaction, and what it needs. */
export interface TransactionReport {
  readonly name: string;
  readonly place: Place;
  readonly level: IsolationName;
  readonly isAutocommit: boolean;
  /** The weakest level at which the whole set is serializable, the others at theirs; `null`: not known. */
  readonly weakest: IsolationName | null;
  /** The same, with the changes of all anomalies. */
  readonly weakestChanged: IsolationName | null;
  /** Its part in the changes of the anomalies. */
  readonly changes: readonly Change[];
}

/** @throws InputError `analyze/schema` */
export async function analyze(application: Application, options: AnalyzeOptions): Promise<Analysis> {
  return new ApplicationAnalysis(application, await readSchema(application), options).run();
}

const schedulesMaxDefault = 200;
/** Of the search for candidates and proofs, after the time for witnesses: what it finds then is listed. The weakest levels have as long again. */
const graceMs = 500;
const roundsMax = 4;
/** An anomaly to which the history's dependencies give no name. */
const unnamed = 'not serializable';
function searchLimits(stepsMax: number, budget: Budget): SearchLimits {
  return { stepsMax, isOver: () => budget.over !== null };
}

class ApplicationAnalysis {
  readonly #application: Application;
  readonly #schema: Schema;
  readonly #columns: ParameterColumns;
  readonly #options: AnalyzeOptions;
  readonly #limits: ExploreLimits & { readonly explorers: readonly Explorer[]; readonly budget: Budget };
  readonly #proof: ProofOptions;
  readonly #transactions: readonly AnalyzedTransaction[];
  /** Those that were understood as a whole. */
  readonly #known: readonly AnalyzedTransaction[];
  /** What was found to be needed so far. */
  #changes: readonly Change[] = [];
  /** Of which not every set was searched, by number. */
  #unsearched: readonly number[] = [];

  constructor(application: Application, schema: Schema, options: AnalyzeOptions) {
    this.#application = application;
    this.#schema = schema;
    this.#columns = new ParameterColumns(schema);
    this.#options = options;
    const { isolation, stepsMax = stepsMaxDefault, schedulesMax = schedulesMaxDefault } = options;
    const { explorers = [exploringHere()] } = options;
    this.#limits = { schedulesMax, explorers, budget: new Budget(options) };
    this.#transactions = transactionsOf(application, schema).map((one) => this.#withKnownLevel(one));
    this.#known = this.#transactions.filter(({ notUnderstood }) => notUnderstood.length === 0);
    const { timeMaxMs = Infinity } = options;
    const search = searchLimits(stepsMax, new Budget({ ...options, timeMaxMs: timeMaxMs + graceMs }));
    this.#proof = {
      schema,
      isolation,
      search,
      rowChanges: rowChangesOf(this.#known),
      changed: new ChangedTransactions(schema),
      templates: new KnownTemplates(),
    };
  }

  async run(): Promise<Analysis> {
    const set = this.#robustSet(this.#known);
    const anomalies = mergeAlike(await this.#anomalies());
    const units = await this.#unitAnomalies();
    const last = this.#lastLimits();
    const weakest = set.weakest(last);
    const weakestChanged = this.#changes.length === 0 ? weakest : this.#robustSet(this.#changed()).weakest(last);
    const notUnderstood = this.#notUnderstood();
    const needed = this.#neededChanges(anomalies);
    const isolationAt = (levels: readonly (IsolationName | null)[], one: AnalyzedTransaction): IsolationName | null =>
      levels[this.#known.indexOf(one)] ?? null;
    return {
      units: this.#application.units.length,
      transactions: this.#transactions.map((one) => ({
        name: one.name,
        place: one.place,
        level: this.#levelOf(one),
        isAutocommit: one.isAutocommit,
        weakest: isolationAt(weakest, one),
        weakestChanged: isolationAt(weakestChanged, one),
        changes: needed.filter(({ transaction }) => transaction === one.name),
      })),
      anomalies,
      unitAnomalies: units.anomalies,
      notUnderstood,
      assumed: this.#application.assumed ?? [],
      leftOut: this.#application.leftOut ?? [],
      evidence: this.#evidence(anomalies, units, notUnderstood, set, weakest),
    };
  }

  /** First those of the smallest sets of transactions; with their changes, those that are left, until there are none or no change helps. */
  async #anomalies(): Promise<readonly Anomaly[]> {
    const anomalies: Anomaly[] = [];
    for (let round = 0; round < roundsMax; round += 1) {
      const before = this.#changes.length;
      const transactions = this.#changed();
      const levels = transactions.map((one) => this.#levelOf(one));
      const set = this.#robustSet(transactions);
      const { found: witnesses, unsearched } = set.witnesses(levels);
      this.#unsearched = unsearched;
      const anomaliesOf = await inOrder(witnesses, this.#limits.explorers, {
        prepare: async (found, explore) =>
          found.kind === 'cut' ? null : this.#confirmed(found, set.others(levels, found), transactions, explore),
        use: (found, confirmed, explore) => this.#anomaly(found, confirmed, transactions, explore),
      });
      anomalies.push(...anomaliesOf.map((anomaly) => ({ ...anomaly, isLeft: round > 0 })));
      if (this.#changes.length === before || this.#isOver) break;
    }
    return anomalies;
  }

  /** Without locks that a raised level makes needless, levels below another one, and levels that only what is possible asks for: the weakest safe level says these. */
  #neededChanges(anomalies: readonly Anomaly[]): readonly Change[] {
    const shown = new Set(
      anomalies.flatMap(({ status, fix }) =>
        (fix?.changes ?? []).flatMap((change) =>
          status.kind === 'confirmed' || change.kind === 'lock' ? [JSON.stringify(change)] : [],
        ),
      ),
    );
    const levelOf = (name: string): Change | undefined =>
      this.#changes.findLast(({ kind, transaction }) => kind === 'level' && transaction === name);
    const isNeedless = (change: Change): boolean =>
      change.kind === 'lock' &&
      levelOf(change.transaction) !== undefined &&
      isRobustWith(
        this.#changes.filter((other) => other !== change),
        this.#known,
        this.#proof,
      );
    return this.#changes.filter((change) =>
      change.kind === 'level'
        ? change === levelOf(change.transaction) && shown.has(JSON.stringify(change))
        : !isNeedless(change),
    );
  }

  async #unitAnomalies(): Promise<UnitAnalysis> {
    if (this.#isOver) {
      const unsearched = this.#application.units.map(({ name }) => name);
      return { anomalies: [], cut: [], unsearched, independent: [] };
    }
    const units = this.#application.units.flatMap((unit) => {
      const parts = this.#transactions.filter((one) => one.unit === unit);
      const isKnown = parts.every((one) => this.#known.includes(one)) && notUnderstoodInUnit(unit.steps).length === 0;
      const changed = parts.map((one) => this.#proof.changed.of(one, this.#changes));
      return isKnown ? [analyzedUnit(unit, changed, this.#schema)] : [];
    });
    return unitAnomalies(units, {
      ...this.#proof,
      columns: this.#columns,
      limits: { ...this.#limits, explore: this.#limits.explorers.at(-1) ?? exploringHere() },
      attempts,
    });
  }

  #robustSet(transactions: readonly AnalyzedTransaction[]): RobustSet {
    return new RobustSet(transactions, this.#schema.dialect, this.#proof.search);
  }

  /** Is the time for candidates and proofs over? */
  get #isOver(): boolean {
    return this.#proof.search.isOver?.() === true;
  }

  /** Of the weakest levels: they come last, and a small application has them in any case. */
  #lastLimits(): SearchLimits {
    const { budget } = this.#limits;
    const { signal } = this.#options;
    const left = { timeMaxMs: budget.leftMs + graceMs, ...(signal === undefined ? {} : { signal }) };
    return searchLimits(this.#proof.search.stepsMax, new Budget(left));
  }

  #changed(): readonly AnalyzedTransaction[] {
    return this.#known.map((one) => this.#proof.changed.of(one, this.#changes));
  }

  /** A level of which no rule is known is not understood. */
  #withKnownLevel(one: AnalyzedTransaction): AnalyzedTransaction {
    const level = this.#levelOf(one);
    if (levelsOf[this.#schema.dialect].rules[level] !== null) return one;
    const reason = `${level} is not analyzed: a transaction reads there what may be rolled back`;
    return { ...one, notUnderstood: [...one.notUnderstood, { place: one.place, reason }] };
  }

  #levelOf({ level }: AnalyzedTransaction): IsolationName {
    return level ?? this.#options.isolation;
  }

  #cutSearch({ steps }: CutSearch, taking: readonly AnalyzedTransaction[]): Omit<Anomaly, 'isLeft'> {
    const reason = `the search for a witness ended after ${counted(steps, 'step')}`;
    return anomalyOf(unnamed, taking, { kind: 'possible', reason }, null);
  }

  /** What the changes of this round's other anomalies do not decide. `null`: the time is over. */
  async #confirmed(
    witness: Witness,
    others: Iterable<Witness>,
    transactions: readonly AnalyzedTransaction[],
    explore: Explorer,
  ): Promise<ConfirmedWitness | null> {
    if (this.#isOver && stoppedBefore(this.#limits) !== null) return null;
    const levels = new Map(transactions.map((one) => [one, this.#levelOf(one)]));
    const scope = 'one transaction' as const;
    const set = { transactions, levels, schema: this.#schema, columns: this.#columns, scope };
    return confirmWitness(witness, others, set, { ...this.#limits, explore });
  }

  async #anomaly(
    found: Witness | CutSearch,
    confirmed: ConfirmedWitness | null,
    transactions: readonly AnalyzedTransaction[],
    explore: Explorer,
  ): Promise<Omit<Anomaly, 'isLeft'>> {
    const taking = found.transactions.map((one) => transactions[one] as AnalyzedTransaction);
    if (found.kind === 'cut') return this.#cutSearch(found, taking);
    if (confirmed === null) {
      const untried = stoppedBefore(this.#limits);
      assert(untried !== null, 'a witness is left out only when the time is over');
      return anomalyOf(unnamed, taking, untried, null);
    }
    const { confirmation, witness } = confirmed;
    const fix = await this.#fix(
      witness,
      taking,
      confirmation.kind === 'confirmed' ? confirmation.definition : null,
      explore,
    );
    if (fix !== null) this.#changes = [...this.#changes, ...fix.changes];
    const name = (confirmation.kind === 'confirmed' ? confirmation.name : null) ?? unnamed;
    return anomalyOf(name, taking, confirmation, fix);
  }

  #has(change: Change): boolean {
    return this.#changes.some((other) => JSON.stringify(other) === JSON.stringify(change));
  }

  /** The cheapest changes beside those that are needed already: one that makes the transactions robust, else one that mends the witness. */
  async #fix(
    witness: Witness,
    taking: readonly AnalyzedTransaction[],
    definition: WitnessDefinition | null,
    explore: Explorer,
  ): Promise<Fix | null> {
    const own = this.#changes.filter(({ transaction }) => taking.some(({ name }) => name === transaction));
    const candidates = [
      ...(own.length === 0 ? [] : [own]),
      ...candidateChanges(taking, (one) => this.#levelOf(one), this.#schema.dialect).map((changes) => [
        ...own,
        ...changes,
      ]),
    ];
    const proven = candidates.find((changes) => isRobustWith(changes, taking, this.#proof));
    const tried = proven === undefined ? candidates : [proven];
    const added = (changes: readonly Change[]): readonly Change[] => changes.filter((change) => !this.#has(change));
    if (definition === null)
      return proven === undefined ? null : { changes: added(proven), isProven: true, schedules: 0 };
    for (const changes of tried) {
      const nameOf = (session: number): string => {
        const instance = [witness.split.first, ...witness.split.between][session];
        const transaction = witness.templates[instance?.template ?? 0]?.transaction ?? 0;
        return this.#known[transaction]?.name ?? '';
      };
      const explored = await explore(changedWitness(definition, changes, nameOf), {
        ...this.#limits,
        ...(proven === undefined ? {} : { schedulesMax: provenSchedulesMax }),
      });
      const isWhole = explored.kind === 'explored' && (explored.isComplete || proven !== undefined);
      if (isWhole && explored.violations === 0)
        return { changes: added(changes), isProven: proven !== undefined, schedules: explored.schedules };
    }
    return null;
  }

  #notUnderstood(): readonly NotUnderstoodPlace[] {
    return [
      ...this.#application.notUnderstood,
      ...this.#application.units.flatMap(({ steps }) => notUnderstoodInUnit(steps)),
      ...this.#transactions.flatMap(({ notUnderstood }) => notUnderstood),
    ].map(({ place, reason }) => ({ place, reason }));
  }

  #evidence(
    ofTransactions: readonly Anomaly[],
    units: UnitAnalysis,
    notUnderstood: readonly NotUnderstoodPlace[],
    set: RobustSet,
    weakest: readonly (IsolationName | null)[],
  ): Evidence {
    const anomalies = [...ofTransactions, ...units.anomalies];
    const possible = anomalies.flatMap(({ status, transactions, alike }) =>
      status.kind === 'possible'
        ? [transactions, ...alike].map(
            (names) =>
              `possible, not confirmed: ${names.length > 6 ? listed(names) : names.join(' with ')}: ${status.reason}`,
          )
        : [],
    );
    const cut = set.cut.map((one) => `${this.#known[one]?.name} has more variants than are followed`);
    const namesOf = (numbers: readonly number[]): readonly string[] =>
      numbers.flatMap((one) => this.#known[one]?.name ?? []);
    const unknown = [...weakest.keys()].filter((one) => weakest[one] === null);
    const statements = this.#known.flatMap(({ paths }) => paths.flat());
    const skipsLocked = statements.some(({ statement }) => usesSkipLocked(statement.sql));
    const loops = this.#known.some(({ hasLoops }) => hasLoops);
    return {
      ...noEvidence,
      violations: anomalies.filter(({ status }) => status.kind === 'confirmed').length,
      looked:
        this.#options.isPart === true
          ? []
          : [{ count: this.#transactions.length, nothing: 'no transaction was found' }],
      cut: [
        ...notUnderstood.map(({ place, reason }) => `not understood: ${place.file}:${place.line} ${reason}`),
        ...possible,
        ...cut,
        ...notSearched('not every set was searched for anomalies of', namesOf(this.#unsearched)),
        ...notSearched('the weakest safe level is not known of', namesOf(unknown)),
        ...units.cut.map((name) => `${name} has more paths than are followed as a unit`),
        ...notSearched('not searched for anomalies across their transactions:', units.unsearched),
      ],
      assumed: [
        ...(this.#application.covered ?? []),
        ...(this.#application.assumed ?? []),
        ...(this.#application.leftOut ?? []),
        ...this.#schema.unread.assumed,
        ...(units.independent.length === 0
          ? []
          : [
              `no write of ${listed(units.independent)} depends on what an earlier transaction of it read: no such value was seen`,
            ]),
        ...(skipsLocked ? ['which rows SKIP LOCKED takes does not matter, nor that it takes none'] : []),
        ...(loops ? ['a loop that runs twice does all that one which runs longer does'] : []),
        ...(this.#known.length === 0 ? [] : ['all transactions on these tables are among those that were found']),
      ],
    };
  }
}

function notSearched(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what} ${listed(names)}`];
}
