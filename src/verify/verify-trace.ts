/** A whole verification, from bytes: reader, pipeline and verifier put together, with what a live line shows. */
import { InputError } from '../base/index.ts';
import { emptyHeader, type TraceHeader, type TraceOperation } from '../trace/index.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { VerifierCounts } from './mirror.ts';
import { OperationTable } from './operation-table.ts';
import { Pipeline, type PipelineCounts } from './pipeline.ts';
import { shrink } from './shrink.ts';
import { TraceScanner } from './scanner/trace-scanner.ts';
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
  /** Called with each violation when it is found, up to `violationsMax`. */
  readonly onViolation?: (violation: SmallViolation) => void;
  /** Another mechanism, or another row, shows what the `first` violation of the same transactions shows. */
  readonly onAnother?: (another: Violation, first: SmallViolation) => void;
}

/** A violation with the smallest trace that was found for it; `null` where its surroundings are no longer known. */
export interface SmallViolation extends Violation {
  readonly smallest: readonly TraceOperation[] | null;
  /** What else speaks against the same transactions. Grows while the trace is read. */
  readonly alsoFoundBy: readonly Violation[];
}

/** What was found in a trace, and how much of it was checked. */
export interface TraceResult {
  readonly counts: VerifierCounts;
  readonly pipeline: PipelineCounts;
  readonly violations: readonly SmallViolation[];
  readonly base: bigint;
  /** The trace was cut off: so many operations and reads behind its last mark were not checked. `null`: it is whole. */
  readonly cut: number | null;
  /** Was it cut off in the middle of a line? The line is left out. */
  readonly endsInLine: boolean;
  /** Operations behind the mark that says that nothing comes any more. */
  readonly afterLastMark: number;
  /** Without marks nothing says that it is whole. */
  readonly isMarked: boolean;
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
  readonly #found = new FoundViolations();
  #header: TraceHeader = emptyHeader;
  #parts: { readonly pipeline: Pipeline; readonly verifier: Verifier } | null = null;
  #newest = -Infinity;
  /** Of the last mark that came; `null`: none has. */
  #lastMark: number | null = null;
  #afterLastMark = 0;

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
        this.#lastMark = time;
        this.#open().pipeline.mark(time);
      },
      onOperation: (operation, line) => {
        if (this.#lastMark === Infinity) this.#afterLastMark += 1;
        const start = this.#operations.start[operation];
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
    return { counts: this.#countsOf(verifier), pipeline: pipeline.counts, lag, isRecorded: this.#header.hasMarks };
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
    const isCut = this.#finishReader();
    const { pipeline, verifier } = this.#open();
    const complete = isCut ? pipeline.finishCut() : pipeline.finish();
    const skipped = verifier.finish(complete);
    // A trace whose header is lost has marks all the same, and the last of them tells whether it is whole.
    const isWhole = !isCut && complete === Infinity && (this.#lastMark ?? Infinity) === Infinity;
    const cut = isWhole ? null : pipeline.counts.cut + skipped + (isCut ? 1 : 0);
    return { ...this.soFar, cut, endsInLine: isCut };
  }

  /** @returns whether the last line stops in its middle; it is left out */
  #finishReader(): boolean {
    try {
      return this.#reader.finish();
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'trace/truncated') throw error;
      return true;
    }
  }

  /** What is found and checked: nothing is concluded from what has not come. */
  get soFar(): TraceResult {
    const { pipeline, verifier } = this.#open();
    return {
      counts: this.#countsOf(verifier),
      pipeline: pipeline.counts,
      violations: this.#violations,
      base: this.#reader.base,
      cut: null,
      endsInLine: false,
      afterLastMark: this.#afterLastMark,
      isMarked: this.#header.hasMarks || this.#lastMark !== null,
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
    const { mechanisms, violationsMax = 100, onViolation, onAnother } = this.#options;
    const first = this.#found.firstLike(violation);
    if (first !== undefined) {
      if (first === null) return;
      first.alsoFoundBy.push(violation);
      onAnother?.(violation, first);
      return;
    }
    if (this.#violations.length >= violationsMax) return this.#found.add(violation, null);
    const smallest = shrink(violation, { mechanisms, initial: this.#header.initial });
    const small = { ...violation, smallest, alsoFoundBy: [] };
    this.#violations.push(small);
    this.#found.add(violation, small);
    onViolation?.(small);
  }

  #countsOf(verifier: Verifier): VerifierCounts {
    return { ...verifier.counts, violations: this.#found.count };
  }
}

/** One bug breaks several mechanisms: what is found in the same transactions is one violation. */
class FoundViolations {
  count = 0;
  readonly #byTransactions = new Map<string, KeptViolation | null>();

  /** `null`: it was counted only. `undefined`: there is none, or too many came after it. */
  firstLike(violation: Violation): KeptViolation | null | undefined {
    return this.#byTransactions.get(transactionsKey(violation));
  }

  add(violation: Violation, kept: KeptViolation | null): void {
    this.count += 1;
    this.#byTransactions.set(transactionsKey(violation), kept);
    if (this.#byTransactions.size <= rememberedMax) return;
    const [oldest] = this.#byTransactions.keys();
    if (oldest !== undefined) this.#byTransactions.delete(oldest);
  }
}

type KeptViolation = SmallViolation & { readonly alsoFoundBy: Violation[] };

/** What shows the same bug comes close together: a trace without end must not fill the memory. */
const rememberedMax = 10_000;

function transactionsKey({ transactions }: Violation): string {
  return JSON.stringify([...new Set(transactions)].toSorted());
}
