/** Lists: arrays of the source, rows of results, and lists of which only the origin is known. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import {
  type Abstract,
  arrayOf,
  constant,
  fromOutside,
  type Native,
  native,
  plain,
  type RowsValue,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { isChain } from './builders/chain.ts';
import { pathsMax } from './calls.ts';
import { type Machine, normalCompletion } from './machine.ts';
import { mappedList, mapsList } from './mapped-list.ts';
import { rowsOfPaths } from './rows-of-paths.ts';
import { elementIn, overList } from './over-list.ts';
import { choose, concatenate, constantOf, truthOf, valueOf } from './value-arithmetic.ts';
import { does, mayEnd } from './tidy-steps.ts';
import { computedFrom, expression, isTrue, zero } from './conditions.ts';

export function listMember(machine: Machine, list: Abstract, name: string, at: ts.Node): Abstract | undefined {
  if (list.kind === 'array') return arrayMember(machine, list.elements.value, list, name, at);
  if (list.kind === 'rows') return rowsMember(machine, list, name, at);
  return listMethod(machine, list, name, at);
}

/** They run a function for each element. */
const callsForEach = /^(?:map|flatMap|forEach|some|every|find|findIndex|filter|reduce)$/;

export function listMemberOfPaths(
  machine: Machine,
  list: Abstract & { readonly kind: 'choice' },
  name: string,
  at: ts.Node,
): Abstract | undefined {
  const one = callsForEach.test(name) ? rowsOfPaths(list) : undefined;
  return one === undefined ? undefined : listMethod(machine, one, name, at);
}

/** The first row, as it is or as an object. */
function firstOf({ statement, elementOf, isPart = false }: RowsValue): Abstract {
  if (elementOf === undefined) return { kind: 'row', statement };
  const isThere: Value = isPart ? joinedCount : expression('<>', { kind: 'row-count', statement }, zero);
  return choose(
    isThere,
    elementOf((column) => ({ kind: 'column', statement, column, row: 'first' })),
    constant(null),
  );
}

const joinedCount: Value = { kind: 'unknown', reason: 'how many rows are joined' };

function rowsMember(machine: Machine, list: RowsValue, name: string, at: ts.Node): Abstract | undefined {
  const { statement } = list;
  if (list.isPart === true && name === 'length') return plain(joinedCount);
  switch (name) {
    case 'length':
    case 'count':
    case 'rowCount':
    case 'affectedRows':
    case 'changedRows':
    case 'numAffectedRows':
      return plain({ kind: 'row-count', statement });
    case 'insertId':
      return plain({ kind: 'column', statement, column: 'insertId', row: 'first' });
    case '0':
      return firstOf(list);
    case 'at':
      return native(name, ([index]) => (constantOf(index) === 0 ? firstOf(list) : unknown('a row of a result')));
    case 'shift':
      return native(name, () => firstOf(list));
    case 'rows':
      return list;
    default:
      return /^\d+$/.test(name)
        ? unknown('a later row of a result')
        : (listMethod(machine, list, name, at) ?? plain({ kind: 'column', statement, column: name, row: 'first' }));
  }
}

function arrayMember(
  machine: Machine,
  elements: readonly Abstract[],
  list: Abstract & { kind: 'array' },
  name: string,
  at: ts.Node,
): Abstract | undefined {
  if (/^\d+$/.test(name)) return elements[Number(name)] ?? undefinedValue;
  switch (name) {
    case 'length':
      return withoutSpread(elements, (all) =>
        all.some(isOpen) ? unknown('the length of a list') : constant(all.length),
      );
    case 'push':
    case 'unshift':
    // Of a Set that is made of a list.
    case 'add':
      return native(name, (args) => {
        machine.memory.write(list.elements, [...list.elements.value, ...args]);
        return arrayMember(machine, list.elements.value, list, 'length', at) ?? undefinedValue;
      });
    case 'pop':
    case 'shift':
    case 'splice':
    case 'fill':
    case 'delete':
    case 'clear':
      return native(name, (args) => {
        const left = plain(
          computedFrom('an element of a list that changed', [...list.elements.value, ...args].map(valueOf)),
        );
        machine.memory.write(list.elements, [left]);
        return left;
      });
    case 'concat':
      return native(name, (args) =>
        arrayOf([...elements, ...args.flatMap((arg) => (arg.kind === 'array' ? arg.elements.value : [arg]))]),
      );
    case 'join':
      return native(name, ([separator]) => withoutSpread(elements, (all) => join(all, separator)));
    case 'at':
      return native(name, ([index]) => elements.at(Number(constantOf(index) ?? 0)) ?? undefinedValue);
    case 'slice':
      return native(name, ([from, to]) =>
        arrayOf(elements.slice(Number(constantOf(from) ?? 0), to === undefined ? undefined : Number(constantOf(to)))),
      );
    case 'filter':
      return native(name, ([fn]) => (constantOf(fn) === undefined ? filtered(machine, elements, fn, at) : list));
    default:
      return listMethod(machine, list, name, at);
  }
}

