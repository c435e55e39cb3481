/**
 * The search for an order: of two writers whose order is open it takes one to be first, as in an order that was guessed; what follows is added
 * (`OrderState`); a contradiction is explained by edges that were taken or followed, up to the first one that alone carries the last decision
 * (first unique implication point: Marques-Silva and Sakallah, IEEE TC 1999), and the clause that forbids them is kept. Literals are orders of
 * two nodes: the negation of u before v is v before u, so that no variables are made. Acyclicity is not a constraint but how the state is built.
 */
import { assert } from '../../base/index.ts';
import { Int32Column } from '../../history/index.ts';
import { edgesBySource, topologicalOrder } from './clocks.ts';
import { commitNode } from './node.ts';
import { type Nodes, rule } from './nodes.ts';
import type { OpenPairs } from './open-pairs.ts';
import type { Conflict, OrderState } from './order-state.ts';
import type { Versions } from './versions.ts';

/** Clauses that are kept; older and longer ones are forgotten at a restart. */
const clausesMax = 2_000;
const restartAfter = 100;

export class OrderSearch {
  conflicts = 0;
  readonly state: OrderState;
  readonly #nodes: Nodes;
  readonly #versions: Versions;
  readonly #pairs: OpenPairs;
  /** The pairs in the order in which they are decided: those that were in conflicts lately come first. */
  #queue: Int32Array;
  /** By node: its place in the order that was guessed. */
  readonly #guess: Int32Array;
  /** By decision: the number of edges before it, and where in the queue it was found. */
  readonly #levelEdges: number[] = [];
  readonly #levelQueue: number[] = [];
  #nextInQueue = 0;
  /** Clause i says one of `from[j]` before `to[j]`, j in `[start[i], start[i + 1])`. */
  #clauseStart: number[] = [0];
  #clauseFrom = new Int32Column();
  #clauseTo = new Int32Column();
  readonly #bumped = new Set<number>();
  #restartAt = restartAfter;

