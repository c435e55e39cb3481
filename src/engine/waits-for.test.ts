import { expect, test } from 'vitest';
import { WaitsFor } from './waits-for.ts';
import { WeighedWaits } from './weighed-waits.ts';

function waiting(edges: Record<number, readonly number[]>): WaitsFor {
  const graph = new WaitsFor();
  for (const [transaction, blockers] of Object.entries(edges)) graph.begin(Number(transaction), () => blockers);
  return graph;
}

test.each([
  ['two that wait for each other', { 1: [2], 2: [1] }, 1, [1, 2]],
  ['three in a ring', { 1: [2], 2: [3], 3: [1] }, 1, [1, 2, 3]],
  ['the ring goes through the second blocker of the one that asks', { 1: [4, 2], 2: [3], 3: [1] }, 1, [1, 2, 3]],
  ['the ring goes through the second blocker on the way', { 1: [2], 2: [4, 3], 3: [1] }, 1, [1, 2, 3]],
  ['the first blocker waits for others that do not close it', { 1: [4, 2], 4: [5], 5: [6], 2: [1] }, 1, [1, 2]],
  ['two blockers that lead to one transaction', { 1: [2, 3], 2: [4], 3: [4] }, 1, []],
  ['a ring that the one that asks waits for, but is not on', { 1: [2], 2: [3], 3: [2] }, 1, []],
  ['nobody waits', {}, 1, []],
])('%s', (_name, edges, from, cycle) => {
  expect(waiting(edges).cycleThrough(from)).toEqual(cycle);
});

test('one that waits no longer closes no ring', () => {
  const graph = waiting({ 1: [2], 2: [3], 3: [1] });
  expect(graph.end(3)).toBe(true);
  expect(graph.cycleThrough(1)).toEqual([]);
});

test.each([
  ['the lightest', [5, 1, 5], 2],
  ['of equals the one that began last', [5, 5, 5], 3],
  ['of the lightest the one that began last', [1, 1, 5], 2],
])('the victim of a ring of three is %s', (_name, weights, victim) => {
  const waits = new WeighedWaits();
  for (const [i, weight] of weights.entries()) waits.begin(i + 1, weight, () => [((i + 1) % 3) + 1]);
  expect([1, 2, 3].filter((each) => waits.isVictim(each))).toEqual([victim]);
  waits.end(victim);
  expect([1, 2, 3].filter((each) => each !== victim && waits.isVictim(each))).toEqual([]);
});
