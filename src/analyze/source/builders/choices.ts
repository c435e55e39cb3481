/** Arguments of a builder that differ by path, `flag ? eq(a, b) : undefined`: the call runs on each path with what it has there. */
import type { Value } from '../../application.ts';
import { type Abstract, arrayOf, type Choice, never, type ObjectValue } from '../abstract-value.ts';
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
  const side = (holds: boolean) =>
    onEachPath(
      machine,
      args.map((arg) => assume(arg, condition, holds)),
      run,
      depth + 1,
    );
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
    side.kind === 'choice' ? isStructural(side) : isNothing(side) || (side.kind !== 'value' && side.kind !== 'row'),
  );
}

/** The value where it is known whether the condition holds. */
function assume(value: Abstract, condition: Value, holds: boolean): Abstract {
  if (value.kind === 'choice') {
    const isThis = value.condition === condition || same(value.condition, condition);
    if (isThis) return assume(holds ? value.ifTrue : value.ifFalse, condition, holds);
    return {
      ...value,
      ifTrue: assume(value.ifTrue, condition, holds),
      ifFalse: assume(value.ifFalse, condition, holds),
    };
  }
  if (value.kind === 'array') {
    const elements = value.elements.value.flatMap((element) => {
      const known = assume(element, condition, holds);
      const isSpread = element.kind === 'choice' && element.isSpread === true && known.kind === 'array';
      return isSpread ? known.elements.value : [known];
    });
    return arrayOf(elements);
  }
  if (value.kind !== 'object' || isRow(value)) return value;
  const cells = [...value.properties].map(
    ([name, cell]) => [name, { value: assume(cell.value, condition, holds) }] as const,
  );
  const properties = new Map(cells);
  if (value.rest === null) return { ...value, properties };
  const rest = assume(value.rest, condition, holds);
  // `{ ...(flag ? { a: 1 } : {}) }`
  if (rest.kind === 'object')
    return { ...value, properties: new Map([...rest.properties, ...properties]), rest: rest.rest };
  return { ...value, properties, rest: isNothing(rest) ? null : rest };
}
