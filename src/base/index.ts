export { assert, AssertionFailure } from './assert.ts';
export {
  exploring,
  forEveryChoice,
  forEveryChoiceAsync,
  nextPath,
  replaying,
  seeded,
  type Chooser,
} from './chooser.ts';
export { formatInputError, InputError, type Place } from './input-error.ts';