/** `of` each list that the paths give; unknown where they give too many. */
function withoutSpread(elements: readonly Abstract[], of: (elements: readonly Abstract[]) => Abstract): Abstract {
  return listsOf(elements) > pathsMax ? unknown('a list that differs on too many paths') : ofEachPath(elements, of);
}

/** How many lists the paths give, or many. Lists share parts: each is counted once. */
function listsOf(elements: readonly Abstract[], counted = new Map<Abstract, number>()): number {
  const ofSide = (side: Abstract): number => (side.kind === 'array' ? listsOf(side.elements.value, counted) : 1);
  return elements.reduce((lists, element) => {
    if (element.kind !== 'choice' || element.isSpread !== true) return lists;
    const count = counted.get(element) ?? ofSide(element.ifTrue) + ofSide(element.ifFalse);
    counted.set(element, count);
    return lists * count;
  }, 1);
}

function ofEachPath(elements: readonly Abstract[], of: (elements: readonly Abstract[]) => Abstract): Abstract {
  const index = elements.findIndex((element) => element.kind === 'choice' && element.isSpread === true);
  const spread = elements[index];
  if (spread?.kind !== 'choice') return of(elements);
  const side = (list: Abstract): Abstract =>
    ofEachPath(
      [
        ...elements.slice(0, index),
        ...(list.kind === 'array' ? list.elements.value : []),
        ...elements.slice(index + 1),
      ],
      of,
    );
  return choose(spread.condition, side(spread.ifTrue), side(spread.ifFalse));
}

function isOpen(element: Abstract): boolean {
  return (
    element.kind === 'value' &&
    (element.value.kind === 'unknown' || (element.value.kind === 'expression' && element.value.operator === '...'))
  );
}

function join(elements: readonly Abstract[], separator: Abstract | undefined): Abstract {
  return concatenate(
    elements.flatMap((element, index) => (index === 0 ? [element] : [separator ?? constant(','), element])),
  );
}

/** Of a known list: elements of which it is known; otherwise a list of which nothing is known. */
function filtered(machine: Machine, elements: readonly Abstract[], fn: Abstract | undefined, at: ts.Node): Abstract {
  const kept: Abstract[] = [];
  for (const element of elements) {
    const truth =
      fn === undefined
        ? isTrue
        : fn.kind === 'external' && fn.path[0] === 'Boolean'
          ? truthOf(element)
          : truthOf(machine.call(fn, [element], at));
    if (truth.kind !== 'constant') return unknown('a filtered list');
    if (truth.value === true) kept.push(element);
  }
  return arrayOf(kept);
}

/** Methods that call a function for each element. */
function listMethod(machine: Machine, list: Abstract, name: string, at: ts.Node): Abstract | undefined {
  switch (name) {
    case 'map':
    case 'flatMap':
      return native(name, ([fn]) => mapList(machine, name, list, fn, at));
    case 'forEach':
    case 'some':
    case 'every':
    case 'find':
    case 'findIndex':
    case 'filter':
    case 'reduce':
    case 'sort':
    case 'toSorted':
      return native(name, ([fn]) => {
        if (name === 'sort' || name === 'toSorted') return list;
        eachOf(machine, list, fn, at, name === 'reduce');
        return name === 'forEach'
          ? undefinedValue
          : list.kind === 'value' && list.value.kind === 'unknown'
            ? list
            : plain(expression(name, valueOf(list), { kind: 'unknown', reason: `what the function of ${name} does` }));
      });
    case 'includes':
    case 'indexOf':
      return native(name, ([value]) =>
        plain(expression(name, valueOf(list), value === undefined ? isTrue : valueOf(value))),
      );
    case 'entries':
    case 'values':
    case 'slice':
    case 'reverse':
      return native(name, () => list);
    case 'join': {
      const placeholder = placeholderOf(list);
      return placeholder === undefined ? undefined : native(name, () => constant(placeholder));
    }
    case 'length':
      return list.kind === 'rows' ? undefined : plain(expression('length', valueOf(list)));
    default:
      return undefined;
  }
}

