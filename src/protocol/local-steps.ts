/**
 * Partial-order reduction: where a process can take one step that is independent of all others and that no condition sees, the
 * search takes only that one; the others lose nothing by waiting. Which steps are so, the protocol says (`local: true`), and
 * states are sampled to see whether it is true. Clarke, Grumberg and Peled, "Model Checking", chapter 10: C0 to C2 hold by
 * `local`. C3, that others are not put off forever, could fail only on a cycle of local steps; the last of its states to be expanded
 * finds no new state, follows the local steps from there, comes back to itself, and is expanded in full.
 */
import { InputError } from '../base/index.ts';
import { type Expander, stepName } from './expand.ts';
import type { AnyStep, CompiledProcess, Model } from './model.ts';

export interface LocalSteps {
  /**
   * Runs the first local step that is enabled and calls `visit`, which returns whether the state is new.
   * @returns whether the state needs no other step
   */
  readonly suffice: (state: Int32Array, visit: () => boolean) => boolean;
}

const sampledFirst = 300;
const sampledEvery = 8_192;
/** Local steps to follow before they are taken for a cycle. */
const chainMax = 100;

export function localStepsOf(model: Model, expander: Expander): LocalSteps {
  const { words, symmetry } = model;
  const start = new Int32Array(words.length);
  let taken = 0;
  const load = (state: Int32Array): void => {
    for (let i = 0; i < words.length; i += 1) words[i] = state[i];
  };
  /** From the state at hand, without what `visit` does. */
  const followEnds = (): boolean => {
    for (let length = 0; length < chainMax; length += 1) {
      if (words.every((word, i) => word === start[i])) return false;
      const process = firstLocal(model);
      if (process === null) return true;
      stepOf(process, words).do(process.self, 0);
      symmetry.canonicalise(words);
    }
    return false;
  };
  return {
    suffice: (state, visit) => {
      load(state);
      const process = firstLocal(model);
      if (process === null) return false;
      const step = stepOf(process, words);
      taken += 1;
      if (taken <= sampledFirst || taken % sampledEvery === 0) checkLocal(model, expander, process, step, state);
      step.do(process.self, 0);
      if (visit()) return true;
      for (let i = 0; i < words.length; i += 1) start[i] = state[i];
      return followEnds();
    },
  };
}

/** The first process whose one step is local and enabled. */
function firstLocal({ words, processes }: Model): CompiledProcess | null {
  for (let p = 0; p < processes.length; p += 1) {
    const process = processes[p];
    const { group } = process;
    const steps = group.steps[words[process.word] & group.labelMask];
    const step = steps[0];
    if (steps.length !== 1 || step?.local !== true) continue;
    if (step.await === undefined || step.await(process.self, 0)) return process;
  }
  return null;
}

function stepOf({ group, word }: CompiledProcess, words: Int32Array): AnyStep {
  return group.steps[words[word] & group.labelMask]?.[0];
}

/** Does the step commute with every step of the others that is enabled, and do all conditions stay as they are? */
function checkLocal(
  model: Model,
  expander: Expander,
  process: CompiledProcess,
  step: AnyStep,
  state: Int32Array,
): void {
  const { words } = model;
  const run = (from: Int32Array): Int32Array => {
    words.set(from);
    step.do(process.self, 0);
    return words.slice();
  };
  words.set(state);
  const seenBefore = visible(model);
  const after = run(state);
  if (visible(model) !== seenBefore) throw notLocal(process, 'a condition or what clients observe sees it');
  expander.expand(state, () => {
    const { process: other, step: theirs, chosen } = expander.running;
    if (other === null || theirs === null || other === process) return true;
    const theirsFirst = run(words.slice());
    words.set(after);
    const isEnabled = theirs.await === undefined || theirs.await(other.self, chosen);
    if (isEnabled) theirs.do(other.self, chosen);
    if (!isEnabled || words.some((word, i) => word !== theirsFirst[i])) {
      throw notLocal(process, `it does not commute with ${other.name}'s ${stepName(expander.running)}`);
    }
    return true;
  });
  words.set(state);
}

function visible({ parts }: Model): string {
  const { invariants = {}, sometimes = {}, observe } = parts;
  const conditions = [...Object.values(invariants), ...Object.values(sometimes)].map((holds) => holds());
  const observed = observe?.of.all.map((self) => observe.operations(self));
  return JSON.stringify([conditions, observed]);
}

function notLocal({ name }: CompiledProcess, why: string): InputError {
  return new InputError('protocol/local', `the local step of ${name} is not local: ${why}`);
}