  constructor(nodes: Nodes, versions: Versions, state: OrderState, pairs: OpenPairs, guess: Int32Array) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.state = state;
    this.#pairs = pairs;
    this.#guess = guess;
    const place = (i: number): number =>
      Math.max(guess[this.#commit(pairs.first[i])], guess[this.#commit(pairs.second[i])]);
    this.#queue = Int32Array.from(pairs.first.keys()).toSorted((i, j) => place(i) - place(j));
  }

  /** Runs for about so many steps. */
  run(steps: number): 'satisfied' | 'violated' | 'open' {
    const until = this.state.steps + steps;
    while (this.state.steps < until) {
      if (!this.#propagate()) {
        if (!this.#learn()) return 'violated';
        continue;
      }
      if (this.conflicts >= this.#restartAt) this.#restart();
      if (!this.#decide()) return 'satisfied';
      this.state.steps += 1;
    }
    return 'open';
  }

  /** Where `run` said satisfied: the nodes in an order. */
  order(): Int32Array {
    const { edges } = this.state;
    return topologicalOrder(this.#nodes, edges, edgesBySource(edges, this.#nodes.nodeCount));
  }

  #commit(member: number): number {
    const { shift } = this.#nodes;
    return commitNode(member, shift);
  }

  /** @returns false: nothing is open */
  #decide(): boolean {
    const { first, second } = this.#pairs;
    const { state } = this;
    for (; this.#nextInQueue < this.#queue.length; this.#nextInQueue += 1) {
      const pair = this.#queue[this.#nextInQueue];
      const [a, b] = [first[pair], second[pair]];
      const [u, v] = [this.#commit(a), this.#commit(b)];
      if (state.has(u, v) || state.has(v, u)) continue;
      this.#levelEdges.push(state.edges.count);
      this.#levelQueue.push(this.#nextInQueue);
      const [from, to] = this.#guess[u] < this.#guess[v] ? [u, v] : [v, u];
      state.add(from, to, rule.decision, pair);
      return true;
    }
    return false;
  }

  #propagate(): boolean {
    if (this.state.conflict !== null) return false;
    for (;;) {
      if (!this.state.propagate()) return false;
      const edges = this.state.edges.count;
      if (!this.#propagateClauses()) return false;
      if (this.state.edges.count === edges) return true;
    }
  }

  #propagateClauses(): boolean {
    const from = this.#clauseFrom.array;
    const to = this.#clauseTo.array;
    const isFalse = (i: number): boolean => this.state.has(to[i], from[i]);
    for (let clause = 0; clause + 1 < this.#clauseStart.length; clause += 1) {
      const first = this.#clauseStart[clause];
      const end = this.#clauseStart[clause + 1];
      if (end - first > 1 && !isFalse(first) && !isFalse(first + 1)) continue;
      let open = first;
      for (let i = first; i < end && open < first + 2; i += 1) {
        if (isFalse(i)) continue;
        [from[open], from[i]] = [from[i], from[open]];
        [to[open], to[i]] = [to[i], to[open]];
        open += 1;
      }
      if (open === first + 2) continue;
      // Of one literal at most it is not known that it is false: that one holds.
      if (!this.state.add(from[first], to[first], rule.learned, clause)) return false;
    }
    return true;
  }

  /** From the conflict to a clause, and back to where it says something new. @returns false: there is no order */
  #learn(): boolean {
    const { state } = this;
    const conflict = state.conflict;
    assert(conflict !== null, 'there is a conflict to learn from');
    this.conflicts += 1;
    const seen = new Set<number>();
    const firstDynamic = this.#levelEdges[0] ?? Infinity;
    const note = (edge: number): void => {
      if (edge >= firstDynamic) seen.add(edge);
    };
    this.#explain(conflict, state.now, note);
    state.explainPath(conflict.to, conflict.from, state.now, note);
    const literals = this.#firstUniqueImplicationPoint(seen, note);
    if (literals.length === 0) return false;
    const [asserting, ...rest] = literals as [number, ...number[]];
    const level = rest.reduce((max, edge) => Math.max(max, this.#levelOf(edge)), 0);
    const clause = literals.map((edge) => [state.edges.to.array[edge], state.edges.from.array[edge]]);
    this.#backTo(level);
    const [from, to] = clause[0] as [number, number];
    assert(asserting >= 0, 'a clause has a literal');
    if (clause.length === 1) return state.add(from, to, rule.learned, -1);
    for (const [u, v] of clause) {
      this.#clauseFrom.push(u);
      this.#clauseTo.push(v);
    }
    this.#clauseStart.push(this.#clauseFrom.length);
    state.add(from, to, rule.learned, this.#clauseStart.length - 2);
    return true;
  }

  /** Of the edges that were seen, those to forbid together; the one of the last decision first. */
  #firstUniqueImplicationPoint(seen: Set<number>, note: (edge: number) => void): number[] {
    const { state } = this;
    if (seen.size === 0) return [];
    const level = [...seen].reduce((max, edge) => Math.max(max, this.#levelOf(edge)), 0);
    const levelStart = this.#levelEdges[level - 1];
    for (let edge = state.edges.count - 1; ; edge -= 1) {
      if (!seen.has(edge)) continue;
      let ofLevel = 0;
      for (const other of seen) if (other >= levelStart) ofLevel += 1;
      if (ofLevel === 1) return [edge, ...[...seen].filter((other) => other !== edge)];
      seen.delete(edge);
      const { from, to, rule: rules, cause } = state.edges;
      const why = {
        from: from.array[edge],
        to: to.array[edge],
        rule: rules.array[edge],
        cause: cause.array[edge],
      };
      assert(why.rule !== rule.decision, 'a decision is the first of its level, so it is the last that is explained');
      this.#explain(why, state.timeOf(edge), note);
    }
  }

  /** The dynamic edges that an edge followed from. */
  #explain({ from, to, rule: why, cause }: Conflict, time: number, note: (edge: number) => void): void {
    const { shift } = this.#nodes;
    const { state } = this;
    switch (why) {
      case rule.overwritten:
        return state.explainPath(from, this.#readerOf(cause) << shift, time, note);
      case rule.antiDependency:
        return state.explainPath(this.#commit(this.#versions.writer[cause]), to, time, note);
      case rule.writeConflict:
        return state.explainPath(from - 1, to + 1, time, note);
      case rule.learned:
        for (let i = this.#clauseStart[cause] ?? 0; i < (this.#clauseStart[cause + 1] ?? 0); i += 1) {
          const [u, v] = [this.#clauseFrom.array[i], this.#clauseTo.array[i]];
          if (u !== from || v !== to) state.explainPath(v, u, time, note);
        }
    }
  }

  #readerOf(read: number): number {
    const { readStart } = this.#versions;
    let [low, high] = [0, this.#nodes.memberCount];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (readStart[middle] <= read) low = middle;
      else high = middle;
    }
    return low;
  }

  /** 0: before all decisions. */
  #levelOf(edge: number): number {
    let [low, high] = [0, this.#levelEdges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#levelEdges[middle] <= edge) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #backTo(level: number): void {
    if (level >= this.#levelEdges.length) {
      this.state.conflict = null;
      return;
    }
    for (let i = level; i < this.#levelEdges.length; i += 1) {
      const edge = this.#levelEdges[i];
      if (i >= this.#levelEdges.length - 2 && this.state.edges.rule.array[edge] === rule.decision)
        this.#bumped.add(this.state.edges.cause.array[edge]);
    }
    this.state.backTo(this.#levelEdges[level]);
    this.#nextInQueue = this.#levelQueue[level];
    this.#levelEdges.length = level;
    this.#levelQueue.length = level;
  }

  #restart(): void {
    this.#backTo(0);
    this.#restartAt = this.conflicts + restartAfter;
    const rest = this.#queue.filter((pair) => !this.#bumped.has(pair));
    this.#queue = Int32Array.from([...this.#bumped, ...rest]);
    this.#bumped.clear();
    this.#nextInQueue = 0;
    if (this.#clauseStart.length <= clausesMax) return;
    this.#forget();
  }

  /** Keeps the short clauses and the newer half; nothing is explained by clauses now, for all decisions are undone. */
  #forget(): void {
    const [starts, from, to] = [this.#clauseStart, this.#clauseFrom, this.#clauseTo];
    this.#clauseStart = [0];
    this.#clauseFrom = new Int32Column();
    this.#clauseTo = new Int32Column();
    const count = starts.length - 1;
    for (let clause = 0; clause < count; clause += 1) {
      const [first, end] = [starts[clause], starts[clause + 1]];
      if (end - first > 3 && clause < count / 2) continue;
      for (let i = first; i < end; i += 1) {
        this.#clauseFrom.push(from.array[i]);
        this.#clauseTo.push(to.array[i]);
      }
      this.#clauseStart.push(this.#clauseFrom.length);
    }
  }
}
