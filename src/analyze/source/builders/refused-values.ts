/** Values that a library refuses: it throws where one is undefined in `where`. */
import { absent, type Abstract, type Cell } from '../abstract-value.ts';
import { isConstant } from '../conditions.ts';
import { type Machine, normalCompletion } from '../machine.ts';
import { conditionWhere } from '../value-arithmetic.ts';

/**
 * The options of a model's method: where a value of `where` is undefined on some paths only, the call throws on these. Of a value that is always undefined
 * the statement says that it is refused: the reader may have lost it.
 */
export function withoutRefused(machine: Machine, options: Abstract): Abstract {
  const where = options.kind === 'object' ? options.properties.get('where')?.value : undefined;
  if (options.kind !== 'object' || where?.kind !== 'object') return options;
  const kept = [...where.properties].map(([name, { value }]): [string, Cell] => {
    const isRefused = conditionWhere(value, isUndefined, () => false);
    if (isConstant(isRefused, true) || isConstant(isRefused, false)) return [name, { value }];
    machine.fork(
      isRefused,
      () => machine.raise(),
      () => normalCompletion,
    );
    return [name, { value: withoutUndefined(value, new Map()) }];
  });
  const rest: Abstract = { ...where, properties: new Map(kept) };
  return { ...options, properties: new Map([...options.properties, ['where', { value: rest }]]) };
}

function isUndefined(value: Abstract): boolean {
  return value.kind === 'undefined' && value !== absent;
}

/** @param known of the sides that choices within choices share */
function withoutUndefined(value: Abstract, known: Map<Abstract, Abstract>): Abstract {
  if (value.kind !== 'choice') return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const [ifTrue, ifFalse] = [withoutUndefined(value.ifTrue, known), withoutUndefined(value.ifFalse, known)];
  const after = isUndefined(ifTrue) ? ifFalse : isUndefined(ifFalse) ? ifTrue : { ...value, ifTrue, ifFalse };
  known.set(value, after);
  return after;
}
