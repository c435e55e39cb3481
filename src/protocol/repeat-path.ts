/**
 * What happened on a path. The search keeps states up to symmetry; here the steps run again from the initial state, so that every process keeps
 * its name.
 */
import type { MessageListener } from './message.ts';
import type { Model, CompiledProcess } from './model.ts';
import type { Trace, TraceStep, TraceMessage, StateValues } from './trace.ts';
import type { Member } from './named-set.ts';
import { expanderOf, stepName, type Running } from './expand.ts';
import { observedHistory } from './isolation-invariant.ts';
import { assert } from '../base/index.ts';

interface Heard {
  readonly kind: 'sent' | 'received';
  readonly text: string;
}

/**
 * @param compileWith compiles the protocol once more, with this listener to its messages
 * @param extent what clients observed is left out where it is not known
 */
export function traceOf(
  compileWith: (listener: MessageListener) => Model,
  path: readonly Int32Array[],
  extent: 'steps' | 'steps and observed',
): Trace {
  const heard: Heard[] = [];
  const hear = (kind: Heard['kind']) => (message: Model['messages'][number], members: readonly Member[]) =>
    void heard.push({ kind, text: messageText(message, members) });
  const model = compileWith({ sent: hear('sent'), received: hear('received') });
  const { words } = model;
  const { expand, running } = expanderOf(model);
  const senders = new Map<string, string>();
  const steps: TraceStep[] = [];
  let state = model.initial.slice();
  words.set(state);
  const states = [valuesOf(model)];
  for (const next of path.slice(1)) {
    const found = stepTo(model, expand, running, state, next);
    words.set(state);
    const before = flat(model);
    heard.length = 0;
    found.step?.choose?.(found.process.self);
    found.step?.await?.(found.process.self, found.chosen);
    const received = new Set(heard.map(({ text }) => text));
    heard.length = 0;
    found.step?.do(found.process.self, found.chosen);
    const sent = new Set(heard.filter(({ kind }) => kind === 'sent').map(({ text }) => text));
    for (const text of sent) if (!senders.has(text)) senders.set(text, found.process.name);
    const withSender = (text: string): TraceMessage => ({ text, from: senders.get(text) ?? found.process.name });
    steps.push({
      process: found.process.name,
      step: stepName(found),
      from: found.label,
      to: found.process.self.at,
      received: [...received].map(withSender),
      sent: [...sent].map(withSender),
      changes: changesOf(before, flat(model)),
    });
    state = words.slice();
    states.push(valuesOf(model));
  }
  return {
    protocol: model.protocol.name,
    processes: model.processes.map(({ name }) => name),
    states,
    steps,
    observed: extent === 'steps' || model.parts.observe === undefined ? null : observedHistory(model),
  };
}

type Found = Running & { readonly process: CompiledProcess };

/** The first step that leads from a state to one that is `next` up to symmetry. */
function stepTo(
  model: Model,
  expand: ReturnType<typeof expanderOf>['expand'],
  running: Running,
  state: Int32Array,
  next: Int32Array,
): Found {
  let found: Found | null = null;
  expand(state, () => {
    model.symmetry.canonicalise(model.words);
    if (model.words.some((word, i) => word !== next[i])) return true;
    const { process } = running;
    if (process !== null) found = { ...running, process };
    return false;
  });
  assert(found !== null, 'the path must be one of the protocol');
  return found;
}

function messageText({ name, sets }: Model['messages'][number], members: readonly Member[]): string {
  return `${name}(${members.map((member, i) => sets[i]?.names[member]).join(', ')})`;
}

/** The state in the model's words as plain data, by process and variable. */
function valuesOf(model: Model): StateValues {
  const ofProcesses = model.processes.map(({ name, self, group }) => {
    // Variables are fields of a process beside its own, by names that only the model knows.
    const variables = self as unknown as Readonly<Record<string, unknown>>;
    return [name, Object.fromEntries(Object.entries(group.variables).map(([v, kind]) => [v, kind.show(variables[v])]))];
  });
  const ofShared = model.shared.map(({ name, variables, now }) => [
    name,
    Object.fromEntries(Object.entries(variables).map(([v, kind]) => [v, kind.show(now[v])])),
  ]);
  return Object.fromEntries([
    ...ofProcesses,
    ...ofShared,
    ['messages', { '#set': sentMessages(model) }],
  ]) as StateValues;
}

function sentMessages(model: Model): string[] {
  return model.messages.flatMap((message) =>
    Array.from({ length: message.count }, (_, index) => index)
      .filter((index) => message.isIn(model.words, index))
      .map((index) => messageText(message, membersAt(message, index))),
  );
}

function membersAt({ sets }: Model['messages'][number], index: number): Member[] {
  let left = index;
  return sets
    .toReversed()
    .map(({ size }) => {
      const member = left % size;
      left = Math.floor(left / size);
      return member;
    })
    .toReversed();
}

function flat(model: Model): Map<string, string> {
  return new Map(
    Object.entries(valuesOf(model)).flatMap(([owner, variables]) =>
      owner === 'messages'
        ? []
        : Object.entries(variables as object)
            .filter(([name]) => name !== 'at')
            .map(([name, value]): [string, string] => [`${owner}.${name}`, shortText(value)]),
    ),
  );
}

function changesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): TraceStep['changes'] {
  return [...after]
    .filter(([variable, text]) => before.get(variable) !== text)
    .map(([variable, text]) => ({ variable, before: before.get(variable) ?? '', after: text }));
}

function shortText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shortText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    if ('#set' in value) return `{${(value['#set'] as string[]).join(', ')}}`;
    return `{${Object.entries(value)
      .map(([name, part]) => `${name}: ${shortText(part)}`)
      .join(', ')}}`;
  }
  return String(value);
}
