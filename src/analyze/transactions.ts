/** The transactions of an application, its autocommit statements among them, with what each of their statements does to rows. */
import type { IsolationName } from '../sql/index.ts';
import type { Moments } from './access.ts';
import type { AnyStep, Application, Place, Statement, Transaction, Unit, UnitStep, Value } from './application.ts';
import { notUnderstoodIn, type Path, pathsOf } from './paths.ts';
import type { Schema } from './schema.ts';
import type { SnapshotReads } from './level-reads.ts';
import { accessesOf } from './statement-accesses.ts';

export interface AnalyzedTransaction {
  /** `POST /payments > pay`; a unit's only transaction has the unit's name. */
  readonly name: string;
  readonly unit: Unit;
  readonly place: Place;
  /** `null`: the database's default. */
  readonly level: IsolationName | null;
  readonly isAutocommit: boolean;
  readonly steps: readonly AnyStep[];
  readonly paths: readonly AnalyzedPath[];
  readonly notUnderstood: readonly NotUnderstoodPlace[];
  readonly hasLoops: boolean;
}

/** Source whose transactions are not known, so nothing green is said of them. */
export interface NotUnderstoodPlace {
  readonly place: Place;
  readonly reason: string;
}

export type AnalyzedPath = readonly AnalyzedStatement[];

export interface AnalyzedStatement {
  readonly statement: Statement;
  /** As in the path. */
  readonly piece: number;
  readonly conditions: readonly Value[];
  readonly moments: Moments;
  readonly readsSnapshot: SnapshotReads;
  readonly findsOneRow: boolean;
  /** Of a SELECT from one table: its columns, by the names that the result has for them. */
  readonly shows: ReadonlyMap<string, string>;
  readonly isUndone: boolean;
}

type Reading = Pick<AnalyzedStatement, 'moments' | 'readsSnapshot' | 'findsOneRow' | 'shows'>;

const nothingRead: Reading = { moments: [], readsSnapshot: 'none', findsOneRow: false, shows: new Map() };

export function transactionsOf(application: Application, schema: Schema): readonly AnalyzedTransaction[] {
  return application.units.flatMap((unit) => {
    const found = transactionsIn(unit.steps);
    return found.map((one) => analyzed(one, unit, found.length === 1, schema));
  });
}

/** What a unit has beside its transactions that was not understood. */
export function notUnderstoodInUnit(steps: readonly UnitStep[]): readonly NotUnderstoodPlace[] {
  return steps.flatMap((step) => {
    if (step.kind === 'not-understood') return [step];
    if (step.kind === 'branch') return notUnderstoodInUnit([...step.ifTrue, ...step.ifFalse]);
    return step.kind === 'loop' ? notUnderstoodInUnit(step.steps) : [];
  });
}

function transactionsIn(steps: readonly UnitStep[]): readonly (Transaction | Statement)[] {
  return steps.flatMap((step) => {
    if (step.kind === 'transaction' || step.kind === 'statement') return [step];
    if (step.kind === 'branch') return transactionsIn([...step.ifTrue, ...step.ifFalse]);
    return step.kind === 'loop' ? transactionsIn(step.steps) : [];
  });
}

function analyzed(one: Transaction | Statement, unit: Unit, isOnly: boolean, schema: Schema): AnalyzedTransaction {
  const isAutocommit = one.kind === 'statement';
  const steps = isAutocommit ? [one] : one.steps;
  return {
    name: isOnly ? unit.name : `${unit.name} > ${isAutocommit ? `line ${one.place.line}` : one.name}`,
    unit,
    place: one.place,
    level: isAutocommit ? null : one.level,
    isAutocommit,
    steps,
    ...analyzedSteps(steps, one.place, schema),
  };
}

/** What a transaction's steps do to rows, along each path. */
export function analyzedSteps(
  steps: readonly AnyStep[],
  place: Place,
  schema: Schema,
): Pick<AnalyzedTransaction, 'paths' | 'notUnderstood' | 'hasLoops'> {
  const { paths, hasLoops, isCut } = pathsOf(steps);
  const notUnderstood: NotUnderstoodPlace[] = [...notUnderstoodIn(steps)];
  if (isCut) notUnderstood.push({ place, reason: 'it has more paths than are followed' });
  const known = new Map<string, Reading>();
  const read = (statement: Statement): Reading => {
    const key = JSON.stringify(statement);
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = accessesOf(statement, schema);
    const reading = found.kind === 'understood' ? found : nothingRead;
    known.set(key, reading);
    if (found.kind === 'not-understood' && !notUnderstood.some((one) => one.place === statement.place))
      notUnderstood.push({ place: statement.place, reason: found.reason });
    return reading;
  };
  const withMoments = (path: Path): AnalyzedPath =>
    path.map(({ statement, ...at }) => {
      const { moments, readsSnapshot, findsOneRow, shows } = read(statement);
      return { statement, ...at, moments, readsSnapshot, findsOneRow, shows };
    });
  return { paths: paths.map(withMoments), notUnderstood, hasLoops };
}
