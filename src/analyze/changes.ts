/** Changes of transactions that may make them serializable, cheapest first: a lock on what is read, a raised level. */
import { type IsolationName, statementTree } from '../sql/index.ts';
import type { AnyStep, Dialect, Place, Statement, Step } from './application.ts';
import { engineOf } from './engines.ts';
import type { WitnessDefinition } from './witness-definition.ts';
import { statementsIn } from './paths.ts';
import type { Schema } from './schema.ts';
import { analyzedSteps, type AnalyzedTransaction } from './transactions.ts';

/** A change of one transaction. */
export type Change =
  /** Of the rows of one SELECT. */
  | {
      readonly kind: 'lock';
      readonly clause: 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED';
      readonly transaction: string;
      readonly place: Place;
      readonly sql: string;
      /** As of `Statement`. */
      readonly rawCall?: string;
    }
  | {
      readonly kind: 'level';
      readonly transaction: string;
      readonly level: IsolationName;
      /** The error after which the transaction is to be tried again. */
      readonly retryOn: string;
    }
  /** One transaction around all statements of a unit, which `transaction` names. */
  | { readonly kind: 'around'; readonly transaction: string; readonly place: Place };

/** Two levels up cost more than two locks: a raised level asks for a retry of each transaction that the database then refuses. */
const costs = {
  around: 0,
  lock: 1,
  'repeatable read': 2,
  serializable: 3,
  'read committed': 0,
  'read uncommitted': 0,
} as const;

function costOfChanges(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + costs[change.kind === 'level' ? change.level : change.kind], 0);
}

type LockClause = Extract<Change, { kind: 'lock' }>['clause'];

/** Every lock, every two, each raised level, all levels raised: by cost. @param levelOf as it is now */
export function candidateChanges(
  transactions: readonly AnalyzedTransaction[],
  levelOf: (transaction: AnalyzedTransaction) => IsolationName,
  dialect: Dialect,
): readonly (readonly Change[])[] {
  const retryOn = engineOf[dialect].retriedError;
  const locksWith = (clause: LockClause): readonly Change[] =>
    transactions.flatMap((transaction) =>
      lockableIn(transaction.steps, dialect).flatMap(({ sql, place, rawCall }): Change[] =>
        clause === 'FOR UPDATE' || takesAny(sql, dialect)
          ? [
              {
                kind: 'lock',
                clause,
                transaction: transaction.name,
                place,
                sql,
                ...(rawCall === undefined ? {} : { rawCall }),
              },
            ]
          : [],
      ),
    );
  const locks = locksWith('FOR UPDATE');
  const raised = (level: IsolationName): readonly Change[] =>
    transactions.flatMap((one): Change[] =>
      costs[levelOf(one)] < costs[level] ? [{ kind: 'level', transaction: one.name, level, retryOn }] : [],
    );
  const levels = (['repeatable read', 'serializable'] as const).map(raised);
  const pairs = locks.slice(0, locksMax).flatMap((a, at) => locks.slice(at + 1, locksMax).map((b) => [a, b]));
  const all = [
    ...[...locks, ...locksWith('FOR UPDATE SKIP LOCKED')].map((one) => [one]),
    ...pairs,
    ...levels.flat().map((one) => [one]),
    ...levels,
  ];
  return all.filter((changes) => changes.length > 0).toSorted((a, b) => costOfChanges(a) - costOfChanges(b));
}

const locksMax = 8;

/** SELECTs of rows that take FOR UPDATE: no aggregate, no lock yet. */
function lockableIn(steps: readonly AnyStep[], dialect: Dialect): readonly Statement[] {
  return statementsIn(steps).filter(({ sql }) => {
    const tree = statementTree(sql, dialect);
    if (tree === null || !('SelectStmt' in tree)) return false;
    const { lockingClause, groupClause, distinctClause, op, fromClause } = tree.SelectStmt;
    const isPlain = lockingClause === undefined && groupClause === undefined && distinctClause === undefined;
    return (
      isPlain &&
      fromClause !== undefined &&
      op === 'SETOP_NONE' &&
      !/"FuncCall"/.test(JSON.stringify(tree.SelectStmt.targetList))
    );
  });
}

