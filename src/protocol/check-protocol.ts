/** The tool: a protocol, its parameters and what to check become a result with a trace. */
import { assert } from '../base/index.ts';
import { type Conclusion, conclude, type Evidence, noEvidence } from '../evidence/index.ts';
import type { TimelessLevel } from '../states/index.ts';
import { checkEventually } from './liveness.ts';
import type { MessageListener } from './message.ts';
import { compile, type Model } from './model.ts';
import { parallelSearch, type SearchThread } from './parallel-search.ts';
import { FaultOnPath, ProtocolFault } from './protocol-fault.ts';
import { type SearchMessage, type SearchReport, searchWorkerOf } from './search-worker.ts';
import { search, searchYielding, type SearchOptions, type SearchResult } from './search.ts';
import { simulate, type SimulateOptions } from './simulate.ts';
import type { Parameters, Protocol } from './spec.ts';
import type { Trace } from './trace.ts';
import { traceOf } from './repeat-path.ts';

export interface ProtocolCheckOptions extends SearchOptions {
  readonly parameters?: Parameters;
  readonly levels?: readonly TimelessLevel[];
  /** Default true: states that differ only by names of interchangeable members are one. */
  readonly symmetry?: boolean;
  /** Default true: once all states are right, check what must eventually hold. */
  readonly eventually?: boolean;
}

/** What a search found. */
export interface ProtocolCheckResult extends Omit<SearchResult, 'path'> {
  readonly conclusion: Conclusion;
  readonly trace: Trace | null;
  /** How many renamings symmetry has; 1 without. */
  readonly symmetry: number;
}

const eventuallyStatesMax = 2_000_000;

/** @throws InputError `protocol/...` where the protocol is wrong */
export function checkProtocol(protocol: Protocol, options: ProtocolCheckOptions = {}): ProtocolCheckResult {
  const model = compileFor(protocol, options);
  return withTrace(protocol, options, () => resultOf(protocol, model, options, search(model, options)));
}

/** The same, giving the thread back now and then, so that `signal` is heard. */
export async function checkProtocolYielding(
  protocol: Protocol,
  options: ProtocolCheckOptions = {},
): Promise<ProtocolCheckResult> {
  const model = compileFor(protocol, options);
  const result = await searchYielding(model, options).catch((error: unknown) => {
    throw tracedFault(protocol, options, error);
  });
  return withTrace(protocol, options, () => resultOf(protocol, model, options, result));
}

/** Random behaviours instead of all: it finds violations, and never says that there is none. */
export async function simulateProtocol(
  protocol: Protocol,
  options: SimulateOptions & Pick<ProtocolCheckOptions, 'parameters'>,
): Promise<ProtocolCheckResult> {
  const withoutSymmetry = { ...options, symmetry: false };
  const model = compileFor(protocol, withoutSymmetry);
  const result = await simulate(model, options).catch((error: unknown) => {
    throw tracedFault(protocol, withoutSymmetry, error);
  });
  return withTrace(protocol, withoutSymmetry, () => resultOf(protocol, model, withoutSymmetry, result));
}

/** On several threads; the search is breadth-first. */
export async function checkProtocolOn(
  threads: readonly SearchThread[],
  protocol: Protocol,
  options: ProtocolCheckOptions = {},
): Promise<ProtocolCheckResult> {
  const model = compileFor(protocol, options);
  const result = await parallelSearch(model, threads, options).catch((error: unknown) => {
    throw tracedFault(protocol, options, error);
  });
  return withTrace(protocol, options, () => resultOf(protocol, model, options, result));
}

/** What such a thread does with each message: a level's report goes back. */
export function searchThreadOf(
  protocol: Protocol,
  options: Pick<ProtocolCheckOptions, 'parameters' | 'symmetry'>,
): (message: SearchMessage) => SearchReport {
  return searchWorkerOf(compileFor(protocol, options));
}

