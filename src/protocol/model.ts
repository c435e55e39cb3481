/**
 * A protocol compiled: one buffer of words holds the state at hand, and the protocol's own functions read and write it.
 *
 * To expand a state the search loads it, and for each step that is enabled the step runs in place, the result is looked at, and
 * the state is restored. Nothing is allocated on the way.
 */
import { InputError } from '../base/index.ts';
import { partsOf } from './check-parts.ts';
import { type Kind, oneOf, range } from './kind.ts';
import { type CellOwner, layOut, type Layout, type Place } from './layout.ts';
import type { Message, MessageListener } from './message.ts';
import type { Member, NamedSet } from './named-set.ts';
import type { Parameters, Processes, Protocol, ProtocolParts, Self, Shared, Step, Variables } from './spec.ts';
import { type Symmetry, symmetryOf } from './symmetry.ts';
import { withoutOthers } from './undeclared.ts';
import { type Based, defineVariable, type VariableWatch, writeCodes } from './variables.ts';

const DONE = 'Done';
/** The label of a process that has crashed. */
export const CRASHED = 'Crashed';

type AnySelf = Self<Variables>;
export type AnyStep = Step<AnySelf>;

export interface CompiledProcess {
  readonly set: NamedSet;
  readonly id: Member;
  readonly self: AnySelf;
  /** `t1`. */
  readonly name: string;
  readonly group: CompiledGroup;
  /** Where its label is: the lowest bits of this word. */
  readonly word: number;
}

export interface CompiledGroup {
  readonly labels: readonly string[];
  readonly labelMask: number;
  /** For each label the steps of which either may be taken. */
  readonly steps: readonly (readonly AnyStep[])[];
  readonly labelsDone: readonly boolean[];
  readonly isFair: boolean;
  readonly variables: Readonly<Record<string, Kind<unknown>>>;
}

export interface Model {
  readonly protocol: Protocol;
  /** With the defaults of those that were not given. */
  readonly parameters: Parameters;
  readonly parts: ProtocolParts;
  readonly layout: Layout;
  readonly symmetry: Symmetry;
  /** The state at hand. */
  readonly words: Int32Array;
  readonly initial: Int32Array;
  readonly processes: readonly CompiledProcess[];
  readonly messages: readonly Message[];
  readonly shared: readonly Shared[];
  readonly placesOf: PlaceOf;
}

export interface ModelOptions {
  readonly symmetry?: boolean;
  readonly listener?: MessageListener;
  /** Is called with each access to a variable: `owner` is its `Processes` or `Shared`. Without it access is as fast as can be. */
  readonly watch?: (owner: object) => VariableWatch;
}

/** @throws InputError where the protocol's declarations are wrong */
export function compile(protocol: Protocol, parameters: Parameters = {}, options: ModelOptions = {}): Model {
  const given = parametersOf(protocol, parameters);
  const parts = partsOf(protocol, given);
  const messages = (parts.messages ?? []) as readonly Message[];
  const all = parts.processes as readonly Processes[];
  const sharedVariables = (parts.shared ?? []) as readonly Shared[];
  checkNames(all, messages);
  const watchOf = (owner: object): VariableWatch | null => options.watch?.(owner) ?? null;
  const variables = all.map((group) => withLabel(group));
  const owners = ownersOf(all, variables, sharedVariables, messages);
  const layout = layOut(owners.map(({ owner }) => owner));
  const words = new Int32Array(layout.words);
  const placeOf = (key: object, name: string) => {
    const found = owners.findIndex((each) => each.key === key && each.name === name);
    const owner = layout.owners[found];
    if (owner === undefined) throw new InputError('protocol/variable', `there is no variable ${name}`);
    return { set: owner.block.set, base: owner.block.base, stride: owner.block.stride, places: owner.places };
  };
  const processes = all.flatMap((group, g) => bindProcesses(group, variables[g], words, placeOf, watchOf(group)));
  for (const each of sharedVariables) bindShared(each, words, placeOf, watchOf(each));
  for (const each of messages) bindMessage(each, words, placeOf(each, ''), options.listener ?? null);
  for (const { key, name, kind } of owners) {
    const { set, base, stride, places } = placeOf(key, name);
    if (kind === null) continue;
    const codes: number[] = [];
    kind.encode(kind.initial, codes);
    for (let member = 0; member < (set?.size ?? 1); member += 1)
      writeCodes(words, base + member * stride, places, codes);
  }
  for (const { self, group } of processes) self.at = group.labels[0];
  const symmetry = symmetryOf(layout, options.symmetry === false ? [] : (parts.symmetry ?? []));
  return {
    protocol,
    parameters: given,
    parts,
    layout,
    symmetry,
    words,
    initial: words.slice(),
    processes,
    messages,
    shared: sharedVariables,
    placesOf: placeOf,
  };
}

