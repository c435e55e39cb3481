/** Steps and runs of which nothing is known yet: a tool adds what it knows. */
import type { PictureStep, RunPicture } from './report-data.ts';

/** A step without its place and its text. */
export const emptyStep = {
  part: 'whole',
  time: null,
  role: null,
  parameters: [],
  outcome: '',
  isError: false,
  waitedFor: null,
  takesSnapshot: null,
  readsOlder: false,
  reads: [],
  writes: [],
  ends: null,
} as const satisfies Partial<PictureStep>;

/** A run without its message, sessions and steps. */
export const emptyRun = {
  count: null,
  cause: [],
  cycle: [],
  tables: [],
  replay: null,
  order: null,
  state: null,
  transactions: [],
  messages: [],
  initial: [],
} as const satisfies Partial<RunPicture>;
