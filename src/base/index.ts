export { assert, AssertionFailure } from './assert.ts';
export { Breather, Budget, type BudgetOptions, type StopReason, stopText } from './budget.ts';
export {
  exploring,
  forEveryChoice,
  forEveryChoiceAsync,
  nextPath,
  replaying,
  seeded,
  type Chooser,
} from './chooser.ts';
export { counted, formatCount } from './counted.ts';
export { crc32 } from './crc32.ts';
export { secretBytes } from './secret-bytes.ts';
export { settledWithin, TimeLimit, unlimited, within } from './time-limit.ts';
export { formatInputError, isTruncated, InputError, type Place } from './input-error.ts';
export { firstUserFrame, pathOf, shownPath, callerFrame } from './user-frame.ts';
export { BitMatrix, everyElement } from './bit-matrix.ts';
export { MinHeap } from './min-heap.ts';
export { monotonicMs, monotonicNanoseconds, wallClockMicroseconds } from './clock.ts';
export { LATE, before } from './deadline.ts';
export { activeResources, onUnhandledRejection } from './event-loop.ts';
export { pickGiven } from './pick-given.ts';
export { joinBytes } from './join-bytes.ts';
export { sampleMean } from './sample-mean.ts';
export { requireWorkers, shareJobs, type JobWorker } from './share-jobs.ts';
export { xmlText } from './xml-text.ts';
export { SmallMap } from './small-map.ts';
export { similarKey, unknownNameHint } from './similar-key.ts';
