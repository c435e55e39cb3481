/** `moirai analyze`: which transactions of an application can go wrong together, which level each needs, and the smallest change. */
import { type Evidence, noEvidence } from '../evidence/index.ts';
import type { Catalog, IsolationName } from '../sql/index.ts';
import type { Application, Place } from './application.ts';
import { candidateChanges, type Change, changedTransaction, changedWitness } from './changes.ts';
import { concreteWitness, type Amounts } from './concrete-witness.ts';
import { confirm, type ExploreLimits, exploreWitness } from './confirm.ts';
import { isolationOf, levelOf } from './levels.ts';
import { RobustSet, type Witness } from './robust-set.ts';
import { readSchema } from './schema.ts';
import { conflictingStatements } from './conflicting-statements.ts';
import {
  type AnalyzedTransaction,
  notUnderstoodInUnit,
  type NotUnderstoodPlace,
  transactionsOf,
} from './transactions.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-program.ts';

export interface AnalyzeOptions extends Partial<ExploreLimits> {
  /** The database's level for transactions that name none. */
  readonly isolation: IsolationName;
}

export interface Analysis {
  readonly units: number;
  readonly transactions: readonly TransactionReport[];
  readonly anomalies: readonly Anomaly[];
  readonly notUnderstood: readonly NotUnderstoodPlace[];
  readonly evidence: Evidence;
}

export interface TransactionReport {
  readonly name: string;
  readonly place: Place;
  readonly level: IsolationName;
  readonly isAutocommit: boolean;
  /** The weakest level at which the whole set is serializable, the others at theirs; `null`: not known. */
  readonly weakest: IsolationName | null;
  /** Its part in the changes of the anomalies. */
  readonly changes: readonly Change[];
}

export interface Anomaly {
  /** `lost update`, `write-skew`; `not serializable` where it has no name. */
  readonly name: string;
  /** By name, each once. */
  readonly transactions: readonly string[];
  /** Those that conflict with each other. */
  readonly statements: readonly { readonly place: Place; readonly sql: string }[];
  readonly status:
    | {
        readonly kind: 'confirmed';
        readonly anomaly: AnomalyKind;
        readonly program: WitnessDefinition;
        readonly schedules: number;
        readonly violations: number;
      }
    | { readonly kind: 'possible'; readonly reason: string };
  readonly fix: Fix | null;
}

export interface Fix {
  readonly changes: readonly Change[];
  /** Are the transactions robust with it, whatever their rows? If not, only the schedules of the witness hold. */
  readonly isProven: boolean;
  /** Of the witness with the change; 0 where there is none. */
  readonly schedules: number;
}

/** @throws InputError `analyze/schema`, `analyze/dialect` */
export async function analyze(application: Application, options: AnalyzeOptions): Promise<Analysis> {
  const catalog = await readSchema(application);
  return new ApplicationAnalysis(application, catalog, options).run();
}

const schedulesMaxDefault = 2_000;
const attempts: readonly Amounts[] = [
  { inRows: 100, inArguments: 10 },
  { inRows: 100, inArguments: 60 },
  { inRows: 1, inArguments: 1 },
  { inRows: 0, inArguments: 10 },
];

class ApplicationAnalysis {
  readonly #application: Application;
  readonly #catalog: Catalog;
  readonly #options: AnalyzeOptions;
  readonly #limits: ExploreLimits;
  readonly #transactions: readonly AnalyzedTransaction[];
  /** Those that were understood as a whole. */
  readonly #known: readonly AnalyzedTransaction[];
  /** What was found to be needed so far. */
  #changes: readonly Change[] = [];

  constructor(application: Application, catalog: Catalog, options: AnalyzeOptions) {
    this.#application = application;
    this.#catalog = catalog;
    this.#options = options;
    this.#limits = { schedulesMax: schedulesMaxDefault, ...options };
    this.#transactions = transactionsOf(application, catalog);
    this.#known = this.#transactions.filter(({ notUnderstood }) => notUnderstood.length === 0);
  }

  async run(): Promise<Analysis> {
    const set = new RobustSet(this.#known);
    const levels = this.#known.map((one) => levelOf[this.#levelOf(one)]);
    const witnesses = set.witnesses(levels);
    const anomalies: Anomaly[] = [];
    for (const witness of witnesses) anomalies.push(await this.#anomaly(witness));
    const weakest = set.weakest();
    const notUnderstood = this.#notUnderstood();
    return {
      units: this.#application.units.length,
      transactions: this.#transactions.map((one) => {
        const level = weakest[this.#known.indexOf(one)];
        return {
          name: one.name,
          place: one.place,
          level: this.#levelOf(one),
          isAutocommit: one.isAutocommit,
          weakest: level === undefined ? null : isolationOf[level],
          changes: this.#changes.filter(({ transaction }) => transaction === one.name),
        };
      }),
      anomalies,
      notUnderstood,
      evidence: this.#evidence(anomalies, notUnderstood, set),
    };
  }

  #levelOf({ level }: AnalyzedTransaction): IsolationName {
    return level ?? this.#options.isolation;
  }

