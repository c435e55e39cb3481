/**
 * The accesses of serializable transactions to the flags, edges and numbers of the watch (`serializable.ts`). They matter only where the watch may refuse
 * something: where rw-conflicts T0 -> T1 -> T2 could be, with T0 = T2 or not. So they are kept apart from the other accesses of a step, and added to its
 * footprint when a run is over and shows that its transaction is part of such a structure, or of one that shares a transaction with it.
 *
 * What a run shows is taken without regard to its order: an edge could be where one transaction read what another one writes. So the runs that differ
 * in the order of independent steps show the same structures, and elsewhere the watch answers nothing but "continue" in all of them.
 */
import { Footprint, type FootprintRecorder } from '../footprint.ts';

/** As the watch has it. */
interface Watched {
  readonly id: number;
  readonly session: number;
}

interface Recorded {
  readonly watched: Watched;
  readonly reads: Footprint;
  readonly writes: Footprint;
  /** For each step of the transaction. */
  readonly steps: { readonly step: Footprint; readonly accesses: Footprint }[];
  /** In one group with. */
  group: Recorded | null;
  isPartOfStructure: boolean;
}

export class SerializableFootprints {
  readonly #recorder: FootprintRecorder;
  #recorded = new Map<Watched, Recorded>();

  constructor(recorder: FootprintRecorder) {
    this.#recorder = recorder;
  }

  /** Those of the step under way. */
  accessesOf(watched: Watched): Footprint {
    const { steps } = this.#of(watched);
    const { current } = this.#recorder;
    const last = steps.at(-1);
    if (last?.step === current) return last.accesses;
    const accesses = new Footprint();
    steps.push({ step: current, accesses });
    return accesses;
  }

  readsOf(watched: Watched): Footprint {
    return this.#of(watched).reads;
  }

  writesOf(watched: Watched): Footprint {
    return this.#of(watched).writes;
  }

  /** What `reader` has read is not remembered any more, because of a step of `watched`. */
  forgetsReads(watched: Watched, reader: Watched): void {
    this.accessesOf(watched).add(this.readsOf(reader));
  }

  /** Whether the snapshot of a read-only transaction is safe depends on a writer. */
  readerWaitsFor(reader: Watched, writer: Watched): void {
    join([this.#of(reader), this.#of(writer)]);
  }

  #of(watched: Watched): Recorded {
    if (this.#recorded.size === 0) this.#recorder.atEnd(() => this.#settle());
    let recorded = this.#recorded.get(watched);
    if (recorded === undefined) {
      recorded = {
        watched,
        reads: new Footprint(),
        writes: new Footprint(),
        steps: [],
        group: null,
        isPartOfStructure: false,
      };
      this.#recorded.set(watched, recorded);
    }
    return recorded;
  }

  #settle(): void {
    const all = [...this.#recorded.values()];
    this.#recorded = new Map();
    for (const pivot of all) {
      const readers = all.filter((reader) => mayHaveEdge(reader, pivot));
      const writers = readers.length === 0 ? [] : all.filter((writer) => mayHaveEdge(pivot, writer));
      for (const reader of readers)
        for (const writer of writers) if (!isOver(reader, writer)) join([reader, pivot, writer]);
    }
    for (const recorded of all)
      if (groupOf(recorded).isPartOfStructure) for (const { step, accesses } of recorded.steps) step.addLate(accesses);
  }
}

/** Transactions of one session are never concurrent. */
function mayHaveEdge(reader: Recorded, writer: Recorded): boolean {
  return reader.watched.session !== writer.watched.session && reader.reads.conflictsWith(writer.writes);
}

/** Has the first ended before the other begins? In a dangerous structure the last is committed first. */
function isOver(first: Recorded, last: Recorded): boolean {
  return first.watched.session === last.watched.session && first.watched.id < last.watched.id;
}

function groupOf(recorded: Recorded): Recorded {
  let group = recorded;
  while (group.group !== null) group = group.group;
  return group;
}

function join(members: readonly Recorded[]): void {
  const [first, ...others] = members.map(groupOf);
  if (first === undefined) return;
  first.isPartOfStructure = true;
  for (const other of others) if (other !== first && groupOf(other) !== first) other.group = first;
}