/** Any of the rows of one table that satisfy a condition will do, as for a worker of a queue: LIMIT, and nothing that the caller says. */
function takesAny(sql: string, dialect: Dialect): boolean {
  const tree = statementTree(sql, dialect);
  if (tree === null || !('SelectStmt' in tree)) return false;
  const { fromClause = [], limitCount, limitOffset, whereClause } = tree.SelectStmt;
  const isOfOneTable = fromClause.length === 1 && fromClause.every((node) => 'RangeVar' in node);
  if (!isOfOneTable) return false;
  return (
    limitCount !== undefined && limitOffset === undefined && !/"ParamRef"/.test(JSON.stringify(whereClause ?? null))
  );
}

const lockedMax = 256;

/** Transactions with their changes: each is analysed once with the same locks. */
export class ChangedTransactions {
  readonly #schema: Schema;
  readonly #locked = new Map<AnalyzedTransaction, Map<string, AnalyzedTransaction>>();
  #count = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** With the changes that are its own. Another level leaves its paths as they are. */
  of(transaction: AnalyzedTransaction, changes: readonly Change[]): AnalyzedTransaction {
    const own = changes.filter((change) => change.transaction === transaction.name);
    const level = own.findLast((change) => change.kind === 'level')?.level ?? transaction.level;
    const locks = own.filter(({ kind }) => kind === 'lock');
    const locked = locks.length === 0 ? transaction : this.#withLocks(transaction, locks);
    return level === locked.level ? locked : { ...locked, level };
  }

  #withLocks(transaction: AnalyzedTransaction, locks: readonly Change[]): AnalyzedTransaction {
    const key = JSON.stringify(locks);
    const known = this.#locked.get(transaction)?.get(key);
    if (known !== undefined) return known;
    if (this.#count === lockedMax) {
      this.#locked.clear();
      this.#count = 0;
    }
    const steps = changedSteps(transaction.steps, locks);
    const made = { ...transaction, ...analyzedSteps(steps, transaction.place, this.#schema), steps };
    const ofTransaction = this.#locked.get(transaction) ?? new Map<string, AnalyzedTransaction>();
    this.#locked.set(transaction, ofTransaction.set(key, made));
    this.#count += 1;
    return made;
  }
}

/** @param transactionOf the transaction of a session's number */
export function changedWitness(
  definition: WitnessDefinition,
  changes: readonly Change[],
  transactionOf: (session: number) => string,
): WitnessDefinition {
  const sessions = definition.sessions.map((session, number) => {
    const own = changes.filter((change) => change.transaction === transactionOf(number));
    const level = own.findLast((change) => change.kind === 'level')?.level ?? session.level;
    return { ...session, level, steps: changedSteps(session.steps, own) };
  });
  return { ...definition, sessions };
}

function changedSteps(steps: readonly AnyStep[], changes: readonly Change[]): readonly AnyStep[] {
  return steps.map((step): AnyStep => {
    switch (step.kind) {
      case 'statement': {
        const lock = changes
          .filter((change) => change.kind === 'lock')
          .find(({ sql, place }) => sql === step.sql && isSamePlace(place, step.place));
        return lock === undefined ? step : { ...step, sql: `${step.sql.trim().replace(/;$/, '')} ${lock.clause}` };
      }
      case 'branch':
        return { ...step, ifTrue: changedSteps(step.ifTrue, changes), ifFalse: changedSteps(step.ifFalse, changes) };
      case 'loop':
        return { ...step, steps: changedSteps(step.steps, changes) };
      case 'transaction':
        return { ...step, steps: changedSteps(step.steps, changes) as readonly Step[] };
      default:
        return step;
    }
  });
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.file === b.file && a.line === b.line;
}

/** `FOR UPDATE at src/pay.ts:33`, `serializable, with a retry on 40001`. */
export function changeText(change: Change): string {
  if (change.kind === 'lock') {
    const by = change.rawCall === undefined ? '' : ` by ${change.rawCall}`;
    return `${change.clause}${by} at ${change.place.file}:${change.place.line}`;
  }
  if (change.kind === 'around') return `one transaction around ${change.transaction}`;
  return `${change.level}, with a retry on ${change.retryOn}`;
}

/** Of one transaction: all of them together. */
export function changesOfTransaction(changes: readonly Change[]): string {
  return changes.map(changeText).join(' and ');
}

/** With the name of the transaction, which a place already tells. */
function wholeText(change: Change): string {
  return change.kind !== 'level' ? changeText(change) : `${change.transaction} at ${changeText(change)}`;
}

/** `FOR UPDATE at src/pay.ts:33 and FOR UPDATE at src/pay.ts:34`; none are those that were made before. */
export function changesText(changes: readonly Change[]): string {
  return changes.length === 0 ? 'the changes above' : [...new Set(changes.map(wholeText))].join(' and ');
}
