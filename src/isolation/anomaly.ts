/**
 * The anomalies, as data: what each is called, what its cycle looks like, where it is defined, the weakest level that forbids it.
 *
 * A cycle gets the first name whose shape it has, so the rows go from the specific to the general. Sources: Berenson et al., SIGMOD 1995
 * (A5A, A5B, P4, P2); Adya, PhD thesis 1999 (G0, G1a-c, G-single, G2-item); Bailis et al., SIGMOD 2014 (fractured reads); Sovran et al.,
 * SOSP 2011 (long fork); Biswas and Enea, OOPSLA 2019 (which level forbids which).
 */
import { type History, parseHistory } from '../history/index.ts';
import type { Edge, EdgeRelation } from './dependency-cycle.ts';
import { type IsolationLevel, isolationLevels } from './level.ts';

/** Anomalies that one read shows. */
export type ReadAnomalyName = 'thin-air-read' | 'internal' | 'G1a' | 'G1b';
/** Anomalies that a cycle of dependencies shows, in the order in which they are looked for. */
export type CycleAnomalyName =
  | 'real-time-violation'
  | 'G0'
  | 'G1c'
  | 'phantom'
  | 'non-repeatable-read'
  | 'read-skew'
  | 'fractured-read'
  | 'lost-update'
  | 'causality-violation'
  | 'write-skew'
  | 'long-fork'
  | 'G-single'
  | 'G2'
  | 'G2-item';
/** The anomalies by name, as the papers spell them. */
export type AnomalyName = ReadAnomalyName | CycleAnomalyName;

/** A row of the catalogue. */
export interface Anomaly {
  readonly title: string;
  /** One sentence for a person who has not met it. */
  readonly meaning: string;
  /** The weakest level that forbids every history that shows it. */
  readonly forbiddenBy: IsolationLevel;
  readonly source: string;
  /** A smallest history that shows it and is at the level below `forbiddenBy`, in the notation. */
  readonly example: string;
  /** When each transaction of the example began and ended, where that matters. */
  readonly times?: readonly (readonly [start: number, end: number])[];
}

/** What a shape may ask of a cycle. */
export interface CycleFacts {
  readonly length: number;
  /** How many edges have the relation. */
  readonly count: (relation: EdgeRelation) => number;
  /** Does every edge have one of these relations? */
  readonly only: (...relations: EdgeRelation[]) => boolean;
  /** How many keys the edges with keys name. */
  readonly keys: number;
  readonly adjacentAntiDependencies: boolean;
  /** Is an rw edge one of a condition that did not find a row? */
  readonly hasPredicate: boolean;
  /** Two edges, wr and rw: was the overwritten value read before the new one? */
  readonly oldValueReadFirst: boolean;
}

/** An anomaly that shows as a cycle of dependencies. */
export interface CycleAnomaly extends Anomaly {
  /** Has the cycle this shape? */
  readonly shape: (cycle: CycleFacts) => boolean;
}

/** The anomalies of single reads, by name. */
export const readAnomalies: Record<ReadAnomalyName, Anomaly> = {
  'thin-air-read': {
    title: 'thin-air read',
    meaning: 'a transaction reads a value that no transaction wrote',
    forbiddenBy: 'read-committed',
    source:
      'Liu et al., OOPSLA 2024 (Plume), ThinAirRead; MonkeyDB (OOPSLA 2021), Definition 3.2, has no such histories',
    example: 'w x 1\nr x 2',
  },
  internal: {
    title: 'internal inconsistency',
    meaning: 'a transaction does not read its own last write',
    forbiddenBy: 'read-committed',
    source: 'MonkeyDB (OOPSLA 2021), Definition 3.1',
    example: 'w x 1\nw x 2, r x 1',
  },
  G1a: {
    title: 'aborted read',
    meaning: 'a transaction reads what an aborted transaction wrote',
    forbiddenBy: 'read-committed',
    source: 'Adya 1999, G1a',
    example: 'w x 1 !\nr x 1',
  },
  G1b: {
    title: 'intermediate read',
    meaning: 'a transaction reads a value that its writer overwrote before it committed',
    forbiddenBy: 'read-committed',
    source: 'Adya 1999, G1b',
    example: 'w x 1, w x 2\nr x 1',
  },
};

