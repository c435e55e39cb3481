/**
 * Transactions that begin the same way, as few programs as explain them. Where two continue with different statements and an earlier result says why, they
 * are two ways of one program; where nothing does, they are two programs. One that only ends earlier is a way of the others: it was left.
 */
import type { StatementValue } from '../../trace/index.ts';
import type { Value } from '../application.ts';
import type { FoldedTransaction } from './fold-loops.ts';
import { inferCondition } from './infer-condition.ts';

/** A step of all of them, with the ways on from it. */
export interface Flow {
  /** Those that have it. */
  readonly transactions: readonly FoldedTransaction[];
  /** The place of the element at which the ways part, or at which all have ended. */
  readonly at: number;
  /** `null`: all have ended. */
  readonly next: FlowBranch | null;
  /** How those that end here ended. */
  readonly end: 'commit' | 'abort' | null;
}

export interface FlowBranch {
  /** `null`: no earlier result says when. */
  readonly condition: FlowCondition | null;
  readonly ifTrue: Flow;
  readonly ifFalse: Flow;
}

/** A condition on a result: of the element at this place. */
export interface FlowCondition {
  readonly element: number;
  /** With `result` in place of the statement's name. */
  readonly value: Value;
}

/** The name that stands for the result in a condition. */
export const resultOfElement = 'result';

/** Each is one program; the first has what ends early. */
export function flowsOf(transactions: readonly FoldedTransaction[]): readonly Flow[] {
  const found = flowFrom(transactions, 0);
  if (found.kind === 'flow') return [found.flow];
  return found.parts.flatMap((part) => flowsOf(part));
}

type Found =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'parts'; readonly parts: readonly (readonly FoldedTransaction[])[] };

function flowFrom(transactions: readonly FoldedTransaction[], from: number): Found {
  let at = from;
  for (;;) {
    const ways = waysAt(transactions, at);
    const [only] = ways.values();
    if (ways.size === 1 && only !== undefined && !isOver(only, at)) at += 1;
    else return ways.size === 1 ? ended(transactions, at) : partingAt(transactions, [...ways.values()], at);
  }
}

/** By the next element, or by how it ended. */
function waysAt(
  transactions: readonly FoldedTransaction[],
  at: number,
): ReadonlyMap<string, readonly FoldedTransaction[]> {
  const ways = new Map<string, FoldedTransaction[]>();
  for (const one of transactions) {
    const key = one.elements[at]?.key ?? `end ${one.ran.end}`;
    const way = ways.get(key);
    if (way === undefined) ways.set(key, [one]);
    else way.push(one);
  }
  return ways;
}

function isOver([first]: readonly FoldedTransaction[], at: number): boolean {
  return first === undefined || at >= first.elements.length;
}

function ended(transactions: readonly FoldedTransaction[], at: number): Found {
  const end = transactions[0]?.ran.end === 'abort' ? 'abort' : 'commit';
  return { kind: 'flow', flow: { transactions, at, next: null, end } };
}

/** One way against the others, and so on: first those that an earlier result explains. */
function partingAt(
  transactions: readonly FoldedTransaction[],
  ways: readonly (readonly FoldedTransaction[])[],
  at: number,
): Found {
  // The way that most take is the one that is taken where nothing says which.
  const sorted = ways.toSorted((a, b) => Number(isOver(b, at)) - Number(isOver(a, at)) || a.length - b.length);
  for (const way of sorted) {
    const others = transactions.filter((one) => !way.includes(one));
    const condition = conditionOf(transactions, way, at);
    if (condition === null && !isOver(way, at)) continue;
    return joined(transactions, at, condition, flowFrom(way, at), flowFrom(others, at), others, way);
  }
  return { kind: 'parts', parts: ways.toSorted((a, b) => b.length - a.length) };
}

function joined(
  transactions: readonly FoldedTransaction[],
  at: number,
  condition: FlowCondition | null,
  ifTrue: Found,
  ifFalse: Found,
  others: readonly FoldedTransaction[],
  way: readonly FoldedTransaction[],
): Found {
  // Each program that one side is, the first with the other side too.
  if (ifFalse.kind === 'parts') {
    const [first = [], ...rest] = ifFalse.parts;
    return { kind: 'parts', parts: [[...way, ...first], ...rest] };
  }
  if (ifTrue.kind === 'parts') {
    const [first = [], ...rest] = ifTrue.parts;
    return { kind: 'parts', parts: [[...first, ...others], ...rest] };
  }
  const next = { condition, ifTrue: ifTrue.flow, ifFalse: ifFalse.flow };
  return { kind: 'flow', flow: { transactions, at, next, end: null } };
}

function conditionOf(
  transactions: readonly FoldedTransaction[],
  way: readonly FoldedTransaction[],
  at: number,
): FlowCondition | null {
  const chosen = new Set(way);
  const isFirst = transactions.map((one) => chosen.has(one));
  for (let element = at - 1; element >= 0; element -= 1) {
    const value = inferCondition(isFirst, factsOf(transactions, element));
    if (value !== null) return { element, value };
  }
  return null;
}

/** The number of rows, then the columns of the first one. */
function factsOf(
  transactions: readonly FoldedTransaction[],
  element: number,
): readonly { readonly value: Value; readonly observed: readonly (StatementValue | undefined)[] }[] {
  const results = transactions.map(({ elements }) => {
    const found = elements[element];
    const [[event] = []] = found?.iterations ?? [];
    return found?.isLoop === false && event?.kind === 'statement' ? event.result : undefined;
  });
  const [first] = results;
  if (first === undefined || results.includes(undefined)) return [];
  return [
    { value: { kind: 'row-count', statement: resultOfElement }, observed: results.map((result) => result?.count) },
    ...first.columns.map((column, position) => ({
      value: { kind: 'column', statement: resultOfElement, column, row: 'first' } as const,
      observed: results.map((result) => result?.rows[0]?.[position]),
    })),
  ];
}
