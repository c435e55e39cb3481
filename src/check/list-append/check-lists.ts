/**
 * Histories of lists, at every level: an append is a write, and reads say in which order the writes of a key were installed, so that nothing has to
 * be searched for. Kingsbury and Alvaro, VLDB 2020; what each level forbids then: `decisions.ts`.
 *
 * Appends that were not read have no known order. Up to prefix, and at serializable, any order that the commit order gives will do; at
 * snapshot-isolation one order is tried, and where it does not satisfy the level the answer is `unknown`.
 *
 * Cost: sorting by time apart, linear in operations and elements read, up to read-atomic as for registers (`../read-committed.ts`).
 */
import {
  type CompactHistory,
  operationKind,
  statusCode,
  type TransactionIndex,
  withoutOperations,
} from '../../history/index.ts';
import { nameCycle, type AnomalyName, type Edge } from '../../isolation/index.ts';
import { type Reads, readsOf, transactionOf } from '../reads.ts';
import { type SessionOrder, sessionOrder } from '../session-order.ts';
import type { CompactLevel } from '../verdict.ts';
import { cycleAnomalies, cycleOf, type ListCycleName, type ListEdge, nameListCycle } from './cycle-anomalies.ts';
import { type GraphLevel, levelGraph } from './decisions.ts';
import { addRealTime, dependenciesOf, type Dependencies, relation } from './edges.ts';
import { type Components, componentsOf, type Graph, shortCycle, topologicalOrder } from './graph.ts';
import { type AnomalousListRead, type ListReadAnomaly, type ListReads, listReadsOf } from './list-reads.ts';
import { staleRead, type StaleLevel } from './stale-reads.ts';
import { thinAirReads } from './thin-air.ts';

export type ListVerdict =
  | {
      readonly kind: 'satisfied';
      /** The members, each once. */
      readonly commitOrder: Int32Array;
    }
  | ListViolated
  | {
      readonly kind: 'unknown';
      /** `not-searched`: the history has registers too, or appends without reads, whose order would have to be searched for. */
      readonly reason: 'not-searched' | 'missing-times';
    };

export interface ListViolated {
  readonly kind: 'violated';
  readonly anomaly: AnomalyName | ListReadAnomaly;
  /** As Elle calls it. */
  readonly elle: ListCycleName | ListReadAnomaly | 'lost-update';
  /** In the order of its edges; empty when a read is the evidence. */
  readonly cycle: readonly ListEdge[];
  readonly read?: AnomalousListRead;
}

/** An example of an anomaly by Elle's name. */
export interface ListAnomaly {
  readonly name: ListViolated['elle'];
  readonly cycle: readonly ListEdge[];
  readonly read?: AnomalousListRead;
}

export interface ListCheckOptions {
  /** As for histories of registers. Default `forbidden`. */
  readonly thinAirReads?: 'forbidden' | 'ignored';
}

/** A history of lists under examination; what several levels need is found once. */
export class ListCheck {
  readonly #history: CompactHistory;
  readonly #lists: ListReads;
  /** The first, if they are forbidden. */
  readonly #anomalous: readonly AnomalousListRead[];
  readonly #thinAirCount: number;
  readonly #reads: Reads;
  readonly #sessions: SessionOrder;
  readonly #dependencies: Dependencies;
  readonly #hasTimes: boolean;
  readonly #decided = new Map<GraphLevel, Decided>();

