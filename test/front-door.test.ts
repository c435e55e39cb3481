import { expect, test } from 'vitest';
import * as moirai from '../src/api/index.ts';

// What is exported is promised: a change here is one that users notice.
test('the front door is narrow', () => {
  expect(Object.keys(moirai).toSorted()).toEqual([
    'InputError',
    'SerializationFailure',
    'certify',
    'check',
    'explain',
    'explore',
    'forEveryChoice',
    'forEveryChoiceAsync',
    'formatExploration',
    'formatFailure',
    'formatHistory',
    'formatHistoryLines',
    'formatInputError',
    'formatResult',
    'formatSessions',
    'isolationLevels',
    'mockDatabase',
    'parseHistory',
    'parseHistoryLines',
    'program',
    'seeded',
    'sqlProgram',
    'strongestLevel',
    'summarize',
    'testProgram',
  ]);
});
