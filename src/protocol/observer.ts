/**
 * What clients observe of a state. `operations` of the protocol's `observe` runs on a second model, whose state has the variables that `from` names and
 * nothing else: the verdict on a bag of these variables is kept, so it must not depend on more. An access to anything else is refused by its name; it would read a
 * first value in every state and prove nothing.
 */
import { InputError } from '../base/index.ts';
import type { History, Operation, Transaction } from '../history/index.ts';
import { compile, type Model } from './model.ts';
import { protocolFault } from './protocol-fault.ts';
import type { AnyProcess, Observation, Processes, Shared } from './spec.ts';

export interface Observer {
  readonly members: number;
  /** Words of each member's observed variables. */
  readonly width: number;
  /** Writes the observed variables of the model's state: for each member, `width` words. */
  readonly read: (key: Int32Array) => void;
  /** The transactions of the model's state. */
  readonly history: () => History;
  /** Has any transaction depended on which member it is? */
  readonly readsId: () => boolean;
}

/** @throws InputError `protocol/observe` */
export function observerOf(model: Model): Observer {
  const { of: group, from } = observationOf(model);
  const { stride, base } = model.placesOf(group, 'at');
  const masks = masksOf(model, group, from, stride);
  const used = [...masks.keys()].filter((word) => masks[word] !== 0);
  const members = group.set.size;
  const { words } = model;
  const guard = guardOf(from);
  const observedModel = compile(model.protocol, model.parameters, { symmetry: false, ...guard.options });
  const observation = observationOf(observedModel);
  const operationsOf = (self: AnyProcess): readonly Operation[] | null =>
    guard.during(observation.of, () => checkedOperations(observation.operations(self)));
  return {
    members,
    width: used.length,
    readsId: guard.readsId,
    read: (key) => {
      let next = 0;
      for (let member = 0; member < members; member += 1) {
        for (let u = 0; u < used.length; u += 1) {
          const word = used[u];
          key[next] = words[base + member * stride + word] & masks[word];
          next += 1;
        }
      }
    },
    history: () => {
      observedModel.words.fill(0);
      for (let i = 0; i < members * stride; i += 1) observedModel.words[base + i] = words[base + i] & masks[i % stride];
      return historyOf(group, observation.of.all.map(operationsOf), observation.initial);
    },
  };
}

function observationOf(model: Model): Observation {
  const { observe } = model.parts;
  if (observe !== undefined) return observe;
  throw new InputError('protocol/observe', `${model.protocol.name} does not say what clients observe`);
}

/** The bits of the observed variables in the words of a member. */
function masksOf(model: Model, group: Processes, from: readonly string[], stride: number): Int32Array {
  const masks = new Int32Array(stride);
  for (const name of from) {
    for (const { word, shift, bits } of model.placesOf(group, name).places) {
      masks[word] |= bits === 32 ? -1 : (2 ** bits - 1) << shift;
    }
  }
  return masks;
}

/** Refuses every access to the state but reads of what `from` names, while it is asked to. */
function guardOf(from: readonly string[]) {
  let allowed: Processes | null = null;
  let idWasRead = false;
  const ownerName = (owner: object): string => (owner as Partial<Processes>).set?.name ?? (owner as Shared).name;
  const refuse = (what: string): never => {
    throw new InputError('protocol/observe', `it ${what}; from names ${from.join(', ')}`);
  };
  const watch = (owner: object) => ({
    onRead: (name: string): void => {
      if (allowed === null) return;
      if (owner !== allowed)
        refuse(`reads ${name} of ${ownerName(owner)}, and may only read variables of ${allowed.set.name}`);
      if (name === 'id') idWasRead = true;
      else if (!from.includes(name)) refuse(`reads ${name} of ${ownerName(owner)}, which from does not name`);
    },
    onWrite: (name: string): void => {
      if (allowed !== null) refuse(`assigns ${name} of ${ownerName(owner)}, and may only read`);
    },
  });
  const onMessage = ({ name }: { readonly name: string }): void => {
    if (allowed !== null)
      refuse(`reads or sends the message ${name}, and may only read variables of ${allowed.set.name}`);
  };
  return {
    options: { watch, listener: { asked: onMessage, sent: onMessage, received: onMessage } },
    readsId: () => idWasRead,
    during: <T>(group: Processes, look: () => T): T => {
      allowed = group;
      try {
        return look();
      } catch (error) {
        throw protocolFault(`operations of observe`, error);
      } finally {
        allowed = null;
      }
    },
  };
}

/** @throws InputError `protocol/observe` */
function checkedOperations(found: readonly Operation[] | null): readonly Operation[] | null {
  if (found === null) return null;
  const what = 'it should return null or an array of { kind, key, value }';
  if (found === undefined)
    throw new InputError('protocol/observe', `${what}, and returned undefined; is a return missing?`);
  const isOperation = (each: Partial<Operation> | null): boolean =>
    (each?.kind === 'read' || each?.kind === 'write') && typeof each.key === 'string' && each.value !== undefined;
  if (!Array.isArray(found) || !found.every(isOperation))
    throw new InputError('protocol/observe', `${what}, and returned ${JSON.stringify(found)}`);
  return found;
}

function historyOf(
  group: Processes,
  operations: readonly (readonly Operation[] | null)[],
  initial: Observation['initial'],
): History {
  const transactions = operations
    .flatMap((each, member) => (each === null ? [] : [{ id: group.set.names[member], operations: each }]))
    .map(({ id, operations: own }, session): Transaction => ({ id, session, status: 'committed', operations: own }));
  return {
    sessions: transactions.map(({ id }) => id),
    transactions,
    initial: new Map(Object.entries(initial)),
  };
}
