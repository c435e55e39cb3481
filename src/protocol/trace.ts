/** A path as what happened: which process took which step, what it received and sent, what changed. Plain data. */
import type { History } from '../history/index.ts';

/** A message that a step sent or received. */
export interface TraceMessage {
  /** `VoteCommit(t1, r2)`. */
  readonly text: string;
  /** The process that sent it first. */
  readonly from: string;
}

/** One step of one process. */
export interface TraceStep {
  readonly process: string;
  /** The step's name and what it chose. */
  readonly step: string;
  readonly from: string;
  readonly to: string;
  readonly received: readonly TraceMessage[];
  readonly sent: readonly TraceMessage[];
  /** Variables other than labels that changed. */
  readonly changes: readonly { readonly variable: string; readonly before: string; readonly after: string }[];
}

/** The variables of a state by name, as people write them. */
export type StateValues = Readonly<Record<string, unknown>>;

/** A path of steps from an initial state, such as one to a violation. */
export interface Trace {
  readonly protocol: string;
  readonly processes: readonly string[];
  /** One more than steps: the first is the initial state. */
  readonly states: readonly StateValues[];
  readonly steps: readonly TraceStep[];
  /** What clients observed at its end. */
  readonly observed: History | null;
}
