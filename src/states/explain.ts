/** Verdicts of commit tests in plain words: executions as orders with states, failures as sentences that name transactions by ID. */
import { INITIAL, type Operation, type TransactionIndex } from '../history/index.ts';
import type { CommitTestVerdict, JudgedExecution, JudgedTransaction, Obstacle } from './commit-test.ts';
import { cellOf, type Execution, executionOf, parentState, type StatePosition } from './execution.ts';
import type { Failure } from './failures.ts';
import type { ObservedTransactions } from './observed.ts';

/** One line. */
export function summarizeCommitTest(observed: ObservedTransactions, verdict: CommitTestVerdict): string {
  switch (verdict.kind) {
    case 'satisfied':
      return `satisfied by the execution ${orderText(observed, verdict.execution.order)}`;
    case 'violated':
      return summarizeObstacles(observed, verdict.obstacles);
    case 'unknown':
      return `unknown: ${unknownReasons[verdict.reason]}`;
  }
}

const unknownReasons = {
  'step-limit': 'the search reached its limit of steps',
  'transaction-limit': 'more transactions than the limit',
  'time-limit': 'stopped by --max-time',
  'missing-times': 'strict-serializable needs the start and end of every transaction',
};

function summarizeObstacles(observed: ObservedTransactions, obstacles: readonly Obstacle[]): string {
  const names = listed(obstacles.map(({ transaction }) => nameOf(observed, transaction)));
  if (obstacles.some(({ conflictsWith }) => conflictsWith.length > 0)) return `violated: ${names} never pass together`;
  return `violated: ${names} ${obstacles.length === 1 ? 'passes' : 'pass'} in no execution`;
}

/** What was found, in lines: each transaction with its read states, or each obstacle with what stands in its way. */
export function explainCommitTest(observed: ObservedTransactions, verdict: CommitTestVerdict): string[] {
  switch (verdict.kind) {
    case 'satisfied':
      return verdict.execution.transactions.map((transaction) => transactionText(observed, transaction));
    case 'violated':
      return verdict.obstacles.flatMap((obstacle) => explainObstacle(observed, obstacle));
    case 'unknown':
      return [];
  }
}

function explainObstacle(
  observed: ObservedTransactions,
  { transaction, conflictsWith, execution }: Obstacle,
): string[] {
  const name = nameOf(observed, transaction);
  const others = listed(conflictsWith.map((t) => nameOf(observed, t)));
  const pass = conflictsWith.length === 1 ? 'passes' : 'pass';
  if (execution === undefined)
    return [others === '' ? `${name} never passes` : `${name} never passes where ${others} ${pass}`];
  const where = `in the order ${orderText(observed, execution.order)}`;
  const lead =
    others === '' ? `${name} never passes; ${where}:` : `where ${others} ${pass}, ${name} does not; ${where}:`;
  return [lead, ...explainFailures(observed, execution, transaction).map((line) => `  ${line}`)];
}

/** Why a transaction fails in an execution, a line each. */
export function explainFailures(
  observed: ObservedTransactions,
  execution: JudgedExecution,
  transaction: TransactionIndex,
): string[] {
  const e = executionOf(observed, execution.order);
  const found = execution.transactions.find((judged) => judged.transaction === transaction);
  return (found?.failures ?? []).map((failure) => failureText(e, transaction, failure));
}

function failureText(e: Execution, t: TransactionIndex, failure: Failure): string {
  const name = nameOf(e.observed, t);
  const operation = (o: number): Operation => e.observed.transactions[t]?.operations[o];
  const read = (o: number): string => `${name} reads ${cellText(operation(o))}`;
  switch (failure.kind) {
    case 'no-read-state':
      return `${read(failure.operation)}, ${unreadText(e, t, failure.operation)}`;
    case 'not-in-parent':
      return `${read(failure.operation)}, as in ${statesText(failure.readStates)}; ${parentText(e, t, operation(failure.operation).key)}`;
    case 'no-complete-state':
      return `no single state shows all that ${name} reads: ${readsText(e.observed, t, failure.readStates)}`;
    case 'conflict':
      return `state ${failure.state} shows all that ${name} reads, but ${nameOf(e.observed, failure.by)} wrote a key of ${name} after it`;
    case 'session':
      return `state ${failure.state} shows all that ${name} reads, but ${nameOf(e.observed, failure.missed)}, earlier in its session, is not in it`;
    case 'fracture':
      return `${read(failure.seen)}, which ${nameOf(e.observed, failure.by)} wrote, and ${cellText(operation(failure.missed))}, from before ${nameOf(e.observed, failure.by)}`;
    case 'unseen':
      return `${name} depends on ${nameOf(e.observed, failure.by)}, but reads ${cellText(operation(failure.operation))}, from before it`;
    case 'real-time':
      return `${nameOf(e.observed, failure.missed)} ended before ${name} started, but comes after it`;
  }
}

function parentText(e: Execution, t: TransactionIndex, key: string): string {
  const parent = parentState(e, t);
  const { value, writer } = cellOf(e.states[parent], key);
  const whose = writer === INITIAL ? 'from the start' : `by ${nameOf(e.observed, writer)}`;
  return `its parent, state ${parent}, has ${cellText({ key, value })} ${whose}`;
}

function unreadText(e: Execution, t: TransactionIndex, operation: number): string {
  const operations = e.observed.transactions[t]?.operations ?? [];
  const { key } = operations[operation];
  const own = operations.findLast((o, i) => i < operation && o.kind === 'write' && o.key === key);
  return own === undefined
    ? `which no state up to its parent, state ${parentState(e, t)}, shows`
    : `but wrote ${cellText(own)} itself`;
}

function transactionText(
  observed: ObservedTransactions,
  { transaction, parent, readStates }: JudgedTransaction,
): string {
  const reads = readsText(observed, transaction, readStates);
  const what = reads === '' ? 'reads nothing' : `reads ${reads}`;
  return `${nameOf(observed, transaction)}, from state ${parent} to state ${parent + 1}, ${what}`;
}

/** Each read with the states that it may have read from. */
function readsText(
  observed: ObservedTransactions,
  t: TransactionIndex,
  readStates: readonly (readonly StatePosition[])[],
): string {
  const operations = observed.transactions[t]?.operations ?? [];
  return listed(
    operations.flatMap((o, i) => (o.kind === 'read' ? [`${cellText(o)} in ${statesText(readStates[i] ?? [])}`] : [])),
  );
}

function orderText(observed: ObservedTransactions, order: readonly TransactionIndex[]): string {
  return order.length === 0 ? 'of no transactions' : order.map((t) => nameOf(observed, t)).join(', ');
}

function nameOf({ transactions }: ObservedTransactions, t: TransactionIndex): string {
  return transactions[t]?.id ?? String(t);
}

function cellText({ key, value }: { readonly key: string; readonly value: Operation['value'] }): string {
  return `${key} = ${JSON.stringify(value)}`;
}

/** `state 2`, `states 0 to 2`, `states 0, 3`. */
function statesText(states: readonly StatePosition[]): string {
  const [first, last] = [states[0], states.at(-1)];
  if (first === undefined || last === undefined) return 'no state';
  if (first === last) return `state ${first}`;
  return last - first === states.length - 1 ? `states ${first} to ${last}` : `states ${states.join(', ')}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
