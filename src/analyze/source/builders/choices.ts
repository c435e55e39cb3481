/** Arguments of a builder that differ by path, `flag ? eq(a, b) : undefined`: the call runs on each path with what it has there. */
import type { Value } from '../../application.ts';
import { absent, type Abstract, arrayOf, type Choice, endsOf, never, type ObjectValue } from '../abstract-value.ts';
import { normalCompletion, type Machine } from '../machine.ts';
import { choose, isNothing } from '../value-arithmetic.ts';
import { same } from '../conditions.ts';

/** Each doubles the statements. */
const conditionsMax = 6;

export function onEachPath(
  machine: Machine,
  args: readonly Abstract[],
  run: (args: readonly Abstract[]) => Abstract,
  depth = 0,
): Abstract {
  const condition = depth === conditionsMax ? undefined : firstCondition(args, 4);
  if (condition === undefined) return run(args);
  let [a, b]: [Abstract, Abstract] = [never, never];
  const side = (holds: boolean) => onEachPath(machine, args.map(assuming(condition, holds)), run, depth + 1);
  machine.fork(
    condition,
    () => ((a = side(true)), normalCompletion),
    () => ((b = side(false)), normalCompletion),
  );
  return choose(condition, a, b);
}

/** Of the first choice between things that give different texts. A choice between two values is one bound value. */
function firstCondition(values: readonly Abstract[], depth: number): Value | undefined {
  for (const value of values) {
    const found = conditionIn(value, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function conditionIn(value: Abstract, depth: number): Value | undefined {
  if (value.kind === 'choice') return isStructural(value) ? value.condition : undefined;
  if (depth === 0) return undefined;
  if (value.kind === 'array') return firstCondition(value.elements.value, depth - 1);
  if (value.kind !== 'object' || isRow(value)) return undefined;
  const rest = value.rest === null ? [] : [value.rest];
  return firstCondition([...[...value.properties.values()].map((cell) => cell.value), ...rest], depth - 1);
}

/** An object with methods: a copy would have lost what is known of it. */
function isRow({ of, rest }: ObjectValue): boolean {
  return of !== null || rest?.kind === 'native';
}

function isStructural({ ifTrue, ifFalse }: Choice): boolean {
  return [ifTrue, ifFalse].some((side) =>
    [...endsOf(side)].some((end) => isNothing(end) || (end.kind !== 'value' && end.kind !== 'row')),
  );
}

/** Gives a value where it is known whether the condition holds. Values share their parts: each is read once, and what the condition does not change stays itself. */
function assuming(condition: Value, holds: boolean): (value: Abstract) => Abstract {
  const known = new Map<Abstract, Abstract>();
  const assume = (value: Abstract): Abstract => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const after = assumed(value, assume, condition, holds);
    known.set(value, after);
    return after;
  };
  return assume;
}

function assumed(value: Abstract, assume: (part: Abstract) => Abstract, condition: Value, holds: boolean): Abstract {
  if (value.kind === 'choice') {
    const isThis = value.condition === condition || same(value.condition, condition);
    if (isThis) return assume(holds ? value.ifTrue : value.ifFalse);
    const [ifTrue, ifFalse] = [assume(value.ifTrue), assume(value.ifFalse)];
    return ifTrue === value.ifTrue && ifFalse === value.ifFalse ? value : { ...value, ifTrue, ifFalse };
  }
  if (value.kind === 'array') {
    const elements = value.elements.value.flatMap((element) => {
      const known = assume(element);
      const isSpread = element.kind === 'choice' && element.isSpread === true && known.kind === 'array';
      return isSpread ? known.elements.value : [known];
    });
    return arrayOf(elements);
  }
  if (value.kind !== 'object' || isRow(value)) return value;
  const properties = new Map(
    [...value.properties]
      .map(([name, cell]) => [name, { value: assume(cell.value) }] as const)
      .filter(([, cell]) => cell.value !== absent),
  );
  if (value.rest === null) return { ...value, properties };
  const rest = assume(value.rest);
  // `{ ...(flag ? { a: 1 } : {}) }`
  if (rest.kind === 'object')
    return { ...value, properties: new Map([...rest.properties, ...properties]), rest: rest.rest };
  return { ...value, properties, rest: isNothing(rest) ? null : rest };
}
