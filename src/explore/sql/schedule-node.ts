/** The places of a tree of schedules at which something is decided. */
import type { Step } from './happens-before.ts';

export interface SessionNode {
  readonly kind: 'session';
  /** Processes, in order of their connections. */
  readonly ready: readonly string[];
  /** Tried here before. */
  readonly done: Map<string, Step>;
  readonly sleep: ReadonlyMap<string, Step>;
  /** To be tried here, in the sleep set or not. */
  readonly planned: Set<string>;
  chosen: string;
  /** For the sleep set: which other process has to be tried once one of it is planned. */
  readonly ifPlanned: Map<string, { readonly process: string; readonly initials: readonly string[] }>;
  /** What the step that was taken last time was. */
  step: Step | null;
}

/** What a read sees: every way is tried. */
export interface OtherNode {
  readonly kind: 'other';
  readonly options: number;
  chosen: number;
}
