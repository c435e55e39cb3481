/**
 * The accesses of serializable transactions to the flags and edges of the watch (`serializable.ts`). They matter only where the watch may refuse something:
 * where rw-conflicts T0 -> T1 -> T2 could be, with T0 = T2 or not, and T2 commits before the others end. So they are kept apart from the other accesses of
 * a step, and added to its footprint when a run is over and shows that its transaction is part of such a structure. Accesses because of an edge are added
 * where both of its transactions are.
 *
 * - Which structures could be is taken without regard to the order of a run: an edge could be where one transaction read what another one writes.
 * - Whether T2 committed first, while both edges were possible, is a matter of four pairs of snapshots and ends. These depend on each other, whatever their
 *   order is, and so do the others that the watch compares: for a T0 that has not written, its snapshot and the end of T2.
 *
 * So the runs that differ in the order of independent steps show the same structures at risk, and elsewhere the watch answers nothing but "continue" in all
 * of them. Which edges are made there, and which are forgotten, is not looked at.
 *
 * Numbers of writers are not recorded. By them the watch passes over readers that have ended before a writer began. In a structure at risk it never does:
 * an ended reader is T0 or T1 there, T2 was numbered before that end, and not yet committed at the snapshot of T1, or of T0 = T2.
 */
import { Footprint, type FootprintRecorder } from '../footprint.ts';

/** As the watch has it. */
interface Watched {
  readonly id: number;
  readonly session: number;
  readonly isPrepared: boolean;
}

/** A snapshot is taken, or a transaction ends. */
interface Moment {
  readonly step: Footprint;
  /** Counts the moments of a run. */
  readonly at: number;
}

/** What a step does because of one transaction: its own, or another that it has an rw-conflict with. */
interface StepAccesses {
  readonly step: Footprint;
  readonly other: Watched;
  readonly footprint: Footprint;
}

interface Recorded {
  readonly watched: Watched;
  readonly reads: Footprint;
  readonly writes: Footprint;
  readonly accesses: StepAccesses[];
  begun: Moment | null;
  ended: Moment | null;
  /** Is it part of a structure for which something could be refused in this run? */
  isAtRisk: boolean;
}

export class SerializableFootprints {
  readonly #recorder: FootprintRecorder;
  #recorded = new Map<Watched, Recorded>();
  #moments = 0;
  /** Has a transaction asked whether its snapshot is safe? That depends on more than structures. */
  #asksForSafety = false;

  constructor(recorder: FootprintRecorder) {
    this.#recorder = recorder;
  }

  /** Those of the step under way. @param other because of which transaction */
  accessesOf(watched: Watched, other = watched): Footprint {
    const { accesses } = this.#of(watched);
    const { current: step } = this.#recorder;
    const known = accesses.findLast((each) => each.step === step && each.other === other);
    if (known !== undefined) return known.footprint;
    const footprint = new Footprint();
    accesses.push({ step, other, footprint });
    return footprint;
  }

  readsOf(watched: Watched): Footprint {
    return this.#of(watched).reads;
  }

  writesOf(watched: Watched): Footprint {
    return this.#of(watched).writes;
  }

  begins(watched: Watched): void {
    this.#of(watched).begun = this.#moment();
  }

  ends(watched: Watched): void {
    this.#of(watched).ended = this.#moment();
  }

  /** What `reader` has read is not remembered any more, because of a step of `watched`. */
  forgetsReads(watched: Watched, reader: Watched): void {
    this.accessesOf(watched).add(this.readsOf(reader));
  }

  /** Whether the snapshot of a read-only transaction is safe depends on writers. */
  asksForSafety(): void {
    this.#asksForSafety = true;
  }

  #moment(): Moment {
    this.#moments += 1;
    return { step: this.#recorder.current, at: this.#moments };
  }

  #of(watched: Watched): Recorded {
    if (this.#recorded.size === 0) this.#recorder.atEnd(() => this.#settle());
    let recorded = this.#recorded.get(watched);
    if (recorded === undefined) {
      recorded = {
        watched,
        reads: new Footprint(),
        writes: new Footprint(),
        accesses: [],
        begun: null,
        ended: null,
        isAtRisk: false,
      };
      this.#recorded.set(watched, recorded);
    }
    return recorded;
  }

