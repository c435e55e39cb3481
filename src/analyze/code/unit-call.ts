/** The arguments of a witness as the parameters of the unit's function, or as a request. */
import type { AnyStep, EntryName, EntryParameter, Unit, Value } from '../application.ts';
import type { Arguments } from '../run-steps.ts';
import type { UnitCall } from './application-code.ts';

/** @returns why it cannot be called, as a clause, where it cannot */
export function unitCall({ entry, steps }: Unit, given: Arguments): UnitCall | { readonly reason: string } {
  if (entry === undefined) return { reason: 'its source is not known' };
  if (entry.kind === 'none') return { reason: entry.reason };
  // What only a condition uses has no value in a witness: NULL, as where the statements run.
  const used = new Map([...argumentsIn(steps)].map((name) => [name, given[name] ?? null]));
  if (entry.kind === 'handlers') return { ...entry, request: requestOf(used) };
  const taken = new Set<string>();
  const values: unknown[] = [];
  for (const parameter of entry.parameters) {
    const bound = boundTo(parameter, used, taken);
    if ('unknown' in bound) return { reason: `nothing says what its parameter ${bound.unknown} is` };
    values.push(bound.value);
  }
  const left = [...used.keys()].find((name) => !taken.has(name));
  if (left !== undefined) return { reason: `none of its parameters has the argument ${left}` };
  return { kind: 'function', of: entry.of, arguments: values };
}

type Bound = { readonly value: unknown } | { readonly unknown: string };

/** @param taken is added to */
function boundTo(parameter: EntryParameter, used: ReadonlyMap<string, unknown>, taken: Set<string>): Bound {
  if ('name' in parameter) return valueOf(parameter, used, taken);
  const { properties, isOptional } = parameter;
  if (isOptional && !properties.some(({ name }) => namesOf(name, used).length > 0)) return { value: undefined };
  const values: Record<string, unknown> = {};
  for (const property of properties) {
    const bound = valueOf(property, used, taken);
    if ('unknown' in bound) return bound;
    if (bound.value !== undefined) values[property.name] = bound.value;
  }
  return { value: values };
}

/** `order` of the arguments `order.id` and `order.items`. */
function valueOf({ name, isOptional }: EntryName, used: ReadonlyMap<string, unknown>, taken: Set<string>): Bound {
  const names = namesOf(name, used);
  if (names.length === 0) return isOptional ? { value: undefined } : { unknown: name };
  for (const each of names) taken.add(each);
  if (names.includes(name) && (used.get(name) !== null || names.length === 1)) return { value: used.get(name) };
  const parts = names.filter((each) => each !== name);
  return { value: objectOf(new Map(parts.map((each) => [each.slice(name.length + 1), used.get(each)]))) };
}

function namesOf(name: string, used: ReadonlyMap<string, unknown>): readonly string[] {
  return [...used.keys()].filter((each) => each === name || each.startsWith(`${name}.`));
}

/** In a request these are texts. */
const texts = /^(?:params|query|headers|cookies)\./;

function requestOf(used: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>> {
  const shown = [...used].map(([name, value]): [string, unknown] => [
    name,
    texts.test(name) && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value,
  ]);
  return { body: {}, params: {}, query: {}, headers: {}, ...objectOf(new Map(shown)) };
}

/** `{ body: { amount: 1 } }` of `body.amount`. */
function objectOf(paths: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [path, value] of paths) {
    const parts = path.split('.');
    const last = parts.pop() as string;
    let inner = result;
    for (const part of parts) {
      const found = inner[part];
      const next = typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
      inner[part] = next;
      inner = next;
    }
    inner[last] ??= value;
  }
  return result;
}

/** Of all its values, those of conditions and loops included. */
function argumentsIn(steps: readonly AnyStep[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Value): void => {
    if (value.kind === 'argument') found.add(value.name);
    if (value.kind === 'expression') for (const operand of value.operands) visit(operand);
  };
  const walk = (inner: readonly AnyStep[]): void => {
    for (const step of inner) {
      if (step.kind === 'statement') for (const value of step.parameters) visit(value);
      if (step.kind === 'branch') visit(step.condition);
      if (step.kind === 'branch') for (const side of [step.ifTrue, step.ifFalse]) walk(side);
      if (step.kind === 'loop') visit(step.over);
      if (step.kind === 'loop' || step.kind === 'transaction') walk(step.steps);
    }
  };
  walk(steps);
  return found;
}
