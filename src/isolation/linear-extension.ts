/** One total order that contains a partial one. */
import { assert, everyElement } from '../base/index.ts';
import type { Order } from './commit-constraints.ts';

/** The nodes but the initial state, each after those that `order` puts before it; else the lowest first. Cost: the pairs of `order`. */
export function linearExtension(order: Order, nodes: number): number[] {
  const before = new Int32Array(nodes);
  for (let node = 1; node < nodes; node += 1) everyElement(order, node, (after) => (before[after] += 1) > 0);
  const placed: number[] = [];
  for (let node = 1; placed.length < nodes - 1; ) {
    assert(node < nodes, 'the known order is acyclic');
    if (before[node] !== 0) {
      node += 1;
      continue;
    }
    before[node] = PLACED;
    placed.push(node);
    const last = node;
    everyElement(order, last, (after) => {
      before[after] -= 1;
      if (before[after] === 0 && after < node) node = after;
      return true;
    });
  }
  return placed;
}

const PLACED = -1;