/** The anomalies of cycles, by name: a cycle has the first name whose shape fits. */
export const cycleAnomalies: Record<CycleAnomalyName, CycleAnomaly> = {
  'real-time-violation': {
    title: 'real-time violation',
    meaning: 'a transaction that began after another had ended is ordered before it',
    forbiddenBy: 'strict-serializable',
    source: 'Herlihy and Wing, TOPLAS 1990; Adya 1999, G-realtime in the terms of Elle',
    example: 'w x 1\nr x _',
    times: [
      [1, 2],
      [3, 4],
    ],
    shape: (c) => c.count('rt') > 0,
  },
  G0: {
    title: 'dirty write',
    meaning: 'two transactions overwrite each other, each on another key',
    forbiddenBy: 'read-committed',
    source: 'Adya 1999, G0; Berenson et al. 1995, P0',
    example: 'w x 1, w y 1\nw x 2, w y 2\nr x 1, r y 2, r x 1',
    shape: (c) => c.only('ww') && c.keys > 1,
  },
  G1c: {
    title: 'circular information flow',
    meaning: 'each transaction of a circle depends on what the one before it wrote',
    forbiddenBy: 'read-committed',
    source: 'Adya 1999, G1c',
    example: 'r y 1, w x 1\nr x 1, w y 1',
    shape: (c) => c.only('so', 'wr', 'ww'),
  },
  phantom: {
    title: 'phantom',
    meaning:
      'a transaction does not find a row by a condition, and then sees the row that another transaction has written',
    forbiddenBy: 'read-atomic',
    source: 'Berenson et al. 1995, P3 and A3; Adya 1999, predicate-based reads',
    example: 'w x 1\nr x _ where "x > 0", r x 1',
    shape: (c) => c.length === 2 && c.count('wr') === 1 && c.count('rw') === 1 && c.keys === 1 && c.hasPredicate,
  },
  'non-repeatable-read': {
    title: 'non-repeatable read',
    meaning: 'a transaction reads one key twice and sees two values, neither its own',
    forbiddenBy: 'read-atomic',
    source: 'Berenson et al. 1995, P2',
    example: 'w x 1\nr x _, r x 1',
    shape: (c) => c.length === 2 && c.count('wr') === 1 && c.count('rw') === 1 && c.keys === 1,
  },
  'read-skew': {
    title: 'read skew',
    meaning: 'a transaction reads one key before another transaction changed both, and the other key after it did',
    forbiddenBy: 'read-atomic',
    source: 'Berenson et al. 1995, A5A',
    example: 'w x 1, w y 1\nr x _, r y 1',
    shape: (c) => c.length === 2 && c.count('wr') === 1 && c.count('rw') === 1 && c.oldValueReadFirst,
  },
  'fractured-read': {
    title: 'fractured read',
    meaning: 'a transaction sees one write of another transaction and afterwards misses another write of it',
    forbiddenBy: 'read-committed',
    source: 'Bailis et al., SIGMOD 2014, section 3; read skew is the case in which the older value is read first',
    example: 'w x 1, w y 1\nr y 1, r x _',
    shape: (c) => c.length === 2 && c.count('wr') === 1 && c.count('rw') === 1,
  },
  'lost-update': {
    title: 'lost update',
    meaning: 'two transactions write a key that one of them read before the other wrote it: one of the updates is lost',
    forbiddenBy: 'snapshot-isolation',
    source: 'Berenson et al. 1995, P4',
    example: 'r x _, w x 1\nr x _, w x 2',
    shape: (c) => c.length === 2 && c.only('rw', 'ww') && c.count('rw') > 0 && c.keys === 1,
  },
  'causality-violation': {
    title: 'causality violation',
    meaning: 'a transaction sees an effect, or follows in its session, and misses the cause',
    forbiddenBy: 'causal',
    source: 'Biswas and Enea 2019, Causal Consistency; MonkeyDB (OOPSLA 2021), Fig. 4b',
    example: 'w x 1\nr x 1 | r x _',
    shape: (c) => c.count('rw') === 1 && c.only('so', 'wr', 'rw'),
  },
  'write-skew': {
    title: 'write skew',
    meaning: 'two transactions each read a key that the other writes: each acts on a state that the other ends',
    forbiddenBy: 'serializable',
    source: 'Berenson et al. 1995, A5B',
    example: 'r x _, r y _, w x 1\nr x _, r y _, w y 1',
    shape: (c) => c.length === 2 && c.only('rw') && c.keys > 1,
  },
  'long-fork': {
    title: 'long fork',
    meaning: 'two observers see two writes in opposite orders',
    forbiddenBy: 'prefix',
    source: 'Sovran et al., SOSP 2011, section 3; Biswas and Enea 2019, Prefix',
    example: 'w x 1\nw y 1\nr x 1, r y _\nr x _, r y 1',
    shape: (c) => c.count('rw') > 1 && c.only('so', 'wr', 'rw') && !c.adjacentAntiDependencies,
  },
  'G-single': {
    title: 'single anti-dependency cycle',
    meaning: 'a transaction reads a state in which a transaction that it follows has not happened',
    forbiddenBy: 'snapshot-isolation',
    source: 'Adya 1999, G-single',
    example: 'r y _, w x 1\nw x 2, w y 1 | r x 1',
    shape: (c) => c.count('rw') === 1,
  },
  G2: {
    title: 'predicate anti-dependency cycle',
    meaning: 'transactions whose conditions do not find what the others write, in a circle',
    forbiddenBy: 'serializable',
    source: 'Adya 1999, G2',
    example: 'r y _ where "y > 0", w x 1\nr z _ where "z > 0", w y 1\nr x _ where "x > 0", w z 1',
    shape: (c) => c.count('rw') > 1 && c.hasPredicate,
  },
  'G2-item': {
    title: 'anti-dependency cycle',
    meaning: 'transactions that read what the others overwrite, in a circle',
    forbiddenBy: 'serializable',
    source: 'Adya 1999, G2-item',
    example: 'r y _, w x 1\nr z _, w y 1\nr x _, w z 1',
    shape: (c) => c.count('rw') > 0,
  },
};

