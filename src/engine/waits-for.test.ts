import { expect, test } from 'vitest';
import { WaitsFor } from './waits-for.ts';

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
