/** What runs for each element of a list: of a known one, of rows, of what a function makes of another list. */
import type ts from 'typescript';
import type { Abstract } from './abstract-value.ts';
import { type Completion, normalCompletion, type Machine } from './machine.ts';
import { mappedList } from './mapped-list.ts';
import { rowsOfPaths } from './rows-of-paths.ts';
import { choose, valueOf } from './value-arithmetic.ts';
import type { Value } from '../application.ts';

const unrolledMax = 8;

/** Runs `body` for each element of a list: one after the other where they are known and few. */
export function overList(
  machine: Machine,
  list: Abstract,
  name: string,
  body: (element: Abstract) => Completion,
  at: ts.Node,
): { readonly completion: Completion; readonly isUnrolled: boolean } {
  if (list.kind === 'array' && list.elements.value.length <= unrolledMax && !list.elements.value.some(isManyElements)) {
    for (const element of list.elements.value) {
      const { end, ended } = body(element);
      if (end === 'return' || end === 'throw') return { completion: { end, ended }, isUnrolled: true };
    }
    return { completion: normalCompletion, isUnrolled: true };
  }
  const mapped = mappedList(list);
  if (mapped !== undefined) return overList(machine, mapped.list, name, body, at);
  const ofPaths = list.kind === 'choice' ? rowsOfPaths(list) : undefined;
  if (ofPaths !== undefined) return overList(machine, ofPaths, name, body, at);
  if (list.kind === 'choice') {
    const run = (side: Abstract) => (): Completion => overList(machine, side, name, body, at).completion;
    return { completion: machine.fork(list.condition, run(list.ifTrue), run(list.ifFalse)), isUnrolled: false };
  }
  return { completion: machine.loop(name, valueOf(list), body, at), isUnrolled: false };
}

/** Runs `body` for each row that a list makes, on each path with its list. */
export function eachRow(machine: Machine, list: Abstract, body: (row: Abstract) => void, at: ts.Node): void {
  const run = (of: Abstract) => (): Completion => (eachRow(machine, of, body, at), normalCompletion);
  if (list.kind === 'choice') machine.fork(list.condition, run(list.ifTrue), run(list.ifFalse));
  else overList(machine, list, 'row', (element) => (body(elementIn(list, element)), normalCompletion), at);
}

/** The element of a loop, where rows are objects as such an object. */
export function elementIn(list: Abstract, element: Abstract): Abstract {
  const mapped = mappedList(list);
  if (mapped !== undefined) return mapped.elementOf(elementIn(mapped.list, element));
  if (list.kind === 'array') {
    const functions = list.elements.value.filter(({ kind }) => kind === 'function');
    const which: Value = { kind: 'unknown', reason: 'which function it is' };
    return functions.reduce((rest, fn) => choose(which, fn, rest), element);
  }
  if (
    list.kind !== 'rows' ||
    list.elementOf === undefined ||
    element.kind !== 'value' ||
    element.value.kind !== 'element'
  )
    return element;
  const { value } = element;
  return list.elementOf((field) => ({ ...value, field }));
}

/** A list of which only a part is known. */
function isManyElements(element: Abstract): boolean {
  return (
    element.kind === 'value' &&
    (element.value.kind === 'unknown' || (element.value.kind === 'expression' && element.value.operator === '...'))
  );
}
