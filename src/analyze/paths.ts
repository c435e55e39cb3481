/** The ways through a transaction: which of its statements run, one after another. */
import type {
  AnyStep,
  Branch,
  Loop,
  Place,
  RollbackToSavepoint,
  Savepoint,
  Statement,
  Step,
  Transaction,
  Value,
} from './application.ts';

export interface PathStatement {
  readonly statement: Statement;
  /** Number of its transaction along the path of a unit; in the steps of one transaction it says nothing. */
  readonly piece: number;
  /** Of the branches that decided that it runs, as they held, and what loops are over. */
  readonly conditions: readonly Value[];
  /** A rollback to a savepoint took back what it wrote and the locks that it had. */
  readonly isUndone: boolean;
}

export type Path = readonly PathStatement[];

export interface Paths {
  /** Those that commit. */
  readonly paths: readonly Path[];
  readonly hasLoops: boolean;
  /** Are there more than were walked? */
  readonly isCut: boolean;
}

/**
 * Both sides of every branch, whatever its condition; a loop no time, once and twice, each time with elements and results of its own: a cycle of
 * conflicts touches at most two statements of one instance.
 */
export function pathsOf(steps: readonly AnyStep[]): Paths {
  const walk = new Walk();
  const paths = walk.through(steps, [{ items: [], conditions: [], end: 'open' }]);
  const committed = paths.filter(({ end }) => end !== 'abort').map(({ items }) => withoutUndone(items));
  const keyOf = (path: Path): string => JSON.stringify(path.map(({ statement, isUndone }) => [statement, isUndone]));
  const unique = new Map(committed.map((path) => [keyOf(path), path] as const));
  return { paths: [...unique.values()], hasLoops: walk.hasLoops, isCut: walk.isCut };
}

interface Item {
  readonly step: Statement | Savepoint | RollbackToSavepoint;
  readonly piece: number;
  readonly conditions: readonly Value[];
}

interface UnfinishedPath {
  readonly items: readonly Item[];
  /** Of the branches in which it is, and of those that another side left for good. */
  readonly conditions: readonly Value[];
  readonly end: 'open' | 'return' | 'abort';
}

const pathsMax = 128;
const timesMax = 2;

class Walk {
  hasLoops = false;
  isCut = false;
  #pieces = 0;
  #isInTransaction = false;

  through(steps: readonly AnyStep[], from: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    let all = from;
    for (const step of steps) {
      const ended = all.filter(({ end }) => end !== 'open');
      const open = all.filter(({ end }) => end === 'open');
      if (open.length === 0) break;
      all = [...ended, ...this.#step(step, open)];
      if (all.length > pathsMax) {
        this.isCut = true;
        all = all.slice(0, pathsMax);
      }
    }
    return all;
  }

  #step(step: AnyStep, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    switch (step.kind) {
      case 'statement':
        if (!this.#isInTransaction) this.#pieces += 1;
        return this.#with(step, open);
      case 'savepoint':
      case 'rollback-to-savepoint':
        return this.#with(step, open);
      case 'transaction':
        return open.flatMap((path) => this.#transaction(step, path));
      case 'branch':
        return this.#branch(step, open);
      case 'loop':
        return this.#loop(step, open);
      case 'abort':
      case 'return':
        return open.map((path) => ({ ...path, end: step.kind }));
      case 'not-understood':
        return open;
    }
  }

  #with(step: Item['step'], open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    const piece = this.#pieces;
    return open.map((path) => ({
      ...path,
      items: [...path.items, { step, piece, conditions: path.conditions }],
    }));
  }