/** The catalogue: every anomaly by name, with its meaning, its source and an example. */
export const anomalies: Record<AnomalyName, Anomaly> = { ...readAnomalies, ...cycleAnomalies };

/** The history that shows it, with times where they matter. */
export function exampleOf({ example, times }: Anomaly): History {
  const history = parseHistory(example);
  const transactions = history.transactions.map((transaction, t) => {
    const [start, end] = times?.[t] ?? [t, t];
    return times === undefined ? transaction : { ...transaction, start, end };
  });
  return { ...history, transactions };
}

/** The first name in the catalogue whose shape the cycle has. */
export function nameCycle(cycle: readonly Edge[]): CycleAnomalyName {
  const facts = factsOf(cycle);
  for (const name of Object.keys(cycleAnomalies) as CycleAnomalyName[])
    if (cycleAnomalies[name].shape(facts)) return name;
  return 'G2-item';
}

/**
 * Of several readings of one refutation at `level`, the weakest level that is violated, the one to show: of an anomaly that `level`
 * forbids for the first time, if there is one, never of one that a weaker level forbids; then the first of the catalogue; then the shortest.
 */
export function chooseCycle(cycles: readonly (readonly Edge[])[], level: IsolationLevel): readonly Edge[] {
  const names = Object.keys(cycleAnomalies);
  const rank = (cycle: readonly Edge[]): number => {
    const name = nameCycle(cycle);
    const above = isolationLevels.indexOf(cycleAnomalies[name].forbiddenBy) - isolationLevels.indexOf(level);
    return ((above < 0 ? isolationLevels.length : above) * names.length + names.indexOf(name)) * 10_000 + cycle.length;
  };
  return cycles.reduce((best, cycle) => (rank(cycle) < rank(best) ? cycle : best));
}

function factsOf(cycle: readonly Edge[]): CycleFacts {
  const isRw = cycle.map(({ relation }) => relation === 'rw');
  const wr = cycle.find(({ relation }) => relation === 'wr');
  const rw = cycle.find(({ relation }) => relation === 'rw');
  return {
    length: cycle.length,
    count: (relation) => cycle.filter((edge) => edge.relation === relation).length,
    only: (...allowed) => cycle.every((edge) => allowed.includes(edge.relation)),
    keys: new Set(cycle.flatMap(({ key }) => (key === undefined ? [] : [key]))).size,
    hasPredicate: cycle.some(({ condition }) => condition !== undefined),
    adjacentAntiDependencies: isRw.some((is, i) => is && isRw[(i + 1) % isRw.length]),
    oldValueReadFirst: (rw?.operation ?? 0) < (wr?.operation ?? 0),
  };
}
