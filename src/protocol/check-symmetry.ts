/**
 * Are the members that a protocol calls interchangeable really so? If a step, a condition or `observe` tells t1 from t2, symmetry reduction drops
 * states that matter. Samples of the states show it: a renamed state must have the renamed successors, and the same conditions
 * and levels.
 */
import { InputError } from '../base/index.ts';
import type { Expander } from './expand.ts';
import type { Model } from './model.ts';
import type { StateCheck } from './state-check.ts';

const sampledFirst = 64;
const sampledEvery = 512;
const sampledOften = 100_000;
const sampledEveryLater = 16_384;

export function symmetryCheckOf(
  model: Model,
  { expand }: Expander,
  { check }: StateCheck,
): (state: Int32Array) => void {
  const { words, symmetry } = model;
  let count = 0;
  const successorsOf = (state: Int32Array): string => {
    const successors: string[] = [];
    expand(state, () => {
      symmetry.canonicalise(words);
      successors.push(words.join(' '));
      return true;
    });
    words.set(state);
    return `${conditionsOf(model)} ${check()?.name}\n${successors.toSorted().join('\n')}`;
  };
  return (state) => {
    count += 1;
    const every = count <= sampledOften ? sampledEvery : sampledEveryLater;
    if (symmetry.order === 1 || (count > sampledFirst && count % every !== 0)) return;
    const images = symmetry.images(state);
    // A different renaming each time; the first is none.
    const image = images[1 + (count % (images.length - 1))];
    if (successorsOf(state) === successorsOf(image)) return;
    const sets = (model.parts.symmetry ?? []).map(({ name }) => name).join(', ');
    const what = `a step, a condition or what clients observe tells members of ${sets} apart, so they must not be in symmetry`;
    throw new InputError('protocol/symmetry', `${model.protocol.name}: ${what}`);
  };
}

function conditionsOf({ parts }: Model): string {
  const conditions = [...Object.values(parts.invariants ?? {}), ...Object.values(parts.sometimes ?? {})];
  return conditions.map((holds) => String(holds())).join(' ');
}