  /** @throws InputError `history/duplicate-write` */
  constructor(history: CompactHistory, { thinAirReads: treatment = 'forbidden' }: ListCheckOptions = {}) {
    this.#history = history;
    const thinAir = thinAirReads(history);
    this.#lists = listReadsOf(thinAir.length === 0 ? history : withoutOperations(history, thinAir));
    const counted = thinAir.map((o) => thinAirRead(history, o)).filter(({ by }) => this.#lists.isMember[by] === 1);
    const ofRegisters = registerReads(history, this.#lists);
    this.#thinAirCount = counted.length + ofRegisters.thinAirCount;
    const anomalous = [...counted.slice(0, 1), ...ofRegisters.anomalous, ...this.#lists.anomalous];
    this.#anomalous = treatment === 'forbidden' ? anomalous : anomalous.filter(({ kind }) => kind !== 'thin-air-read');
    this.#reads = readsOf(this.#lists.registers);
    this.#sessions = sessionOrder(this.#lists.registers, this.#reads);
    this.#dependencies = dependenciesOf(this.#lists, this.#reads, this.#sessions);
    this.#hasTimes = history.start !== null && addRealTime(this.#dependencies.edges, history, this.#lists.isMember);
  }

  /** Reads with an element that no transaction appended. */
  get thinAirCount(): number {
    return this.#thinAirCount;
  }

  check(level: CompactLevel): ListVerdict {
    if (level === 'read-uncommitted') return { kind: 'satisfied', commitOrder: committed(this.#history) };
    const [read] = this.#anomalous;
    if (read !== undefined) return { kind: 'violated', anomaly: read.kind, elle: read.kind, cycle: [], read };
    const verdict = this.#checkOrder(level);
    if (verdict.kind === 'satisfied' && this.#lists.hasRegisters) return { kind: 'unknown', reason: 'not-searched' };
    return verdict;
  }

  /** Of each of Elle's names at most one example; searches are bounded, so that names may be missing. */
  anomalies(): ListAnomaly[] {
    const { edges, lostUpdate } = this.#dependencies;
    const found: ListAnomaly[] = this.#anomalous.map((read) => ({ name: read.kind, cycle: [], read }));
    const { components } = this.#decide('strict-serializable');
    if (components.cyclic.length === 0) return found;
    if (lostUpdate !== null) found.push({ name: 'lost-update', cycle: lostUpdateCycle(lostUpdate) });
    const cycles = cycleAnomalies(edges, components, this.#history.transactionCount);
    if (lostUpdate === null) {
      const lost = [...cycles.values()].find(isLostUpdate);
      if (lost !== undefined) found.push({ name: 'lost-update', cycle: lost });
    }
    return [...found, ...[...cycles].map(([name, cycle]) => ({ name, cycle }))];
  }

  #checkOrder(level: Exclude<CompactLevel, 'read-uncommitted'>): ListVerdict {
    switch (level) {
      case 'pl-2':
      case 'prefix':
      case 'serializable':
        return this.#byGraph(level, level);
      case 'read-committed':
      case 'read-atomic':
      case 'causal': {
        const verdict = this.#byGraph('read-committed', level);
        return verdict.kind === 'satisfied' ? (this.#staleRead(level) ?? verdict) : verdict;
      }
      case 'snapshot-isolation':
        return this.#snapshotIsolation();
      case 'strict-serializable': {
        const verdict = this.#byGraph('strict-serializable', level);
        if (verdict.kind !== 'satisfied' || this.#hasTimes) return verdict;
        return { kind: 'unknown', reason: 'missing-times' };
      }
    }
  }

  #byGraph(by: GraphLevel, level: CompactLevel): ListVerdict {
    const { graph, components } = this.#decide(by);
    const [smallest] = components.cyclic;
    if (smallest === undefined) return { kind: 'satisfied', commitOrder: this.#orderIn(components) };
    const { lostUpdate, edges } = this.#dependencies;
    if (lostUpdate !== null && (level === 'serializable' || level === 'strict-serializable'))
      return violatedBy(this.#history, lostUpdateCycle(lostUpdate));
    return violatedBy(
      this.#history,
      cycleOf(edges, shortCycle(graph, components, smallest), this.#history.transactionCount),
    );
  }

  #staleRead(level: StaleLevel): ListVerdict | null {
    const stale = staleRead(level, this.#lists, this.#reads, this.#sessions);
    if (stale === null) return null;
    const { reader, writer, key, operation, path } = stale;
    return violatedBy(this.#history, [...path, { from: reader, to: writer, relation: 'rw', key, operation }]);
  }

  #snapshotIsolation(): ListVerdict {
    const { lostUpdate, unordered, edges } = this.#dependencies;
    const verdict = this.#byGraph('snapshot-isolation', 'snapshot-isolation');
    if (verdict.kind !== 'satisfied' || unordered.length === 0) return verdict;
    if (lostUpdate !== null) return violatedBy(this.#history, lostUpdateCycle(lostUpdate));
    const serial = this.#byGraph('serializable', 'serializable');
    if (serial.kind === 'satisfied') return serial;
    const place = new Int32Array(this.#history.transactionCount);
    verdict.commitOrder.forEach((t, i) => (place[t] = i));
    const before = edges.count;
    for (const appending of unordered) {
      const sorted = appending.toSorted((a, b) => place[a] - place[b]);
      for (let i = 1; i < sorted.length; i += 1) edges.add(sorted[i - 1], sorted[i], relation.ww);
    }
    const { components } = decidedBy(levelGraph(edges, 'snapshot-isolation'));
    for (const column of [edges.from, edges.to, edges.relation, edges.key]) column.length = before;
    if (components.cyclic.length > 0) return { kind: 'unknown', reason: 'not-searched' };
    return { kind: 'satisfied', commitOrder: this.#orderIn(components) };
  }

  #decide(level: GraphLevel): Decided {
    const known = this.#decided.get(level);
    if (known !== undefined) return known;
    const decided = decidedBy(levelGraph(this.#dependencies.edges, level));
    this.#decided.set(level, decided);
    return decided;
  }

  #orderIn(components: Components): Int32Array {
    const { isMember } = this.#lists;
    return topologicalOrder(components).filter((node) => isMember[node] === 1);
  }
}

interface Decided {
  readonly graph: Graph;
  readonly components: Components;
}

function decidedBy(graph: Graph): Decided {
  return { graph, components: componentsOf(graph) };
}

/** The reads of registers beside lists that no commit order can explain. */
function registerReads(
  history: CompactHistory,
  { registers: { status } }: ListReads,
): { readonly anomalous: readonly AnomalousListRead[]; readonly thinAirCount: number } {
  if (!history.kind.includes(operationKind.read)) return { anomalous: [], thinAirCount: 0 };
  const { anomalous, thinAirCount } = readsOf({ ...history, status });
  return {
    anomalous: anomalous.map((read) => ({ ...read, key: history.key[read.operation] })),
    thinAirCount,
  };
}

function thinAirRead(history: CompactHistory, operation: number): AnomalousListRead {
  const by = transactionOf(history, operation);
  return { kind: 'thin-air-read', operation, by, from: by, key: history.key[operation] };
}

function committed({ status }: CompactHistory): Int32Array {
  return Int32Array.from([...status.keys()].filter((t) => status[t] === statusCode.committed));
}

/** Whichever append came second, the read of its transaction missed the other. */
function lostUpdateCycle({ a, b, key }: NonNullable<Dependencies['lostUpdate']>): ListEdge[] {
  return [
    { from: a, to: b, relation: 'rw', key },
    { from: b, to: a, relation: 'ww', key },
  ];
}

function isLostUpdate(cycle: readonly ListEdge[]): boolean {
  const [one, two] = cycle;
  if (cycle.length !== 2 || one === undefined || two === undefined || one.key !== two.key) return false;
  return new Set([one.relation, two.relation]).has('rw') && [one, two].every((e) => ['rw', 'ww'].includes(e.relation));
}

function violatedBy(history: CompactHistory, cycle: readonly ListEdge[]): ListViolated {
  const elle = nameListCycle(cycle);
  const named = cycle.map(
    ({ from, to, relation: kind, key, operation }): Edge => ({
      from,
      to,
      relation: kind,
      ...(key < 0 ? {} : { key: history.names.key(key) }),
      ...(operation === undefined ? {} : { operation }),
    }),
  );
  const anomaly = elle === 'G0' ? elle : nameCycle(named);
  return { kind: 'violated', anomaly, elle: anomaly === 'lost-update' ? anomaly : elle, cycle };
}

/** Who takes part, in the order of the cycle. */
export function transactionsIn({ cycle, read }: Pick<ListViolated, 'cycle' | 'read'>): TransactionIndex[] {
  return [...new Set(read === undefined ? cycle.map(({ from }) => from) : [read.from, read.by])];
}
