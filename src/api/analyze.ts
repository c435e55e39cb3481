/**
 * `moirai/analyze`: which transactions of an application can go wrong together, which level each needs, and the smallest change.
 *
 * An application is written with the builders below. `moirai analyze` on the command line also reads it from TypeScript, JavaScript and
 * recorded traffic.
 *
 * @example
 * ```ts
 * import { analyze, application, argument, column, expression, statement, transaction } from 'moirai/analyze';
 *
 * const deposit = application({
 *   dialect: 'postgres',
 *   schema: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)',
 *   units: {
 *     deposit: [
 *       transaction('deposit', null, [
 *         statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'account'),
 *         statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
 *           argument('id'),
 *           expression('+', column('account', 'balance'), argument('amount')),
 *         ]),
 *       ]),
 *     ],
 *   },
 * });
 * const { anomalies, transactions } = await analyze(deposit, { isolation: 'read committed' });
 * console.log(anomalies[0]?.name, transactions[0]?.weakest);
 * // prints: lost-update repeatable read
 * ```
 * @module
 */
import {
  type Analysis,
  analyze as analyzeApplication,
  type AnalyzeOptions as AllAnalyzeOptions,
  type Application,
  formatAnalysis as format,
} from '../analyze/index.ts';
import { isolationNamed } from '../database/index.ts';
import { plain, type Styler } from '../report/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export type { IsolationName } from '../sql/index.ts';

export {
  abort,
  analysisJson,
  application,
  argument,
  branch,
  column,
  element,
  expression,
  formatApplication,
  loop,
  statement,
  transaction,
  witnessProgram,
  type Abort,
  type Analysis,
  type Anomaly,
  type AnomalyKind,
  type AnyStep,
  type Application,
  type ApplicationDefinition,
  type Arguments,
  type Branch,
  type Change,
  type CodeRange,
  type AnomalyRun as CodeAnomalyRun,
  type CodeReport,
  type Dialect,
  type Difference as CodeDifference,
  type EntryName,
  type EntryParameter,
  type ExportedFunction,
  type Fix,
  type FormatOptions,
  type Loop,
  type NotUnderstood,
  type NotUnderstoodPlace,
  type Operand,
  type Place as SourcePlace,
  type Return,
  type RollbackToSavepoint,
  type Savepoint,
  type Statement,
  type Step as ApplicationStep,
  type Transaction as ApplicationTransaction,
  type TransactionReport,
  type Unit,
  type UnitEntry,
  type UnitRun as CodeUnitRun,
  type UnitStep,
  type UnknownValue,
  type Value as ApplicationValue,
  type WitnessDefinition,
  type WitnessSession,
} from '../analyze/index.ts';

/** At which level the database runs, and how far is searched. */
export interface AnalyzeOptions
  extends Pick<AllAnalyzeOptions, 'isolation' | 'schedulesMax' | 'signal' | 'stepsMax' | 'timeMaxMs'> {}

const analyzeOptions: OptionKinds<AnalyzeOptions> = {
  isolation: 'string!',
  schedulesMax: 'number',
  signal: 'object',
  stepsMax: 'number',
  timeMaxMs: 'number',
};

/**
 * Finds the sets of transactions that are not robust: that have runs at their levels which are not serializable. It confirms each by exploring a program of
 * a few transactions, and looks for the cheapest change that mends it. Robustness is decided as by Vandevoort, Ketsman, Koch and Neven
 * ("Robustness against Read Committed for Transaction Templates", VLDB 2021, and its successors).
 * @throws InputError `analyze/schema` where a statement of the schema fails
 *
 * @example
 * ```ts
 * import { abort, analyze, application, argument, branch, column, element, expression } from 'moirai/analyze';
 * import { formatAnalysis, formatApplication, loop, statement, transaction } from 'moirai/analyze';
 *
 * const shop = application({
 *   schema: 'CREATE TABLE items (id int PRIMARY KEY, stock int NOT NULL)',
 *   units: {
 *     order: [
 *       transaction('order', 'repeatable read', [
 *         loop('line', argument('lines'), [
 *           statement('SELECT stock FROM items WHERE id = $1', [element('line', 'id')], 'item'),
 *           branch(expression('<', column('item', 'stock'), element('line', 'count')), [abort()], [
 *             statement('UPDATE items SET stock = stock - $2 WHERE id = $1', [element('line', 'id'), element('line', 'count')]),
 *           ]),
 *         ]),
 *       ]),
 *     ],
 *   },
 * });
 * console.log(formatApplication(shop, { places: false }).split('\n')[0]);
 * // prints: unit order
 * const analysis = await analyze(shop, { isolation: 'read committed' });
 * console.log(formatAnalysis(analysis).split('\n')[0]);
 * // prints: 1 transaction in 1 unit
 * ```
 */
export async function analyze(of: Application, options: AnalyzeOptions): Promise<Analysis> {
  requireOptions('analyze', options, analyzeOptions);
  return analyzeApplication(of, { ...options, isolation: isolationNamed(options.isolation) });
}

/** The report of `moirai analyze`, with a final line break. @param style colours it; default: none */
export function formatAnalysis(analysis: Analysis, style: Styler = plain): string {
  return format(analysis, { style, files: [], invocation: 'moirai' });
}