  /** Of a unit. Its abort is a throw, which ends the unit. */
  #transaction({ steps }: Transaction, path: UnfinishedPath): readonly UnfinishedPath[] {
    this.#pieces += 1;
    this.#isInTransaction = true;
    const ended = this.through(steps, [path]);
    this.#isInTransaction = false;
    const mayAbort = ended.some(({ end }) => end === 'abort');
    return ended.map((one): UnfinishedPath => {
      if (one.end === 'abort') return { ...path, end: 'return' };
      return { ...one, conditions: mayAbort ? one.conditions : path.conditions, end: 'open' };
    });
  }

  #branch({ condition, ifTrue, ifFalse }: Branch<AnyStep>, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    const negated: Value = { kind: 'expression', operator: 'not', operands: [condition] };
    const inside = (held: Value): readonly UnfinishedPath[] =>
      open.map((path) => ({ ...path, conditions: [...path.conditions, held] }));
    const all = [...this.through(ifTrue, inside(condition)), ...this.through(ifFalse, inside(negated))];
    // Where both sides lead on, what follows does not depend on the condition.
    if (all.some(({ end }) => end !== 'open')) return all;
    const isOther = (one: Value): boolean => one !== condition && one !== negated;
    return all.map((path) => ({ ...path, conditions: path.conditions.filter(isOther) }));
  }

  #loop(loop: Loop<AnyStep>, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    this.hasLoops = true;
    const all: UnfinishedPath[] = [...open];
    let last: readonly UnfinishedPath[] = open.map((path) => ({
      ...path,
      conditions: [...path.conditions, loop.over],
    }));
    for (let time = 1; time <= timesMax; time += 1) {
      last = this.through(iteration(loop, time), last);
      all.push(...last);
      last = last.filter(({ end }) => end === 'open');
    }
    return all.map((path) => ({ ...path, conditions: path.conditions.filter((one) => one !== loop.over) }));
  }
}

/** The steps of one time around, with names of their own for the element and for results. */
function iteration({ name, steps }: Loop<AnyStep>, time: number): readonly AnyStep[] {
  const results = new Set(statementsIn(steps).flatMap(({ result }) => result ?? []));
  const rename = (old: string): string => (old === name || results.has(old) ? `${old}#${time}` : old);
  return renamed(steps, rename);
}

export function statementsIn(steps: readonly AnyStep[]): readonly Statement[] {
  return steps.flatMap((step) => {
    if (step.kind === 'statement') return [step];
    if (step.kind === 'branch') return [...statementsIn(step.ifTrue), ...statementsIn(step.ifFalse)];
    return step.kind === 'loop' || step.kind === 'transaction' ? statementsIn(step.steps) : [];
  });
}

function renamed(steps: readonly AnyStep[], rename: (name: string) => string): readonly AnyStep[] {
  const value = (old: Value): Value => renamedValue(old, rename);
  return steps.map((step): AnyStep => {
    switch (step.kind) {
      case 'statement':
        return {
          ...step,
          parameters: step.parameters.map(value),
          result: step.result === null ? null : rename(step.result),
        };
      case 'branch':
        return {
          ...step,
          condition: value(step.condition),
          ifTrue: renamed(step.ifTrue, rename),
          ifFalse: renamed(step.ifFalse, rename),
        };
      case 'loop':
        return { ...step, over: value(step.over), steps: renamed(step.steps, rename) };
      case 'transaction':
        // The steps of a transaction are renamed, not changed in kind.
        return { ...step, steps: renamed(step.steps, rename) as readonly Step[] };
      default:
        return step;
    }
  });
}

function renamedValue(value: Value, rename: (name: string) => string): Value {
  switch (value.kind) {
    case 'column':
    case 'rows':
    case 'row-count':
      return { ...value, statement: rename(value.statement) };
    case 'element':
      return { ...value, loop: rename(value.loop) };
    case 'expression':
      return { ...value, operands: value.operands.map((each) => renamedValue(each, rename)) };
    default:
      return value;
  }
}

function withoutUndone(items: readonly Item[]): Path {
  const path: PathStatement[] = [];
  const since = new Map<string, number>();
  for (const { step, piece, conditions } of items) {
    if (step.kind === 'statement') path.push({ statement: step, piece, conditions, isUndone: false });
    else if (step.kind === 'savepoint') since.set(step.name, path.length);
    else
      for (let at = since.get(step.name) ?? path.length; at < path.length; at += 1)
        path[at] = { ...(path[at] as PathStatement), isUndone: true };
  }
  return path;
}

/** Where the transaction has code that was not understood. */
export function notUnderstoodIn(
  steps: readonly AnyStep[],
): readonly { readonly place: Place; readonly reason: string }[] {
  return steps.flatMap((step) => {
    if (step.kind === 'not-understood') return [step];
    if (step.kind === 'branch') return notUnderstoodIn([...step.ifTrue, ...step.ifFalse]);
    return step.kind === 'loop' || step.kind === 'transaction' ? notUnderstoodIn(step.steps) : [];
  });
}
