/** The ways through a transaction: which of its statements run, one after another. */
import { fails } from './compute-value.ts';
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
  /** It failed, or its transaction did. */
  readonly isUndone?: true;
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
    const all = [
      ...this.through(ifTrue, this.#withFailures(condition, inside(condition))),
      ...this.through(ifFalse, isFailure(condition) ? inside(negated) : this.#withFailures(condition, inside(negated))),
    ];
    // Where both sides lead on, what follows does not depend on the condition.
    if (all.some(({ end }) => end !== 'open')) return all;
    const isOther = (one: Value): boolean => one !== condition && one !== negated;
    return all.map((path) => ({ ...path, conditions: path.conditions.filter(isOther) }));
  }

  /** Besides as they are, the paths on which a statement failed that the condition names. */
  #withFailures(condition: Value, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    const named = failuresIn(condition);
    if (named.size === 0) return open;
    const isNamed = ({ step }: Item): boolean => step.kind === 'statement' && isOneOf(step.result, named);
    return open.flatMap((path) => {
      const failing = path.items.filter((item) => isNamed(item) && item.isUndone !== true);
      return [path, ...failing.map((item) => ({ ...path, items: this.#without(path.items, item, isNamed) }))];
    });
  }

  /** The steps where one failed: its transaction is rolled back where it ends there, and what stands behind it has not happened. */
  #without(items: readonly Item[], failed: Item, isNamed: (item: Item) => boolean): readonly Item[] {
    const at = items.indexOf(failed);
    const isOpen = this.#isInTransaction && failed.piece === this.#pieces;
    return items.flatMap((item, index): readonly Item[] => {
      if (index === at || (!isOpen && item.piece === failed.piece)) return [{ ...item, isUndone: true }];
      return index > at && isNamed(item) ? [] : [item];
    });
  }

  #loop(loop: Loop<AnyStep>, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    this.hasLoops = true;
    const all: UnfinishedPath[] = [...open];
    let last: readonly UnfinishedPath[] = open;
    for (let time = 1; time <= timesMax; time += 1) {
      const element = eachOf(loop, time);
      last = this.through(
        iteration(loop, time),
        last.map((path) => ({ ...path, conditions: [...path.conditions, element] })),
      );
      all.push(...last);
      last = last.filter(({ end }) => end === 'open');
    }
    // Where an element may end the path, what follows runs because of all of them.
    if (all.some(({ end }) => end !== 'open'))
      return all.map((path) => ({ ...path, conditions: [...path.conditions, eachOf(loop, 0)] }));
    const own = new Set(range(timesMax).map((at) => JSON.stringify(eachOf(loop, at + 1))));
    return all.map((path) => ({
      ...path,
      conditions: path.conditions.filter((one) => !own.has(JSON.stringify(one))),
    }));
  }
}

function isFailure(condition: Value): boolean {
  return condition.kind === 'expression' && condition.operator === fails;
}

/** Names of results. */
function failuresIn(condition: Value): ReadonlySet<string> {
  if (condition.kind !== 'expression') return new Set();
  const { operands } = condition;
  if (!isFailure(condition)) return new Set(operands.flatMap((one) => [...failuresIn(one)]));
  return new Set(operands.flatMap((one) => (one.kind === 'row-count' ? [one.statement] : [])));
}

/** On what each step of a loop depends: whether there is such an element. */
function eachOf({ name, over }: Loop<AnyStep>, time: number): Value {
  const element: Value = { kind: 'element', loop: time === 0 ? name : `${name}#${time}`, field: null };
  return { kind: 'expression', operator: ofEach, operands: [element, over] };
}

/** Of a condition: the element of a loop, and what the loop is over. */
export const ofEach = 'each';

/** Is it the result of a name, or of one of the times around a loop? */
export function isOneOf(result: string | null, names: { readonly has: (name: string) => boolean }): boolean {
  for (let name = result; name !== null; name = /^(.*)#\d+$/.exec(name)?.[1] ?? null) if (names.has(name)) return true;
  return false;
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
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

/** The steps, with each of their statements as `change` makes it. */
export function mapStatements<Of extends AnyStep>(
  steps: readonly Of[],
  change: (statement: Statement) => Statement,
): readonly Of[] {
  const changed = (step: AnyStep): AnyStep => {
    switch (step.kind) {
      case 'statement':
        return change(step);
      case 'transaction':
        return { ...step, steps: mapStatements(step.steps, change) };
      case 'loop':
        return { ...step, steps: mapStatements(step.steps, change) };
      case 'branch':
        return { ...step, ifTrue: mapStatements(step.ifTrue, change), ifFalse: mapStatements(step.ifFalse, change) };
      default:
        return step;
    }
  };
  // Each step keeps its kind.
  return steps.map((step) => changed(step) as Of);
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
    case 'unknown':
      return value.from === undefined
        ? value
        : { ...value, from: value.from.map((each) => renamedValue(each, rename)) };
    default:
      return value;
  }
}

function withoutUndone(items: readonly Item[]): Path {
  const path: PathStatement[] = [];
  const since = new Map<string, number>();
  for (const { step, piece, conditions, isUndone = false } of items) {
    if (step.kind === 'statement') path.push({ statement: step, piece, conditions, isUndone });
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