/** `ids.map(() => '?')` for a list of parameters, `IN (?)`: one that is a list stands for all. `rows.map(() => '(?, ?)')`: one row does. */
function placeholderOf(list: Abstract): string | undefined {
  const element = mappedList(list)?.elementOf(unknown('an element'));
  const text = constantOf(element);
  return typeof text === 'string' && /^(?:\?|\(\s*\?(?:\s*,\s*\?)*\s*\))$/.test(text) ? text : undefined;
}

function elementName(fn: Abstract | undefined, index = 0): string {
  const name = fn?.kind === 'function' ? fn.node.parameters[index]?.name.getText() : undefined;
  return name !== undefined && /^\w+$/.test(name) ? name : 'element';
}

function eachOf(machine: Machine, list: Abstract, fn: Abstract | undefined, at: ts.Node, isReduce: boolean): void {
  if (fn === undefined) return;
  const run = (element: Abstract) => {
    const result = machine.call(
      fn,
      isReduce
        ? [unknown('what was computed in a loop'), elementIn(list, element)]
        : [elementIn(list, element), fromOutside('an index')],
      at,
    );
    machine.settle(result, at);
    return normalCompletion;
  };
  const trial = machine.emitter.apart(() => machine.memory.during(() => run(elementOfList(list))));
  if (trial.steps.some((step) => does(step) || mayEnd(step)) || trial.result.writes.size > 0)
    overList(machine, list, elementName(fn, isReduce ? 1 : 0), run, at);
}

function elementOfList(list: Abstract): Abstract {
  return list.kind === 'rows'
    ? { kind: 'row', statement: list.statement }
    : plain({ kind: 'element', loop: '#element', field: null });
}

function mapList(machine: Machine, name: string, list: Abstract, fn: Abstract | undefined, at: ts.Node): Abstract {
  if (fn === undefined) return list;
  if (list.kind === 'array' && !list.elements.value.some(isOpen)) {
    const results = list.elements.value.map((element, index) => {
      const result = machine.call(fn, [element, constant(index)], at);
      return isChain(result) ? result : machine.settle(result, at);
    });
    return arrayOf(results);
  }
  const run = (element: Abstract) => {
    machine.settle(machine.call(fn, [elementIn(list, element), fromOutside('an index')], at), at);
    return normalCompletion;
  };
  const probe: Abstract = plain({ kind: 'element', loop: '#element', field: null });
  const isWaiting = (made: Abstract): made is Native => made.kind === 'native' && made.runOn !== undefined;
  const trial = machine.emitter.apart(() =>
    machine.memory.during(() => {
      const made = machine.call(fn, [elementIn(list, probe), fromOutside('an index')], at);
      return isWaiting(made) ? made : machine.settle(made, at);
    }),
  );
  const made = trial.result.result;
  if (isWaiting(made)) return waitingList(machine, list, fn, at, made);
  if (trial.steps.some(does)) {
    overList(machine, list, elementName(fn), run, at);
    return unknown('a list of results');
  }
  const result = projected(list, made);
  const isComputed = name === 'map' && result.kind === 'value' && result.value.kind === 'unknown';
  return isComputed
    ? mapsList({ ...result }, { list, elementOf: (element) => machine.call(fn, [element], at) })
    : result;
}

/** A statement for each element, none of which runs before it is awaited: `$transaction(ids.map((id) => ...))` runs them on its connection. */
function waitingList(machine: Machine, list: Abstract, fn: Abstract, at: ts.Node, made: Native): Abstract {
  const runEach = (runOne: (statement: Abstract) => void): Abstract => {
    overList(
      machine,
      list,
      elementName(fn),
      (element) => (
        runOne(machine.call(fn, [elementIn(list, element), fromOutside('an index')], at)), normalCompletion
      ),
      at,
    );
    return unknown('a list of results');
  };
  return {
    ...made,
    settle: (settledAt) => runEach((statement) => machine.settle(statement, settledAt)),
    runOn: (owner, runAt) =>
      runEach((statement) => (statement.kind === 'native' ? statement.runOn?.(owner, runAt) : undefined)),
  };
}

/** `rows.map((row) => row.id)`: the column as a list. */
function projected(list: Abstract, result: Abstract): Abstract {
  const value: Value = valueOf(result);
  const isElement = value.kind === 'element' && value.loop === '#element';
  if (isElement && value.field === null) return list;
  if (isElement && value.field !== null) {
    if (list.kind === 'rows')
      return plain({ kind: 'column', statement: list.statement, column: value.field, row: 'all' });
    if (list.kind === 'value' && list.value.kind === 'argument')
      return plain({ kind: 'argument', name: `${list.value.name}[].${value.field}` });
  }
  return unknown(
    list.kind === 'value' && list.value.kind === 'unknown' ? list.value.reason : 'a list that a function computes',
  );
}
