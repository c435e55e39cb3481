/**
 * `eventually`: on every fair behaviour the condition holds at some point. It fails where a behaviour can stay forever among states
 * without it: at one state, when no fair process can leave it; or on a cycle that is fair, that is on which each fair process either
 * takes a step or is disabled somewhere (weak fairness). So it looks for such components of the graph of the states without it.
 *
 * Not for states up to symmetry: a cycle of representatives need not be a cycle. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
import { InputError } from '../base/index.ts';
import { expanderOf } from './expand.ts';
import { fingerprint } from './fingerprint.ts';
import type { CompiledProcess, Model } from './model.ts';
import type { Condition } from './spec.ts';
import { evaluate } from './state-check.ts';
import { StateStore } from './state-store.ts';

export interface LivenessResult {
  readonly verdict: 'satisfied' | 'violated' | 'unknown';
  /** From an initial state to a state from which it can continue forever without the condition. */
  readonly path: readonly Int32Array[] | null;
  /** Among how many states it then continues. */
  readonly loopStates: number;
}

const processesMax = 31;

export function checkEventually(model: Model, name: string, condition: Condition, statesMax: number): LivenessResult {
  if (model.processes.length > processesMax) {
    throw new InputError('protocol/size', `eventually is checked for at most ${processesMax} processes`);
  }
  const graph = graphWithout(model, () => evaluate('the condition', name, condition), statesMax);
  if (graph === null) return { verdict: 'unknown', path: null, loopStates: 0 };
  const component = fairComponent(graph, fairProcesses(model));
  if (component === null) return { verdict: 'satisfied', path: null, loopStates: 0 };
  const [entry] = component.toSorted((a, b) => a - b);
  return { verdict: 'violated', path: graph.store.pathTo(entry), loopStates: component.length };
}

interface Graph {
  readonly store: StateStore;
  /** The edges of state s are firstEdge[s] up to firstEdge[s + 1]. */
  readonly firstEdge: readonly number[];
  readonly targets: readonly number[];
  /** The process that takes each edge. */
  readonly takers: readonly number[];
  /** For each state, the processes that can change something. */
  readonly enabled: readonly number[];
}

/** The states without the condition that behaviours without it reach, in breadth-first order; `null` beyond the limit. */
function graphWithout(model: Model, holds: Condition, statesMax: number): Graph | null {
  const { words, processes } = model;
  const store = new StateStore(words.length);
  const ordinals = new Map<string, number>();
  const print = new Int32Array(2);
  const [firstEdge, targets, takers, enabled]: [number[], number[], number[], number[]] = [[], [], [], []];
  const { expand, running } = expanderOf(model);
  const state = new Int32Array(words.length);
  const ordinalOf = (predecessor: number): number => {
    fingerprint(words, words.length, print);
    const key = `${print[0]} ${print[1]}`;
    const known = ordinals.get(key);
    if (known !== undefined) return known;
    const ordinal = store.append(words, predecessor);
    ordinals.set(key, ordinal);
    return ordinal;
  };
  words.set(model.initial);
  if (!holds()) ordinalOf(-1);
  for (let at = 0; at < store.size; at += 1) {
    if (at >= statesMax) return null;
    store.load(at, state);
    firstEdge.push(targets.length);
    let able = 0;
    expand(state, () => {
      if (words.every((word, i) => word === state[i])) return true;
      const taker = processes.indexOf(running.process as CompiledProcess);
      able |= 1 << taker;
      if (holds()) return true;
      targets.push(ordinalOf(at));
      takers.push(taker);
      return true;
    });
    enabled.push(able);
  }
  firstEdge.push(targets.length);
  return { store, firstEdge, targets, takers, enabled };
}

function fairProcesses(model: Model): number {
  let fair = 0;
  for (const [p, { group }] of model.processes.entries()) if (group.isFair) fair |= 1 << p;
  return fair;
}

/** The states of a component in which a fair behaviour can stay, or `null`. */
function fairComponent(graph: Graph, fair: number): number[] | null {
  const component = new Int32Array(graph.enabled.length).fill(-1);
  for (const [id, members] of components(graph).entries()) {
    for (const member of members) component[member] = id;
    let alwaysEnabled = fair;
    let taken = 0;
    for (const member of members) {
      alwaysEnabled &= graph.enabled[member];
      for (let e = graph.firstEdge[member]; e < graph.firstEdge[member + 1]; e += 1) {
        if (component[graph.targets[e]] === id) taken |= 1 << graph.takers[e];
      }
    }
    // One state without an edge to itself: a behaviour can stay there only if no fair process is enabled.
    if ((alwaysEnabled & ~taken) === 0) return [...members];
  }
  return null;
}

/** Tarjan's strongly connected components, without recursion: traces are longer than the stack. */
function components({ firstEdge, targets, enabled }: Graph): number[][] {
  const count = enabled.length;
  const index = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const onStack = new Uint8Array(count);
  const nextEdge = Int32Array.from(firstEdge.slice(0, count));
  const found: number[][] = [];
  const stack: number[] = [];
  let counter = 0;
  for (let root = 0; root < count; root += 1) {
    if (index[root] !== -1) continue;
    const path = [root];
    while (path.length > 0) {
      const at = path.at(-1) as number;
      if (index[at] === -1) {
        index[at] = counter;
        low[at] = counter;
        counter += 1;
        stack.push(at);
        onStack[at] = 1;
      }
      if (nextEdge[at] < firstEdge[at + 1]) {
        const to = targets[nextEdge[at]];
        nextEdge[at] += 1;
        if (index[to] === -1) path.push(to);
        else if (onStack[to] === 1) low[at] = Math.min(low[at], index[to]);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent], low[at]);
      if (low[at] === index[at]) found.push(popUntil(stack, onStack, at));
    }
  }
  return found;
}

function popUntil(stack: number[], onStack: Uint8Array, last: number): number[] {
  const members: number[] = [];
  for (;;) {
    const member = stack.pop() as number;
    onStack[member] = 0;
    members.push(member);
    if (member === last) return members;
  }
}
