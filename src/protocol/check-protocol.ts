/** The tool: a protocol, its parameters and what to check become a result with a trace. */
import type { TimelessLevel } from '../states/index.ts';
import type { MessageListener } from './message.ts';
import { compile, type Model } from './model.ts';
import { parallelSearch, type SearchThread } from './parallel-search.ts';
import { type LevelTask, searchWorkerOf, type WorkerSetup } from './search-worker.ts';
import { search, type SearchOptions, type SearchResult } from './search.ts';
import type { Parameters, Protocol } from './spec.ts';
import { type Trace, traceOf } from './trace.ts';

export interface ProtocolCheckOptions extends SearchOptions {
  readonly parameters?: Parameters;
  readonly levels?: readonly TimelessLevel[];
  /** Default true: states that differ only by names of interchangeable members are one. */
  readonly symmetry?: boolean;
}

export interface ProtocolCheckResult extends Omit<SearchResult, 'path'> {
  readonly trace: Trace | null;
  /** How many renamings symmetry has; 1 without. */
  readonly symmetry: number;
}

/** @throws InputError `protocol/...` where the protocol is wrong */
export function checkProtocol(protocol: Protocol, options: ProtocolCheckOptions = {}): ProtocolCheckResult {
  const model = compileFor(protocol, options);
  return resultOf(protocol, model, options, search(model, options));
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
  { path, ...result }: SearchResult,
): ProtocolCheckResult {
  return {
    ...result,
    symmetry: model.symmetry.order,
    trace: path === null ? null : traceOf((listener) => compileFor(protocol, options, listener), path),
  };
}