function parametersOf(protocol: Protocol, given: Parameters): Parameters {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(protocol.parameters, name)) {
      const names = Object.keys(protocol.parameters).join(', ');
      throw new InputError('protocol/parameter', `${protocol.name} has no parameter ${name}; parameters: ${names}`);
    }
    if (!Number.isInteger(value)) throw new InputError('protocol/parameter', `${name} is ${value}, not an integer`);
  }
  return { ...protocol.parameters, ...given };
}

function checkNames(all: readonly Processes[], messages: readonly Message[]): void {
  const names = [...all.map(({ set }) => `processes ${set.name}`), ...messages.map(({ name }) => `message ${name}`)];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new InputError('protocol/name', `${twice} is declared twice`);
}

interface NamedOwner {
  readonly key: object;
  readonly name: string;
  readonly kind: Kind<unknown> | null;
  readonly owner: CellOwner;
}

/** The label comes first: the layout puts it in the lowest bits. */
function withLabel({ spec }: Processes): Variables {
  const { crashes } = spec;
  const counter = crashes === undefined ? {} : { crashes: range(0, crashes.crashesMax) };
  return { at: oneOf(...labelsOf(spec)), ...spec.variables, ...counter };
}

function labelsOf(spec: Processes['spec']): string[] {
  const rest = Object.keys(spec.steps).filter((label) => label !== spec.start);
  return [
    spec.start,
    ...rest,
    ...(rest.includes(DONE) ? [] : [DONE]),
    ...(spec.crashes === undefined ? [] : [CRASHED]),
  ];
}

function ownersOf(
  all: readonly Processes[],
  variables: readonly Variables[],
  sharedVariables: readonly Shared[],
  messages: readonly Message[],
): NamedOwner[] {
  const indexed = new Set<NamedSet>(all.map(({ set }) => set));
  const ofProcesses = all.flatMap((group, g) =>
    Object.entries(variables[g]).map(([name, kind]) => ({
      key: group,
      name,
      kind,
      owner: { set: group.set, cells: kind.cells },
    })),
  );
  const ofShared = sharedVariables.flatMap((each) =>
    Object.entries(each.variables).map(([name, kind]) => ({
      key: each,
      name,
      kind,
      owner: { set: null, cells: kind.cells },
    })),
  );
  const ofMessages = messages.map((each) => {
    const [first] = each.sets;
    const set = first !== undefined && indexed.has(first) ? first : null;
    return {
      key: each,
      name: '',
      kind: null,
      owner: { set, cells: messageCells(set === null ? each.sets : each.sets.slice(1)) },
    };
  });
  return [...ofProcesses, ...ofMessages, ...ofShared];
}

/** A bit for each tuple; the bits of the last set together are a set of its members. */
function messageCells(sets: readonly NamedSet[]): CellOwner['cells'] {
  const last = sets.at(-1);
  if (last === undefined) return [{ size: 2 }];
  let cells: CellOwner['cells'] = [{ size: last.all + 1, renames: { set: last, as: 'members', none: 0 } }];
  for (const set of sets.slice(0, -1).toReversed()) {
    const stride = cells.length;
    const inner = cells;
    cells = set.members.flatMap((member) =>
      inner.map((cell) => ({ ...cell, indexedBy: [{ set, member, stride }, ...(cell.indexedBy ?? [])] })),
    );
  }
  return cells;
}