  #settle(): void {
    const recorded = this.#recorded;
    const all = [...recorded.values()];
    this.#recorded = new Map();
    if (this.#asksForSafety) dependAll(all);
    else for (const pivot of all) settleAround(pivot, all);
    this.#asksForSafety = false;
    const atRisk = all.filter(({ isAtRisk }) => isAtRisk);
    for (const writer of atRisk) keepOrderOfEdges(writer, atRisk);
    for (const { isAtRisk, accesses } of all)
      for (const { step, other, footprint } of isAtRisk ? accesses : [])
        if (recorded.get(other)?.isAtRisk === true) step.addLate(footprint);
  }
}

/** The structures of which it is the middle. */
function settleAround(pivot: Recorded, all: readonly Recorded[]): void {
  const readers = all.filter((reader) => mayHaveEdge(reader, pivot));
  const writers = readers.length === 0 ? [] : all.filter((writer) => mayHaveEdge(pivot, writer));
  for (const writer of writers)
    for (const reader of readers) {
      if (!writer.watched.isPrepared || isOver(reader, writer)) continue;
      keepOrder(writer.ended, pivot.begun);
      keepOrder(writer.ended, pivot.ended);
      keepOrder(pivot.ended, reader.begun);
      if (reader !== writer) keepOrder(writer.ended, reader.ended);
      if (reader.writes.isEmpty) keepOrder(writer.ended, reader.begun);
      if (isDangerous(reader, pivot, writer)) for (const member of [reader, pivot, writer]) member.isAtRisk = true;
    }
}

/**
 * A commit looks at those who have read what it overwrites in the order of their edges, and passes over structures whose first transaction it has refused
 * before. So between readers that have an edge themselves the order matters. It is that of the reads, where a write makes both edges.
 */
function keepOrderOfEdges(writer: Recorded, atRisk: readonly Recorded[]): void {
  const readers = atRisk.filter((reader) => mayHaveEdge(reader, writer));
  const ordered = readers.filter((reader) =>
    readers.some((other) => mayHaveEdge(reader, other) || mayHaveEdge(other, reader)),
  );
  if (ordered.length === 0) return;
  const order = new Footprint();
  order.touch(`order of edges to ${writer.watched.id}`, 'change');
  const keep = ({ watched, accesses }: Recorded, makesEdge: (footprint: Footprint) => boolean): void => {
    for (const { step, other, footprint } of accesses)
      if (other === watched && makesEdge(footprint)) step.addLate(order);
  };
  for (const reader of ordered) keep(reader, (footprint) => footprint.conflictsWith(writer.writes));
  keep(writer, (footprint) => ordered.some(({ reads }) => footprint.conflictsWith(reads)));
}

/** Transactions of one session are never concurrent. */
function mayHaveEdge(reader: Recorded, writer: Recorded): boolean {
  return reader.watched.session !== writer.watched.session && reader.reads.conflictsWith(writer.writes);
}

/** Has the first ended before the other begins? In a dangerous structure the last is committed first. */
function isOver(first: Recorded, last: Recorded): boolean {
  return first.watched.session === last.watched.session && first.watched.id < last.watched.id;
}

/** By the order in which they began and ended: the last is committed first, and each edge is between concurrent transactions. */
function isDangerous(reader: Recorded, pivot: Recorded, writer: Recorded): boolean {
  const committed = timeOf(writer.ended);
  return (
    committed < timeOf(pivot.ended) &&
    (reader === writer || committed < timeOf(reader.ended)) &&
    timeOf(pivot.begun) < committed &&
    timeOf(reader.begun) < timeOf(pivot.ended)
  );
}

function timeOf(moment: Moment | null): number {
  return moment?.at ?? Infinity;
}

/** The two steps depend on each other. */
function keepOrder(first: Moment | null, second: Moment | null): void {
  if (first === null || second === null) return;
  const order = new Footprint();
  order.touch(`order of ${first.at} and ${second.at}`, 'change');
  first.step.addLate(order);
  second.step.addLate(order);
}

function dependAll(all: readonly Recorded[]): void {
  for (const recorded of all) {
    recorded.isAtRisk = true;
    for (const other of all) {
      keepOrder(recorded.ended, other.begun);
      if (other !== recorded) keepOrder(recorded.ended, other.ended);
    }
  }
}
