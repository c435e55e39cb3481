/** A failing run of a SQL program as a picture: statements in the order of the schedule, transactions as boxes, who read whose rows. */
import type { Profile } from '../database/index.ts';
import type { TransactionIndex } from '../history/index.ts';
import {
  type DraftPicture,
  type DraftStep,
  emptyRun,
  emptyStep,
  initialOf,
  pictureEdges,
  type PictureTransaction,
  type RunPicture,
  stepsWithReads,
  type TransactionEnd,
} from '../report/index.ts';
import { causeOf } from './anomaly-text.ts';
import type { SqlFailure } from './sql-failure.ts';
import { drawStatements, type LoggedStatement } from './statement-log.ts';
import { type OperationPlace, operationsOfStatements } from './statement-operations.ts';

/** @param count how many runs end like this, where they are counted */
export function sqlRunPicture(
  failure: SqlFailure,
  {
    profile,
    count,
    replay,
  }: { readonly profile: Profile; readonly count: string | null; readonly replay: string | null },
): RunPicture {
  const { statements, history, message } = failure;
  const sessions = sessionsIn(statements);
  const boxes = boxesOf(failure);
  const steps = drawStatements(statements).map((drawn): DraftStep => {
    const { statement, part, takesSnapshot, readsOlder } = drawn;
    const box = boxes.findIndex((each) => each.statements.includes(statement));
    const isEnd = part !== 'begin';
    return {
      ...emptyStep,
      session: sessions.indexOf(statement.session),
      transaction: box,
      part,
      text: statement.sql,
      parameters: statement.parameters,
      outcome: isEnd ? statement.outcome : '',
      isError: isEnd && statement.isError,
      waitedFor: isEnd ? statement.waitedFor : null,
      takesSnapshot,
      readsOlder,
      ends: isEnd && boxes[box]?.statements.at(-1) === statement ? (boxes[box]?.end ?? null) : null,
      places: isEnd ? (boxes[box]?.places.get(statement) ?? []) : [],
    };
  });
  const draft: DraftPicture = {
    history,
    older: null,
    sessions,
    transactions: boxes.map((box) => pictureTransaction(box, failure, sessions)),
    steps,
    boxOf: new Map(boxes.flatMap(({ transaction }, box) => (transaction === null ? [] : [[transaction, box]]))),
  };
  const cause = causeOf(failure, profile);
  return {
    ...emptyRun,
    message,
    count,
    cause: [...failure.plan.map((clause) => `with ${clause}`), ...(cause === null ? [] : [cause.text])],
    cycle: cause === null ? [] : pictureEdges(draft, cause.cycle, cause.sentences),
    replay,
    state: 'sessions',
    sessions,
    transactions: draft.transactions,
    steps: stepsWithReads(draft),
    initial: initialOf(history),
  };
}

/** In the order of the program; the invariant comes last. */
function sessionsIn(statements: readonly LoggedStatement[]): string[] {
  const inOrder = statements.toSorted((a, b) => a.connection - b.connection);
  return [...new Set(inOrder.map(({ session }) => session))];
}

/** What a connection sent until no transaction of it was open. */
interface Box {
  readonly statements: readonly LoggedStatement[];
  readonly places: ReadonlyMap<LoggedStatement, readonly OperationPlace[]>;
  /** `null`: it read and wrote no row. */
  readonly transaction: TransactionIndex | null;
  readonly end: TransactionEnd | null;
}

/** In the order in which they began. */
function boxesOf({ statements, history, operationTimes }: SqlFailure): Box[] {
  const places = operationsOfStatements(statements, history, operationTimes);
  const byStatement = new Map(statements.map((statement, i) => [statement, places[i] ?? []]));
  const open = new Map<number, LoggedStatement[]>();
  const all: LoggedStatement[][] = [];
  for (const statement of statements) {
    const box = open.get(statement.connection) ?? [];
    if (box.length === 0) all.push(box);
    box.push(statement);
    open.set(statement.connection, statement.endsTransaction ? [] : box);
  }
  return all.map((box) => {
    const transaction = box.flatMap((each) => byStatement.get(each) ?? [])[0]?.transaction ?? null;
    const status = transaction === null ? null : history.transactions[transaction]?.status;
    const end = status === 'committed' || status === 'aborted' ? status : endOf(box);
    return { statements: box, places: byStatement, transaction, end };
  });
}

/** Of one that is not in the history; `null`: it was left open. */
function endOf(box: readonly LoggedStatement[]): TransactionEnd | null {
  const last = box.at(-1);
  if (last === undefined || !last.endsTransaction) return null;
  return last.isError || /^\s*rollback\b/i.test(last.sql) ? 'aborted' : 'committed';
}

function pictureTransaction(
  { statements, transaction, end }: Box,
  { history }: SqlFailure,
  sessions: readonly string[],
): PictureTransaction {
  const [first] = statements;
  const name = transaction === null ? (first?.connectionName ?? '') : (history.transactions[transaction]?.id ?? '');
  return { name, session: sessions.indexOf(first?.session ?? ''), status: end ?? 'unknown' };
}
