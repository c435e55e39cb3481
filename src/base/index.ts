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
export { crc32 } from './crc32.ts';
export { secretBytes } from './secret-bytes.ts';
export { settledWithin, TimeLimit, unlimited, within } from './time-limit.ts';
export { formatInputError, isTruncated, InputError, type Place } from './input-error.ts';
export { firstUserFrame, pathOf, shownPath } from './user-frame.ts';
