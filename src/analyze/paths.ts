/** The ways through a transaction: which of its statements run, one after another. */
import type { Branch, Loop, Place, Savepoint, RollbackToSavepoint, Statement, Step, Value } from './application.ts';

export interface PathStatement {
  readonly statement: Statement;
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
export function pathsOf(steps: readonly Step[]): Paths {
  const walk = new Walk();
  const paths = walk.through(steps, [{ items: [], end: 'open' }]);
  const committed = paths.filter(({ end }) => end !== 'abort').map(({ items }) => withoutUndone(items));
  const unique = new Map(committed.map((path) => [JSON.stringify(path), path] as const));
  return { paths: [...unique.values()], hasLoops: walk.hasLoops, isCut: walk.isCut };
}

type Item = Statement | Savepoint | RollbackToSavepoint;

interface UnfinishedPath {
  readonly items: readonly Item[];
  readonly end: 'open' | 'return' | 'abort';
}

const pathsMax = 128;
const timesMax = 2;

class Walk {
  hasLoops = false;
  isCut = false;

  through(steps: readonly Step[], from: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
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

  #step(step: Step, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    switch (step.kind) {
      case 'statement':
      case 'savepoint':
      case 'rollback-to-savepoint':
        return open.map(({ items, end }) => ({ items: [...items, step], end }));
      case 'branch':
        return this.#branch(step, open);
      case 'loop':
        return this.#loop(step, open);
      case 'abort':
      case 'return':
        return open.map(({ items }) => ({ items, end: step.kind }));
      case 'not-understood':
        return open;
    }
  }

  #branch({ ifTrue, ifFalse }: Branch<Step>, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    return [...this.through(ifTrue, open), ...this.through(ifFalse, open)];
  }

  #loop(loop: Loop<Step>, open: readonly UnfinishedPath[]): readonly UnfinishedPath[] {
    this.hasLoops = true;
    const all: UnfinishedPath[] = [...open];
    let last = open;
    for (let time = 1; time <= timesMax; time += 1) {
      last = this.through(iteration(loop, time), last);
      all.push(...last);
      last = last.filter(({ end }) => end === 'open');
    }
    return all;
  }
}

/** The steps of one time around, with names of their own for the element and for results. */
function iteration({ name, steps }: Loop<Step>, time: number): readonly Step[] {
  const results = new Set(statementsIn(steps).flatMap(({ result }) => result ?? []));
  const rename = (old: string): string => (old === name || results.has(old) ? `${old}#${time}` : old);
  return renamed(steps, rename);
}

function statementsIn(steps: readonly Step[]): readonly Statement[] {
  return steps.flatMap((step) => {
    if (step.kind === 'statement') return [step];
    if (step.kind === 'branch') return [...statementsIn(step.ifTrue), ...statementsIn(step.ifFalse)];
    return step.kind === 'loop' ? statementsIn(step.steps) : [];
  });
}

function renamed(steps: readonly Step[], rename: (name: string) => string): readonly Step[] {
  const value = (old: Value): Value => renamedValue(old, rename);
  return steps.map((step): Step => {
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
  for (const item of items) {
    if (item.kind === 'statement') path.push({ statement: item, isUndone: false });
    else if (item.kind === 'savepoint') since.set(item.name, path.length);
    else
      for (let at = since.get(item.name) ?? path.length; at < path.length; at += 1)
        path[at] = { ...(path[at] as PathStatement), isUndone: true };
  }
  return path;
}

/** Where the transaction has code that was not understood. */
export function notUnderstoodIn(steps: readonly Step[]): readonly { readonly place: Place; readonly reason: string }[] {
  return steps.flatMap((step) => {
    if (step.kind === 'not-understood') return [step];
    if (step.kind === 'branch') return notUnderstoodIn([...step.ifTrue, ...step.ifFalse]);
    return step.kind === 'loop' ? notUnderstoodIn(step.steps) : [];
  });
}
