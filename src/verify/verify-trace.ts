/** A whole verification, from bytes: reader, pipeline and verifier put together, with what a live line shows. */
import type { Mechanisms } from './mechanisms.ts';
import type { VerifierCounts } from './mirror.ts';
import { OperationTable } from './operation-table.ts';
import { Pipeline, type PipelineCounts } from './pipeline.ts';
import { shrink } from './shrink.ts';
import { emptyHeader, type TraceHeader, type TraceOperation } from './trace.ts';
import { TraceReader } from './trace-reader.ts';
import { Verifier } from './verifier.ts';
import type { Violation } from './violation.ts';

export interface TraceVerificationOptions {
  readonly mechanisms: Mechanisms;
  /** Operations that may wait in the pipeline. Default as `Pipeline`. */
  readonly bufferMax?: number;
  /** How far clocks may be off, in the trace's unit. Default 0. */
  readonly clockError?: number;
  /** Violations that are kept and made small; all are counted. Default 100. */
  readonly violationsMax?: number;
  readonly onViolation?: (violation: SmallViolation) => void;
}

/** A violation with the smallest trace that was found for it; `null` where its surroundings are no longer known. */
export interface SmallViolation extends Violation {
  readonly smallest: readonly TraceOperation[] | null;
}

export interface TraceResult {
  readonly counts: VerifierCounts;
  readonly pipeline: PipelineCounts;
  readonly violations: readonly SmallViolation[];
  readonly base: bigint;
}

export interface TraceState {
  readonly counts: VerifierCounts;
  readonly pipeline: PipelineCounts;
  /** Start of the newest operation that came, less that of the last that was verified, in the trace's unit. */
  readonly lag: number;
}

/** Push every chunk of a trace, then `finish`. */
export class TraceVerification {
  readonly #options: TraceVerificationOptions;
  readonly #reader: TraceReader;
  readonly #operations = new OperationTable();
  readonly #violations: SmallViolation[] = [];
  #header: TraceHeader = emptyHeader;
  #parts: { readonly pipeline: Pipeline; readonly verifier: Verifier } | null = null;
  #newest = -Infinity;

  constructor(options: TraceVerificationOptions) {
    this.#options = options;
    this.#reader = new TraceReader({
      onHeader: (header) => {
        this.#header = header;
      },
      onOperation: (operation, line) => {
        if (operation.start > this.#newest) this.#newest = operation.start;
        this.#open().pipeline.push(this.#operations.add(operation), line);
      },
    });
  }

  /** What is added to the times of operations to have those of the trace. */
  get base(): bigint {
    return this.#reader.base;
  }

  get state(): TraceState {
    const { pipeline, verifier } = this.#open();
    const lag = pipeline.frontier === -Infinity ? 0 : this.#newest - pipeline.frontier;
    return { counts: verifier.counts, pipeline: pipeline.counts, lag };
  }

  /** @throws InputError `trace/...` */
  push(bytes: Uint8Array): void {
    this.#reader.push(bytes);
    this.#parts?.pipeline.drain();
  }

  /** @throws InputError `trace/...` */
  finish(): TraceResult {
    this.#reader.finish();
    const { pipeline, verifier } = this.#open();
    pipeline.finish();
    verifier.finish();
    return {
      counts: verifier.counts,
      pipeline: pipeline.counts,
      violations: this.#violations,
      base: this.#reader.base,
    };
  }

  #open(): { readonly pipeline: Pipeline; readonly verifier: Verifier } {
    if (this.#parts !== null) return this.#parts;
    const { mechanisms, clockError = 0, bufferMax } = this.#options;
    const verifier = new Verifier({
      mechanisms,
      clockError,
      initial: this.#header.initial,
      operations: this.#operations,
      base: () => this.#reader.base,
      onViolation: (violation) => this.#take(violation),
    });
    const pipeline = new Pipeline({
      operations: this.#operations,
      dispatch: (operation) => verifier.pushAt(operation),
      onStalled: (session) => verifier.abandon(session),
      sessions: this.#header.sessions,
      clockError,
      ...(bufferMax === undefined ? {} : { bufferMax }),
    });
    this.#parts = { pipeline, verifier };
    return this.#parts;
  }

  #take(violation: Violation): void {
    const { mechanisms, violationsMax = 100, onViolation } = this.#options;
    if (this.#violations.length >= violationsMax) return;
    const small = { ...violation, smallest: shrink(violation, { mechanisms, initial: this.#header.initial }) };
    this.#violations.push(small);
    onViolation?.(small);
  }
}