type PlaceOf = (
  key: object,
  name: string,
) => {
  readonly set: NamedSet | null;
  readonly base: number;
  readonly stride: number;
  readonly places: readonly Place[];
};

function bindProcesses(
  group: Processes,
  variables: Variables,
  words: Int32Array,
  placeOf: PlaceOf,
  watch: VariableWatch | null,
): CompiledProcess[] {
  const prototype = {};
  Object.setPrototypeOf(group.all, Array.prototype);
  for (const [name, kind] of Object.entries(variables)) {
    defineVariable(prototype, name, kind, placeOf(group, name).places, words, watch);
  }
  const { base, stride } = placeOf(group, 'at');
  const labels = labelsOf(group.spec);
  const compiled: CompiledGroup = {
    labels,
    labelMask: 2 ** (32 - Math.clz32(labels.length - 1)) - 1,
    steps: labels.map((label) => stepsAt(group, label)),
    labelsDone: labels.map(
      (label) => stepsAt(group, label).length === 0 || (group.spec.mayRestAt?.includes(label) ?? false),
    ),
    isFair: group.spec.fair ?? true,
    variables,
  };
  const bound = group.set.members.map((id) => {
    const own = { base: base + id * stride, id, all: group.all };
    const self = Object.assign(Object.create(prototype) as Based & AnySelf, own);
    if (watch !== null) Object.defineProperty(self, 'id', { get: () => (watch.onRead('id'), id) });
    (group.all as AnySelf[]).push(Object.freeze(self));
    return { set: group.set, id, self, name: group.set.names[id], group: compiled, word: base + id * stride };
  });
  // Last, because it refuses what was just assigned.
  Object.setPrototypeOf(prototype, withoutOthers(group.set.name, Object.keys(variables)));
  return bound;
}

/** The label's own steps; where processes crash, they do so at every label before they are done. */
function stepsAt({ spec }: Processes, label: string): readonly AnyStep[] {
  const own = [spec.steps[label] ?? []].flat() as readonly AnyStep[];
  const { crashes } = spec;
  if (crashes === undefined || (own.length === 0 && label !== CRASHED)) return own;
  const at = (self: AnySelf, next: string): void => {
    self.at = next;
  };
  if (label === CRASHED) return [{ name: 'recover', do: (self) => at(self, crashes.recoverAt) }];
  const lost = Object.entries(spec.variables ?? {}).filter(([name]) => !crashes.durable.includes(name));
  const crash: AnyStep = {
    name: 'crash',
    await: (self) => (self['crashes'] as number) < crashes.crashesMax,
    do: (self) => {
      const variables = self as Record<string, unknown>;
      for (const [name, kind] of lost) variables[name] = kind.initial;
      variables['crashes'] = (self['crashes'] as number) + 1;
      at(self, CRASHED);
    },
  };
  return [...own, crash];
}

function bindShared(each: Shared, words: Int32Array, placeOf: PlaceOf, watch: VariableWatch | null): void {
  Object.setPrototypeOf(each.now, withoutOthers(each.name, Object.keys(each.variables)));
  for (const [name, kind] of Object.entries(each.variables)) {
    const { base, places } = placeOf(each, name);
    if (!Object.hasOwn(each.now, 'base')) Object.defineProperty(each.now, 'base', { value: base });
    defineVariable(each.now, name, kind, places, words, watch);
  }
}

function bindMessage(
  each: Message,
  words: Int32Array,
  at: ReturnType<PlaceOf>,
  listener: MessageListener | null,
): void {
  const last = each.sets.at(-1)?.size ?? 1;
  const owned = at.set !== null && at.set === each.sets[0];
  const places = Int32Array.from({ length: each.count }, (_, index) => {
    const perMember = owned ? each.count / each.sets[0].size : each.count;
    const member = owned ? Math.floor(index / perMember) : 0;
    const inner = index % perMember;
    const bitsPerCell = each.sets.length > (owned ? 1 : 0) ? last : 1;
    const place = at.places[Math.floor(inner / bitsPerCell)];
    return (at.base + member * at.stride + place.word) * 32 + place.shift + (inner % bitsPerCell);
  });
  each.bind(words, places, listener);
}