function withTrace(
  protocol: Protocol,
  options: ProtocolCheckOptions,
  run: () => ProtocolCheckResult,
): ProtocolCheckResult {
  try {
    return run();
  } catch (error) {
    throw tracedFault(protocol, options, error);
  }
}

/** Where a step's fault has a path, the steps that lead there are part of it. */
function tracedFault(protocol: Protocol, options: ProtocolCheckOptions, error: unknown): unknown {
  if (!(error instanceof FaultOnPath)) return error;
  return new ProtocolFault(
    error,
    traceOf((listener) => compileFor(protocol, options, listener), error.path, 'steps'),
  );
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
  const { result, unchecked } = withLiveness(model, options, safety);
  const { path, ...rest } = result;
  const conclusion = conclude(evidenceOf(model, options, result, unchecked));
  assert(conclusion.kind !== 'at-fault', 'a protocol has no sessions that could have been silent');
  return {
    ...rest,
    conclusion,
    verdict: conclusion.kind,
    symmetry: model.symmetry.order,
    trace:
      path === null ? null : traceOf((listener) => compileFor(protocol, options, listener), path, 'steps and observed'),
  };
}

function evidenceOf(
  { parts }: Model,
  { levels = [], deadlock = true }: ProtocolCheckOptions,
  { violation, reason, observedMost, generated, depth }: SearchResult,
  unchecked: readonly string[],
): Evidence {
  const { invariants = {}, sometimes = {}, eventually = {} } = parts;
  const asked = [invariants, sometimes, eventually].flatMap(Object.keys).length + levels.length + Number(deadlock);
  const nothingAsked =
    'nothing was asked: the protocol has no invariant, and neither a level nor deadlock is looked for';
  const isGivenUp = violation?.kind === 'isolation' && violation.verdict === 'unknown';
  return {
    ...noEvidence,
    violations: violation === null || isGivenUp ? 0 : 1,
    looked: [
      // The initial state is generated, too.
      { count: Math.max(generated, depth) - 1, nothing: 'no step was ever taken' },
      { count: asked, nothing: nothingAsked },
      ...(observedMost === null ? [] : [{ count: observedMost, nothing: '0 transactions were ever observed' }]),
    ],
    cut: [
      ...(reason === null ? [] : [reason === 'interrupted' ? reason : `${reason} reached`]),
      ...(isGivenUp
        ? [`whether a state is at ${violation.name} was not decided: the search for an execution gave up`]
        : []),
      ...unchecked,
    ],
  };
}

/** Once all states are known to be right: does what must happen happen? */
function withLiveness(
  model: Model,
  options: ProtocolCheckOptions,
  safety: SearchResult,
): { readonly result: SearchResult; readonly unchecked: readonly string[] } {
  const conditions = Object.entries(model.parts.eventually ?? {});
  if (conditions.length === 0 || options.eventually === false || safety.verdict !== 'satisfied')
    return { result: safety, unchecked: [] };
  if (model.symmetry.order > 1) {
    const names = conditions.map(([name]) => `"${name}"`).join(', ');
    const why = 'a cycle of states up to symmetry need not be a cycle';
    const remedy = '--no-symmetry checks it, --no-eventually leaves it out';
    return { result: safety, unchecked: [`eventually ${names} was not checked: ${why}; ${remedy}`] };
  }
  const statesMax = Math.min(options.statesMax ?? Infinity, eventuallyStatesMax);
  for (const [name, holds] of conditions) {
    const { verdict, path } = checkEventually(model, name, holds, statesMax);
    if (verdict === 'violated') {
      return { result: { ...safety, verdict, violation: { kind: 'eventually', name }, path }, unchecked: [] };
    }
    if (verdict === 'unknown') {
      const undecided = `eventually "${name}" was not decided within ${statesMax} states`;
      return { result: { ...safety, verdict, reason: 'states-limit', complete: false }, unchecked: [undecided] };
    }
  }
  return { result: safety, unchecked: [] };
}
