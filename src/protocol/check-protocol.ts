/** The tool: a protocol, its parameters and what to check become a result with a trace. */
import type { TimelessLevel } from '../states/index.ts';
import { compile } from './model.ts';
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
  const { parameters = {}, symmetry = true } = options;
  const model = compile(protocol, parameters, { symmetry });
  const { path, ...result } = search(model, options);
  return {
    ...result,
    symmetry: model.symmetry.order,
    trace: path === null ? null : traceOf((listener) => compile(protocol, parameters, { symmetry, listener }), path),
  };
}
