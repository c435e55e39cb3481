/** What `define` returns, looked at before anything is searched: a part that is left out silently would be a part that is not checked. */
import { InputError } from '../base/index.ts';
import { requireKind } from './kind.ts';
import { Message } from './message.ts';
import type { NamedSet } from './named-set.ts';
import { protocolFault } from './protocol-fault.ts';
import type { Parameters, Processes, Protocol, ProtocolParts, Shared, Step } from './spec.ts';

/** The protocol's own code runs here. What it throws is its fault. @throws InputError `protocol/shape`, `protocol/kind`, `protocol/throws` */
export function partsOf(protocol: Protocol, given: Parameters): ProtocolParts {
  let parts: ProtocolParts;
  try {
    parts = protocol.define(given);
  } catch (error) {
    throw error instanceof InputError ? error : protocolFault(`${protocol.name}: define`, error);
  }
  if (!isObject(parts)) fail(protocol, 'define should return { processes: [...] }');
  checkParts(protocol, parts);
  return parts;
}

function checkParts(protocol: Protocol, parts: ProtocolParts): void {
  const { processes, messages = [], shared = [], symmetry = [], observe } = parts;
  const lists: [string, readonly unknown[], (each: unknown) => boolean, string][] = [
    ['processes', processes, isProcesses, 'processes(SET, { ... })'],
    ['messages', messages, (each) => each instanceof Message, "message('Name', SET)"],
    ['shared', shared, isShared, "shared('name', { ... })"],
    ['symmetry', symmetry, isSet, 'a set'],
  ];
  for (const [name, list, isOne, example] of lists)
    if (!Array.isArray(list) || !list.every(isOne)) fail(protocol, `${name} should be an array, each of it ${example}`);
  for (const name of ['invariants', 'sometimes', 'eventually'] as const)
    for (const [condition, holds] of Object.entries(parts[name] ?? {}))
      if (typeof holds !== 'function') fail(protocol, `"${condition}" of ${name} should be a function`);
  for (const each of processes as readonly Processes[]) checkProcesses(protocol, each);
  for (const { name: owner, variables } of shared as readonly Shared[])
    for (const [name, kind] of Object.entries(variables)) requireKind(kind, `variable ${name} of ${owner}`);
  if (observe === undefined) return;
  if (!processes.includes(observe.of)) fail(protocol, 'of in observe should be one of its processes');
  if (!Array.isArray(observe.from)) fail(protocol, 'from in observe should be an array of names of variables');
  if (typeof observe.operations !== 'function') fail(protocol, 'operations in observe should be a function');
  if (!isObject(observe.initial)) fail(protocol, 'initial in observe should be an object');
}

const reserved = new Set(['id', 'at', 'all', 'crashes']);

function checkProcesses(protocol: Protocol, { set, spec, all }: Processes): void {
  if (all.length > 0)
    fail(protocol, `processes ${set.name} should be made inside of define, which runs more than once`);
  for (const [name, kind] of Object.entries(spec.variables ?? {})) {
    if (reserved.has(name))
      fail(protocol, `a variable of ${set.name} cannot be called ${name}, which every process has`);
    requireKind(kind, `variable ${name} of ${set.name}`);
  }
  for (const [label, steps] of Object.entries(spec.steps))
    for (const step of [steps].flat()) checkStep(protocol, `label ${label} of ${set.name}`, step);
  checkLabels(protocol, set, spec);
}

function checkLabels(protocol: Protocol, set: NamedSet, { steps, mayRestAt = [], crashes }: Processes['spec']): void {
  const labels = [...mayRestAt, ...(crashes === undefined ? [] : [crashes.recoverAt])];
  const unknown = labels.find((label) => !Object.hasOwn(steps, label) && label !== 'Done');
  if (unknown !== undefined) fail(protocol, `processes ${set.name} have no label ${unknown}`);
}

function checkStep(protocol: Protocol, place: string, step: Partial<Step<never>> | null): void {
  if (!isObject(step) || typeof step.do !== 'function')
    fail(protocol, `a step at ${place} should be { do: (self) => ... }`);
  const { from, choose, await: condition } = step;
  for (const [name, part] of Object.entries({ choose, await: condition }))
    if (part !== undefined && typeof part !== 'function')
      fail(protocol, `${name} of a step at ${place} should be a function`);
  if (from !== undefined && !isSet(from)) fail(protocol, `from of a step at ${place} should be a set`);
}

function isProcesses(found: unknown): boolean {
  return isObject(found) && isSet(found['set']) && isObject(found['spec']) && isObject(found['spec']['steps']);
}

function isShared(found: unknown): boolean {
  return isObject(found) && typeof found['name'] === 'string' && isObject(found['variables']) && isObject(found['now']);
}

function isSet(found: unknown): boolean {
  return isObject(found) && Array.isArray(found['members']) && typeof found['all'] === 'number';
}

function isObject(found: unknown): found is Record<string, unknown> {
  return typeof found === 'object' && found !== null;
}

function fail({ name }: Protocol, message: string): never {
  throw new InputError('protocol/shape', `${name}: ${message}`);
}
