/** What is reported of transactions that can go wrong together: what was found, whether it was seen to happen, and the change that mends it. */
import type { IsolationName } from '../sql/index.ts';
import type { Place } from './application.ts';
import type { Change, ChangedTransactions } from './changes.ts';
import type { Confirmation } from './confirm.ts';
import { conflictingStatements } from './conflicting-statements.ts';
import type { SearchLimits } from './robustness/chain-search.ts';
import { RobustSet } from './robust-set.ts';
import type { Schema } from './schema.ts';
import type { KnownTemplates, RowChanges } from './templates.ts';
import type { AnalyzedTransaction } from './transactions.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-definition.ts';

/** Transactions that can go wrong together. */
export interface Anomaly {
  /** `lost update`, `write-skew`; `not serializable` where it has no name. */
  readonly name: string;
  /** By name, each once. */
  readonly transactions: readonly string[];
  /** Other transactions that run the same statements, and have the same anomaly. */
  readonly alike: readonly (readonly string[])[];
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
  /** Is it left when the changes of those before it are made? Its program has them. */
  readonly isLeft: boolean;
}

/** The cheapest change that was found to mend an anomaly. */
export interface Fix {
  /** Beside those of the anomalies before it; empty where these are enough. */
  readonly changes: readonly Change[];
  /** Are the transactions robust with it, whatever their rows? If not, only the schedules of the witness hold. */
  readonly isProven: boolean;
  /** Of the witness with the change; 0 where there is none. */
  readonly schedules: number;
}

/** `not atomic`: the dependencies of a history name anomalies of transactions, not of units. */
export const unitAnomalyName = 'not atomic';

export function anomalyOf(
  name: string,
  taking: readonly AnalyzedTransaction[],
  confirmation: Confirmation,
  fix: Fix | null,
): Omit<Anomaly, 'isLeft'> {
  return {
    name,
    transactions: taking.map((one) => one.name),
    alike: [],
    statements: conflictingStatements(taking),
    status: statusOf(confirmation),
    fix,
  };
}

function statusOf(confirmation: Confirmation): Anomaly['status'] {
  if (confirmation.kind === 'possible') return confirmation;
  const { kind, anomaly, definition, schedules, violations } = confirmation;
  return { kind, anomaly, program: definition, schedules, violations };
}

export interface ProofOptions {
  readonly schema: Schema;
  /** Of transactions that name none. */
  readonly isolation: IsolationName;
  readonly search: SearchLimits;
  /** Of the whole application. */
  readonly rowChanges: RowChanges;
  readonly changed: ChangedTransactions;
  /** With these row changes. */
  readonly templates: KnownTemplates;
}

/** Are the transactions robust with these changes, whatever their rows, and whether others have inserted them yet or not? */
export function isRobustWith(
  changes: readonly Change[],
  transactions: readonly AnalyzedTransaction[],
  { schema, isolation, search, rowChanges, changed: transactionsWith, templates }: ProofOptions,
): boolean {
  if (search.isOver?.() === true) return false;
  const changed = transactions.map((one) => transactionsWith.of(one, changes));
  if (changed.some(({ notUnderstood }) => notUnderstood.length > 0)) return false;
  const set = new RobustSet(changed, schema.dialect, search, rowChanges, templates);
  return set.isRobust(changed.map(({ level }) => level ?? isolation));
}