  async #anomaly(witness: Witness): Promise<Anomaly> {
    const definitions = attempts.map((amounts) =>
      concreteWitness(
        witness,
        this.#known,
        (one) => this.#levelOf(this.#known[one] as AnalyzedTransaction),
        this.#application,
        this.#catalog,
        amounts,
      ),
    );
    const confirmation = await confirm(definitions, this.#limits);
    const taking = witness.transactions.map((one) => this.#known[one] as AnalyzedTransaction);
    const fix = await this.#fix(witness, taking, confirmation.kind === 'confirmed' ? confirmation.definition : null);
    if (fix !== null) this.#changes = [...this.#changes, ...fix.changes.filter((change) => !this.#has(change))];
    return {
      name: (confirmation.kind === 'confirmed' ? confirmation.name : null) ?? 'not serializable',
      transactions: taking.map(({ name }) => name),
      statements: conflictingStatements(taking),
      status:
        confirmation.kind === 'possible'
          ? confirmation
          : {
              kind: 'confirmed',
              anomaly: confirmation.anomaly,
              program: confirmation.definition,
              schedules: confirmation.schedules,
              violations: confirmation.violations,
            },
      fix,
    };
  }

  #has(change: Change): boolean {
    return this.#changes.some((other) => JSON.stringify(other) === JSON.stringify(change));
  }

  /** The cheapest changes beside those that are needed already: one that makes the transactions robust, else one that mends the witness. */
  async #fix(
    witness: Witness,
    taking: readonly AnalyzedTransaction[],
    definition: WitnessDefinition | null,
  ): Promise<Fix | null> {
    const own = this.#changes.filter(({ transaction }) => taking.some(({ name }) => name === transaction));
    const candidates = [
      ...(own.length === 0 ? [] : [own]),
      ...candidateChanges(taking, (one) => this.#levelOf(one)).map((changes) => [...own, ...changes]),
    ];
    const proven = candidates.find((changes) => this.#isRobust(taking, changes));
    const tried = proven === undefined ? candidates : [proven];
    if (definition === null) return proven === undefined ? null : { changes: proven, isProven: true, schedules: 0 };
    for (const changes of tried) {
      const nameOf = (session: number): string => {
        const instance = [witness.split.first, ...witness.split.between][session];
        const transaction = witness.templates[instance?.template ?? 0]?.transaction ?? 0;
        return this.#known[transaction]?.name ?? '';
      };
      const explored = await exploreWitness(changedWitness(definition, changes, nameOf), this.#limits);
      if (explored.kind === 'explored' && explored.violations === 0 && explored.isComplete)
        return { changes, isProven: proven !== undefined, schedules: explored.schedules };
    }
    return null;
  }

  #isRobust(taking: readonly AnalyzedTransaction[], changes: readonly Change[]): boolean {
    const changed = taking.map((one) => changedTransaction(one, changes, this.#catalog));
    if (changed.some(({ notUnderstood }) => notUnderstood.length > 0)) return false;
    return new RobustSet(changed).isRobust(changed.map((one) => levelOf[this.#levelOf(one)]));
  }

  #notUnderstood(): readonly NotUnderstoodPlace[] {
    return [
      ...this.#application.notUnderstood,
      ...this.#application.units.flatMap(({ steps }) => notUnderstoodInUnit(steps)),
      ...this.#transactions.flatMap(({ notUnderstood }) => notUnderstood),
    ].map(({ place, reason }) => ({ place, reason }));
  }

  #evidence(anomalies: readonly Anomaly[], notUnderstood: readonly NotUnderstoodPlace[], set: RobustSet): Evidence {
    const possible = anomalies.flatMap(({ status, transactions }) =>
      status.kind === 'possible' ? [`possible, not confirmed: ${transactions.join(' with ')}: ${status.reason}`] : [],
    );
    const cut = set.cut.map((one) => `${this.#known[one]?.name} has more variants than are followed`);
    const loops = this.#known.some(({ hasLoops }) => hasLoops);
    return {
      ...noEvidence,
      violations: anomalies.filter(({ status }) => status.kind === 'confirmed').length,
      looked: [{ count: this.#transactions.length, nothing: 'no transaction was found' }],
      cut: [
        ...notUnderstood.map(({ place, reason }) => `not understood: ${place.file}:${place.line} ${reason}`),
        ...possible,
        ...cut,
      ],
      assumed: [
        ...(loops ? ['a loop that runs twice does all that one which runs longer does'] : []),
        ...(this.#known.length === 0 ? [] : ['all transactions on these tables are among those that were found']),
      ],
    };
  }
}
