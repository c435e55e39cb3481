import { expect, test } from 'vitest';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { checkProtocol } from './index.ts';

const options = { parameters: { transactions: 2, resources: 2 }, levels: ['serializable'] as const };

test('a search that stopped at a budget continues from there, as if it had never stopped', () => {
  const { states, generated, ends, depth, verdict } = checkProtocol(twoPhaseLocking, options);
  let found = checkProtocol(twoPhaseLocking, { ...options, statesMax: 5_000 });
  let stops = 0;
  while (found.checkpoint !== null) {
    stops += 1;
    const statesMax = 5_000 + stops * 10_000;
    const resume = { ...found.checkpoint, parts: [...found.checkpoint.parts].map((part) => part.slice()) };
    found = checkProtocol(twoPhaseLocking, { ...options, statesMax, resume });
  }
  expect(stops).toBeGreaterThan(3);
  expect(found).toMatchObject({ states, generated, ends, depth, verdict, complete: true });
});

test('a violation after a stop has its whole trace', () => {
  const buggy = { parameters: { transactions: 3, resources: 2, bug: 1 }, levels: ['serializable'] as const };
  const { checkpoint } = checkProtocol(twoPhaseLocking, { ...buggy, statesMax: 50_000 });
  if (checkpoint === null) throw new Error('it should have stopped');
  expect(checkProtocol(twoPhaseLocking, { ...buggy, resume: checkpoint }).trace?.states).toHaveLength(20);
});

test('a checkpoint of something else, and one that is cut off', () => {
  const { checkpoint } = checkProtocol(twoPhaseLocking, { ...options, statesMax: 5_000 });
  if (checkpoint === null) throw new Error('it should have stopped');
  const parameters = { ...options.parameters, bug: 1 };
  expect(() => checkProtocol(twoPhaseLocking, { ...options, parameters, resume: checkpoint })).toThrow(
    'of other parameters',
  );
  const cut = { ...checkpoint, parts: [...checkpoint.parts].map((part) => part.subarray(0, 1_000)) };
  expect(() => checkProtocol(twoPhaseLocking, { ...options, resume: cut })).toThrow('cut off');
});
