/** The successors of a state: each enabled step of each process, run in place. */
import { InputError } from '../base/index.ts';
import type { AnyStep, CompiledProcess, Model } from './model.ts';
import type { Member, Members, NamedSet } from './named-set.ts';
import { caused, protocolFault, requireAnswer } from './protocol-fault.ts';

/** The step that is being run: what an error is blamed on, and what a trace says happened. */
export interface Running {
  process: CompiledProcess | null;
  step: AnyStep | null;
  label: string;
  chosen: Member;
}

export interface Expander {
  readonly running: Running;
  /**
   * Calls `visit` with each successor of `state` in the model's words, until it returns false.
   * @returns how many steps were enabled
   */
  readonly expand: (state: Int32Array, visit: () => boolean) => number;
}

/** States whose conditions and steps are repeated to see that they are functions of the state: the first, and then one in so many. */
const checkedFirst = 500;
const checkedEvery = 4096;

export function expanderOf(model: Model): Expander {
  const { words, processes } = model;
  const running: Running = { process: null, step: null, label: '', chosen: 0 };
  let expanded = 0;
  const restore = (state: Int32Array): void => {
    for (let i = 0; i < words.length; i += 1) words[i] = state[i];
  };
  const run = (process: CompiledProcess, step: AnyStep, chosen: Member, state: Int32Array): boolean => {
    running.chosen = chosen;
    if (step.await !== undefined && !isEnabled(step.await(process.self, chosen))) return false;
    requireNoPromise(step.do(process.self, chosen));
    if (expanded <= checkedFirst || expanded % checkedEvery === 0) checkRepeats(model, running, state);
    return true;
  };
  const expand = (state: Int32Array, visit: () => boolean): number => {
    let enabled = 0;
    expanded += 1;
    restore(state);
    for (let p = 0; p < processes.length; p += 1) {
      const process = processes[p];
      const { group } = process;
      const label = words[process.word] & group.labelMask;
      const steps = group.steps[label];
      running.process = process;
      running.label = group.labels[label];
      for (let s = 0; s < steps.length; s += 1) {
        const step = steps[s];
        running.step = step;
        let left = step.choose === undefined ? (step.from?.all ?? 1) : membersOf(step.choose(process.self), step.from);
        for (; left !== 0; left &= left - 1) {
          if (!run(process, step, 31 - Math.clz32(left & -left), state)) continue;
          enabled += 1;
          const goOn = visit();
          restore(state);
          if (!goOn) return enabled;
        }
      }
    }
    return enabled;
  };
  return {
    running,
    expand: (state, visit) => {
      try {
        return expand(state, visit);
      } catch (error) {
        throw blame(model, running, error);
      }
    },
  };
}

/** What an asynchronous step does after its first `await` is in no state. */
function requireNoPromise(returned: unknown): void {
  if (typeof returned === 'object' && returned !== null && 'then' in returned)
    throw new InputError('protocol/async', 'it is asynchronous; a step is atomic');
}

function membersOf(chosen: unknown, from: NamedSet | undefined): Members {
  if (typeof chosen === 'number' && (chosen | 0) === chosen && (from === undefined || (chosen & ~from.all) === 0))
    return chosen;
  throw new InputError('protocol/choose', `choose returned ${String(chosen)}, which is no set of members`);
}

function isEnabled(answer: unknown): boolean {
  if (answer === true || answer === false) return answer;
  requireAnswer(answer, 'its condition');
  return Boolean(answer);
}

/** Have all processes ended? Then a state without successors is no deadlock. */
export function isDone({ words, processes }: Model): boolean {
  for (let p = 0; p < processes.length; p += 1) {
    const { group, word } = processes[p];
    if (!group.labelsDone[words[word] & group.labelMask]) return false;
  }
  return true;
}

export function stepName({ step, label, chosen }: Running): string {
  const name = step?.name ?? label;
  if (step?.from !== undefined) return `${name} (${step.from.names[chosen]})`;
  return step?.choose === undefined ? name : `${name} (${chosen + 1})`;
}

/** The condition must leave the state alone, and the step must do the same again. */
function checkRepeats(model: Model, running: Running, state: Int32Array): void {
  const { words } = model;
  const { process, step, chosen } = running;
  if (process === null || step === null) return;
  const first = words.slice();
  words.set(state);
  step.choose?.(process.self);
  const again = step.await?.(process.self, chosen) ?? true;
  if (words.some((word, i) => word !== state[i]))
    throw new InputError('protocol/condition', 'its condition changes the state; only `do` may');
  if (again) step.do(process.self, chosen);
  if (!again || words.some((word, i) => word !== first[i])) {
    throw new InputError(
      'protocol/repeat',
      'it does something else when it is repeated: it reads or changes something that is not in the state',
    );
  }
}

/** One line that names the process and the step. */
function blame(model: Model, running: Running, error: unknown): unknown {
  const { process } = running;
  if (process === null) return error;
  const where = `${model.protocol.name}: ${process.name} at ${running.label}, step ${stepName(running)}`;
  if (error instanceof TypeError && /read only|not extensible|Cannot (?:delete|define|add)/.test(error.message)) {
    const what = `it changes a value in place (${error.message}); assign a new value to the variable`;
    return caused(new InputError('protocol/mutates', `${where}: ${what}`), error);
  }
  return error instanceof Error && error.name === 'AssertionFailure' ? error : protocolFault(where, error);
}
