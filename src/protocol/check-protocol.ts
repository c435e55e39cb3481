/** The tool: a protocol, its parameters and what to check become a result with a trace. */
import type { TimelessLevel } from '../states/index.ts';
import { checkEventually } from './liveness.ts';
import type { MessageListener } from './message.ts';
import { compile, type Model } from './model.ts';
import { parallelSearch, type SearchThread } from './parallel-search.ts';
import { type LevelTask, searchWorkerOf, type WorkerSetup } from './search-worker.ts';
import { search, type SearchOptions, type SearchResult } from './search.ts';
import { simulate, type SimulateOptions } from './simulate.ts';
import type { Parameters, Protocol } from './spec.ts';
import { type Trace, traceOf } from './trace.ts';

export interface ProtocolCheckOptions extends SearchOptions {
  readonly parameters?: Parameters;
  readonly levels?: readonly TimelessLevel[];
  /** Default true: states that differ only by names of interchangeable members are one. */
  readonly symmetry?: boolean;
  /** Default true: once all states are right, check what must eventually hold. */
  readonly eventually?: boolean;
}

export interface ProtocolCheckResult extends Omit<SearchResult, 'path'> {
  readonly trace: Trace | null;
  /** How many renamings symmetry has; 1 without. */
  readonly symmetry: number;
  /** What was not checked, and why. */
  readonly warnings: readonly string[];
}

const eventuallyStatesMax = 2_000_000;

/** @throws InputError `protocol/...` where the protocol is wrong */
export function checkProtocol(protocol: Protocol, options: ProtocolCheckOptions = {}): ProtocolCheckResult {
  const model = compileFor(protocol, options);
  return resultOf(protocol, model, options, search(model, options));
}

/** Random behaviours instead of all: it finds violations, and never says that there is none. */
export function simulateProtocol(
  protocol: Protocol,
  options: SimulateOptions & Pick<ProtocolCheckOptions, 'parameters'>,
): ProtocolCheckResult {
  const withoutSymmetry = { ...options, symmetry: false };
  const model = compileFor(protocol, withoutSymmetry);
  return resultOf(protocol, model, withoutSymmetry, simulate(model, options));
}

/** On several threads; the search is breadth-first. */
export async function checkProtocolOn(
  threads: readonly SearchThread[],
  protocol: Protocol,
  options: ProtocolCheckOptions = {},
): Promise<ProtocolCheckResult> {
  const model = compileFor(protocol, options);
  return resultOf(protocol, model, options, await parallelSearch(model, threads, options));
}

/** What such a thread does with each message: a level's report goes back. */
export function searchThreadOf(
  protocol: Protocol,
  options: Pick<ProtocolCheckOptions, 'parameters' | 'symmetry'>,
): (message: unknown) => unknown {
  const handle = searchWorkerOf(compileFor(protocol, options));
  return (message) => handle(message as WorkerSetup | LevelTask);
}

function compileFor(protocol: Protocol, options: ProtocolCheckOptions, listener?: MessageListener): Model {
  const { parameters = {}, symmetry = true } = options;
  return compile(protocol, parameters, { symmetry, ...(listener === undefined ? {} : { listener }) });
}

function resultOf(
  protocol: Protocol,
  model: Model,
  options: ProtocolCheckOptions,
  safety: SearchResult,
): ProtocolCheckResult {
  const { result, warnings } = withLiveness(model, options, safety);
  const { path, ...rest } = result;
  return {
    ...rest,
    symmetry: model.symmetry.order,
    warnings,
    trace: path === null ? null : traceOf((listener) => compileFor(protocol, options, listener), path),
  };
}

/** Once all states are known to be right: does what must happen happen? */
function withLiveness(
  model: Model,
  options: ProtocolCheckOptions,
  safety: SearchResult,
): { readonly result: SearchResult; readonly warnings: readonly string[] } {
  const conditions = Object.entries(model.parts.eventually ?? {});
  if (conditions.length === 0 || options.eventually === false || safety.verdict !== 'satisfied')
    return { result: safety, warnings: [] };
  if (model.symmetry.order > 1) {
    const names = conditions.map(([name]) => `"${name}"`).join(', ');
    const why = 'symmetry and liveness do not mix, because a cycle of representatives need not be a cycle';
    return { result: safety, warnings: [`eventually ${names} was not checked: ${why}`] };
  }
  const statesMax = Math.min(options.statesMax ?? Infinity, eventuallyStatesMax);
  for (const [name, holds] of conditions) {
    const { verdict, path } = checkEventually(model, holds, statesMax);
    if (verdict === 'violated') {
      return { result: { ...safety, verdict, violation: { kind: 'eventually', name }, path }, warnings: [] };
    }
    if (verdict === 'unknown') {
      const warning = `eventually "${name}" was not decided within ${statesMax} states`;
      return { result: { ...safety, verdict, reason: 'states-limit', complete: false }, warnings: [warning] };
    }
  }
  return { result: safety, warnings: [] };
}
