/**
 * The condition that a statement puts on the rows of one table: the conjuncts that are evaluated as soon as a row of it is there. A recorder
 * keeps the condition and later evaluates it on versions that the statement did not see. Outer rows and parameters are those of the
 * statement. What the row alone does not decide (a correlated subquery, a volatile function) stays undecided.
 */
import type { Frame } from '../expression.ts';
import {
  SqlError,
  type KeptCondition,
  type Row,
  type RowCondition,
  type StatementView,
  type SqlValue,
} from '../model/index.ts';
import { conditionText } from './condition-text.ts';
import { allOf, type Conjunct } from './conjunct.ts';
import type { RangeItem } from './namespace.ts';
import type { Planning } from './planning.ts';
import { generated, rowsOf as stepsOf, type Source } from './cursor.ts';
import { rowOf } from './source.ts';
import { KeptResults, type LockFunctions, type Surroundings, type Running, runningOf } from '../execution.ts';

export function rowCondition(
  item: RangeItem,
  conjuncts: readonly Conjunct[],
  planning: Planning,
): (frame: Frame) => RowCondition {
  const where = allOf(conjuncts);
  return (frame) => {
    const { budget } = frame.execution;
    return {
      matches: (row: Row) => {
        budget?.checkInterrupt();
        frame.rows[item.row] = row;
        return where === null || where(frame);
      },
      keep: () => new PastCondition(item, conjuncts, frame, planning),
      cells: item.cellsRead,
      isWritten: item.isWritten === true,
      lockedBy: item.lockedBy,
      lookUps: item.lookUps,
    };
  };
}

/** Many are kept, so it holds nothing of its statement but what decides the condition. */
class PastCondition implements KeptCondition {
  readonly #item: RangeItem;
  readonly #conjuncts: readonly Conjunct[];
  readonly #planning: Planning;
  readonly #past: PastFrame;
  readonly #execution: PastExecution;
  #asked: Frame | null = null;

  constructor(item: RangeItem, conjuncts: readonly Conjunct[], frame: Frame, planning: Planning) {
    this.#item = item;
    this.#conjuncts = conjuncts;
    this.#planning = planning;
    this.#past = copyOf(frame);
    this.#execution = copyOfExecution(runningOf(frame));
  }

  text(): string {
    return conditionText(this.#conjuncts, this.#item.name, this.#execution.parameters, this.#planning);
  }

  holds(values: readonly SqlValue[]): boolean | null {
    if (values.length !== (this.#item.table?.cells.length ?? 0)) return null;
    this.#asked ??= pastFrame(this.#past, pastExecution(this.#execution));
    return allHold(this.#conjuncts, this.#asked, this.#item.row, values);
  }
}

function allHold(
  conjuncts: readonly Conjunct[],
  frame: Frame,
  row: number,
  values: readonly SqlValue[],
): boolean | null {
  frame.rows[row] = rowOf(values);
  let isDecided = true;
  for (const { expression } of conjuncts) {
    try {
      if (expression.evaluate(frame) !== true) return false;
    } catch (error) {
      // The statement never evaluated this row: an error in it (a division by zero) says nothing.
      if (!(error instanceof SqlError)) throw error;
      isDecided = false;
    }
  }
  return isDecided ? true : null;
}

/** A relation that is computed from the catalog: a recorder can ask later how many rows satisfy the condition then. */
export function catalogSource(
  source: Source,
  item: RangeItem,
  rowsOf: (frame: Frame) => Iterable<Row>,
  conjuncts: readonly Conjunct[],
  planning: Planning,
): Source {
  return generated(function* ask(frame) {
    const { parameters, surroundings } = frame.execution;
    const past = copyOf(frame);
    surroundings.onCatalogQuery({
      relation: item.systemName ?? item.name,
      text: () => conditionText(conjuncts, item.name, parameters, planning),
      rows: () => {
        const now = pastFrame(past, pastExecution({ parameters, surroundings, kept: new KeptResults() }));
        return [...rowsOf(now)].filter(({ values }) => allHold(conjuncts, now, item.row, values as SqlValue[]) === true)
          .length;
      },
    });
    yield* stepsOf(source, frame);
  });
}

/** A frame without the execution. */
interface PastFrame {
  readonly rows: Frame['rows'];
  readonly computed: Frame['computed'];
  readonly outer: PastFrame | null;
}

type PastExecution = Pick<Running, 'parameters' | 'surroundings' | 'kept'>;

/** The rows around, as they are now: the executor sets others later. */
function copyOf({ rows, computed, outer }: Frame): PastFrame {
  return { rows: [...rows], computed: [...computed], outer: outer === null ? null : copyOf(outer) };
}

function copyOfExecution({ parameters, surroundings, kept }: Running): PastExecution {
  return { parameters, surroundings, kept };
}

function pastFrame({ rows, computed, outer }: PastFrame, execution: Running): Frame {
  return { rows, computed, execution, outer: outer === null ? null : pastFrame(outer, execution) };
}

function pastExecution({ parameters, surroundings, kept }: PastExecution): Running {
  const aggregated = { fromSome: false, fromNone: false };
  return { parameters, surroundings: pastSurroundings(surroundings), kept, aggregated, view: pastView };
}

function undecided(): never {
  throw new SqlError('0A000', 'the row alone does not decide this condition');
}

const pastView: StatementView = {
  scan: undecided,
  lock: undecided,
  lockRow: undecided,
  insert: undecided,
  update: undecided,
  delete: undecided,
  constraintQuery: undecided,
  isOwn: undecided,
  isCurrent: undecided,
  isUnique: undecided,
  undo: undecided,
};

const pastLocks: LockFunctions = {
  lock: undecided,
  tryLock: undecided,
  unlock: undecided,
  unlockAll: undecided,
  lockWithin: undecided,
  holder: undecided,
  sleep: undecided,
};

/** Volatile functions gave the statement values that no one can ask for again. */
function pastSurroundings(surroundings: Surroundings): Surroundings {
  return Object.assign(Object.create(surroundings) as Surroundings, {
    clock: undecided,
    random: undecided,
    setSetting: undecided,
    nextValue: undecided,
    currentValue: undecided,
    setValue: undecided,
    locks: pastLocks,
    signal: undecided,
  });
}
