/** A whole verification, from bytes: reader, pipeline and verifier put together, with what a live line shows. */
import { InputError } from '../base/input-error.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { VerifierCounts } from './mirror.ts';
import { OperationTable } from './operation-table.ts';
import { Pipeline, type PipelineCounts } from './pipeline.ts';
import { shrink } from './shrink.ts';
import { emptyHeader, type TraceHeader, type TraceOperation } from '../history/trace.ts';
import { TraceScanner } from './trace-scanner.ts';
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
  /** The trace was cut off: so many operations and reads behind its last mark were not checked. `null`: it is whole. */
  readonly cut: number | null;
}

export interface TraceState {
  readonly counts: VerifierCounts;
  readonly pipeline: PipelineCounts;
  /** Start of the newest operation that came, less that of the last that was verified, in the trace's unit. */
  readonly lag: number;
  /** Its times are nanoseconds: a recorder of ours wrote it. */
  readonly isRecorded: boolean;
}

/** Push every chunk of a trace, then `finish`. */
export class TraceVerification {
  readonly #options: TraceVerificationOptions;
  readonly #reader: TraceScanner;
  readonly #operations = new OperationTable();
  readonly #violations: SmallViolation[] = [];
  #header: TraceHeader = emptyHeader;
  #parts: { readonly pipeline: Pipeline; readonly verifier: Verifier } | null = null;
  #newest = -Infinity;

  constructor(options: TraceVerificationOptions) {
    this.#options = options;
    this.#reader = new TraceScanner({
      operations: this.#operations,
      onHeader: (header) => {
        this.#header = header;
      },
      onMark: ({ time, clockError }, line) => {
        if (clockError !== null && clockError > this.#clockError)
          throw new InputError(
            'trace/clock',
            `the clock of this trace is off by up to ${clockError} from here on, more than was said: give --clock-error ${clockError}`,
            { line },
          );
        this.#open().pipeline.mark(time);
      },
      onOperation: (operation, line) => {
        const start = this.#operations.start[operation] as number;
        if (start > this.#newest) this.#newest = start;
        this.#open().pipeline.push(operation, line);
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
    return { counts: verifier.counts, pipeline: pipeline.counts, lag, isRecorded: this.#header.hasMarks };
  }

  /** @throws InputError `trace/...` */
  push(bytes: Uint8Array): void {
    try {
      this.#reader.push(bytes);
    } finally {
      // Before a line that is wrong, too.
      this.#parts?.pipeline.drain();
    }
  }

  /** @throws InputError `trace/...` */
  finish(): TraceResult {
    const isCut = this.#reader.finish();
    const { pipeline, verifier } = this.#open();
    const complete = pipeline.finish();
    const skipped = verifier.finish(complete);
    const cut = isCut || complete < Infinity ? pipeline.counts.cut + skipped + (isCut ? 1 : 0) : null;
    return {
      counts: verifier.counts,
      pipeline: pipeline.counts,
      violations: this.#violations,
      base: this.#reader.base,
      cut,
    };
  }

  get #clockError(): number {
    return Math.max(this.#options.clockError ?? 0, this.#header.clockError);
  }

  #open(): { readonly pipeline: Pipeline; readonly verifier: Verifier } {
    if (this.#parts !== null) return this.#parts;
    const { mechanisms, bufferMax } = this.#options;
    const clockError = this.#clockError;
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
      onLate: (operation) => verifier.takeLate(operation),
      hasMarks: this.#header.hasMarks,
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
