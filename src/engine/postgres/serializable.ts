/**
 * Serializable snapshot isolation as PostgreSQL does it: which serializable transactions read what others overwrote, and whom to refuse
 * before three of them T0 -> T1 -> T2 (rw edges, T2 committed first) can be part of a cycle. Ports and Grittner, "Serializable Snapshot Isolation in
 * PostgreSQL", VLDB 2012; the names and the order of tests are those of `predicate.c` of PostgreSQL 15.
 *
 * What is read is remembered by version, by index range and by table. PostgreSQL remembers index pages instead of ranges and so refuses more; it
 * also summarizes old transactions when memory is short, which does not happen here.
 */
import { SqlError } from '../../sql/model/index.ts';
import type { SerializableFootprints } from './serializable-footprints.ts';

/** A serializable transaction, watched until no transaction is concurrent with it any more. */
export class Watched {
  readonly id: number;
  readonly session: number;
  /** The oldest transaction number that was open at its snapshot. */
  readonly xmin: number;
  /** The last serializable commit before its snapshot. */
  readonly lastCommitBeforeSnapshot: number;
  readonly isDeclaredReadOnly: boolean;
  /** Declared, or committed without a write. */
  isReadOnly: boolean;
  isDoomed = false;
  isPrepared = false;
  isCommitted = false;
  hasWritten = false;
  /** Read-only, and nothing that is still open can make it part of a cycle. */
  isSafe = false;
  prepareNumber = Infinity;
  commitNumber = Infinity;
  /** The next transaction number when it ended. */
  finishedBefore = Infinity;
  /** The first commit of those it has an edge to that committed before it. */
  earliestOutCommit = Infinity;
  /** Edges: those who read what this overwrote; those who overwrote what this read. */
  readonly in = new Set<Watched>();
  readonly out = new Set<Watched>();
  /** Of a read-only transaction: open writers that may make it unsafe; of a writer: such readers. */
  readonly possiblyUnsafe = new Set<Watched>();
  /** Undo what it has remembered of its reads. */
  readonly reads: (() => void)[] = [];

  constructor(id: number, session: number, xmin: number, lastCommit: number, isReadOnly: boolean) {
    this.id = id;
    this.session = session;
    this.xmin = xmin;
    this.lastCommitBeforeSnapshot = lastCommit;
    this.isDeclaredReadOnly = isReadOnly;
    this.isReadOnly = isReadOnly;
  }
}

export class SerializableWatch {
  readonly #open = new Set<Watched>();
  #finished: Watched[] = [];
  /** Counts preparations and commits of serializable transactions. */
  #lastCommit = 0;
  readonly #footprints: SerializableFootprints | null;

  constructor(footprints: SerializableFootprints | null = null) {
    this.#footprints = footprints;
  }

  /** At the snapshot. `null`: read-only and safe from the start, nothing needs watching. */
  begin(id: number, session: number, xmin: number, isReadOnly: boolean): Watched | null {
    const watched = new Watched(id, session, xmin, this.#lastCommit, isReadOnly);
    if (isReadOnly) {
      for (const other of this.#open) {
        if (other.isDoomed || other.isReadOnly) continue;
        watched.possiblyUnsafe.add(other);
        other.possiblyUnsafe.add(watched);
        this.#footprints?.asksForSafety();
      }
      if (watched.possiblyUnsafe.size === 0) return null;
    }
    this.#open.add(watched);
    return watched;
  }

  /** `me` has come across a version that `writer` made and the snapshot of `me` does not contain. @throws SqlError 40001 */
  conflictOut(me: Watched, writer: Watched): void {
    this.#touch(me, [me, writer], 'read');
    checkDoomed(me, 'conflict out checking');
    if (me.isReadOnly && writer.isCommitted && me.lastCommitBeforeSnapshot < writer.earliestOutCommit) return;
    this.#touchEdge(me, me, writer);
    if (me.out.has(writer)) return;
    this.#flag(me, writer, me);
  }

  /** `me` writes what `reader` has read. @throws SqlError 40001 */
  conflictIn(me: Watched, reader: Watched): void {
    if (reader === me) return;
    this.#touch(me, [reader, me], 'read');
    if (reader.isDoomed || (reader.isCommitted && me.xmin >= reader.finishedBefore)) return;
    this.#touchEdge(me, reader, me);
    if (reader.out.has(me)) return;
    this.#flag(reader, me, me);
  }

  /** @throws SqlError 40001 */
  prepare(me: Watched): void {
    this.#touch(me, [me], 'change');
    checkDoomed(me, 'commit attempt');
    this.#lookAtEdges(me, me);
    this.#touch(me, me.in, 'read');
    for (const pivot of me.in) {
      if (pivot.isCommitted || pivot.isDoomed) continue;
      this.#lookAtEdges(me, pivot);
      this.#touch(me, pivot.in, 'read');
      for (const far of pivot.in) {
        if (far !== me && (far.isCommitted || far.isReadOnly || far.isDoomed)) continue;
        this.#doom(me, pivot);
        break;
      }
    }
    me.prepareNumber = ++this.#lastCommit;
    me.isPrepared = true;
  }

  ended(me: Watched, isCommit: boolean, nextTransaction: number): void {
    for (const touched of [[me], me.possiblyUnsafe]) this.#touch(me, touched, 'change');
    for (const touched of [me.in, me.out]) this.#touch(me, touched, 'read');
    for (const other of me.possiblyUnsafe) this.#touch(me, other.possiblyUnsafe, 'change');
    this.#open.delete(me);
    me.finishedBefore = nextTransaction;
    if (isCommit) {
      me.isCommitted = true;
      me.commitNumber = ++this.#lastCommit;
      me.isReadOnly ||= !me.hasWritten;
    } else {
      me.isDoomed = true;
      this.#footprints?.forgetsReads(me, me);
    }
    this.#settleEdges(me, isCommit);
    this.#settleReaders(me, isCommit);
    if (isCommit) this.#finished.push(me);
    else release(me);
    this.#forgetOld();
  }

  /** An edge is made, or was made before. In which order edges are made does not matter, unless they are looked at. */
  #touchEdge(me: Watched, reader: Watched, writer: Watched): void {
    const accesses = this.#footprints?.accessesOf(me, me === reader ? writer : reader);
    for (const { session } of [reader, writer]) accesses?.touch(edgesName(session), 'left');
  }

  #lookAtEdges(me: Watched, of: Watched): void {
    this.#footprints?.accessesOf(me, of).touch(edgesName(of.session), 'right');
  }

  #touch(me: Watched, watched: Iterable<Watched>, kind: 'read' | 'change'): void {
    if (this.#footprints === null) return;
    for (const other of watched) this.#footprints.accessesOf(me, other).touch(watchName(other.session), kind);
  }

  #flag(reader: Watched, writer: Watched, me: Watched): void {
    this.#lookForStructures(me, reader, writer);
    if (isDangerous(reader, writer)) {
      if (me === writer) throw refused('Canceled on identification as a pivot, during write.');
      if (writer.isPrepared) throw refused(`Canceled on conflict out to pivot ${writer.id}, during read.`);
      this.#doom(me, writer);
    }
    reader.out.add(writer);
    writer.in.add(reader);
  }

  /**
   * Together with another edge this one may be dangerous where the last of the three is prepared. The later of the two edges finds that out: so neither
   * comes before the other for nothing then.
   */
  #lookForStructures(me: Watched, reader: Watched, writer: Watched): void {
    this.#touch(me, writer.out, 'read');
    this.#touch(me, reader.in, 'read');
    const isPivot = writer.earliestOutCommit !== Infinity || [...writer.out].some(({ isPrepared }) => isPrepared);
    if (isPivot) this.#lookAtEdges(me, writer);
    if (writer.isPrepared) this.#lookAtEdges(me, reader);
  }

  #doom(me: Watched, pivot: Watched): void {
    this.#touch(me, [pivot], 'change');
    pivot.isDoomed = true;
  }

  #settleEdges(me: Watched, isCommit: boolean): void {
    this.#lookAtEdges(me, me);
    for (const other of me.out) {
      if (isCommit && !me.isReadOnly && other.isCommitted)
        me.earliestOutCommit = Math.min(me.earliestOutCommit, other.prepareNumber);
      if (isCommit && !other.isCommitted && other.lastCommitBeforeSnapshot < this.#lastCommit) continue;
      this.#removeEdge(me, me, other);
    }
    for (const other of me.in) {
      if (isCommit && !other.isCommitted && !other.isReadOnly) continue;
      this.#removeEdge(me, other, me);
    }
  }

  #removeEdge(me: Watched, reader: Watched, writer: Watched): void {
    this.#touchEdge(me, reader, writer);
    for (const each of [reader, writer]) this.#lookAtEdges(me, each);
    reader.out.delete(writer);
    writer.in.delete(reader);
  }

  /** Read-only transactions that waited for this writer's fate. */
  #settleReaders(me: Watched, isCommit: boolean): void {
    for (const other of me.possiblyUnsafe) {
      other.possiblyUnsafe.delete(me);
      if (me.isDeclaredReadOnly) continue;
      if (isCommit && me.hasWritten && me.earliestOutCommit <= other.lastCommitBeforeSnapshot) {
        for (const writer of other.possiblyUnsafe) writer.possiblyUnsafe.delete(other);
        other.possiblyUnsafe.clear();
      } else if (other.possiblyUnsafe.size === 0) this.#makeSafe(me, other);
    }
    me.possiblyUnsafe.clear();
  }

  #makeSafe(me: Watched, reader: Watched): void {
    this.#footprints?.forgetsReads(me, reader);
    reader.isSafe = true;
    this.#open.delete(reader);
    for (const writer of reader.out) this.#removeEdge(me, reader, writer);
    release(reader);
  }

  /** What no open transaction is concurrent with is forgotten. */
  #forgetOld(): void {
    let xmin = Infinity;
    for (const open of this.#open) xmin = Math.min(xmin, open.xmin);
    this.#finished = this.#finished.filter((finished) => {
      if (finished.finishedBefore > xmin) return true;
      release(finished);
      return false;
    });
  }
}

/** Would this edge make a dangerous structure? `OnConflict_CheckForSerializationFailure`. */
function isDangerous(reader: Watched, writer: Watched): boolean {
  if (writer.isCommitted && writer.earliestOutCommit !== Infinity) return true;
  // reader -> writer -> t2, t2 committed first.
  for (const t2 of writer.out) {
    if (
      t2.isPrepared &&
      (!reader.isCommitted || t2.prepareNumber <= reader.commitNumber) &&
      (!writer.isCommitted || t2.prepareNumber <= writer.commitNumber) &&
      (!reader.isReadOnly || t2.prepareNumber <= reader.lastCommitBeforeSnapshot)
    )
      return true;
  }
  // t0 -> reader -> writer, the writer committed first.
  if (!writer.isPrepared || reader.isReadOnly) return false;
  for (const t0 of reader.in) {
    if (
      !t0.isDoomed &&
      (!t0.isCommitted || t0.commitNumber >= writer.prepareNumber) &&
      (!t0.isReadOnly || t0.lastCommitBeforeSnapshot >= writer.prepareNumber)
    )
      return true;
  }
  return false;
}

/** @throws SqlError 40001 */
export function checkDoomed(me: Watched, when: string): void {
  if (me.isDoomed) throw refused(`Canceled on identification as a pivot, during ${when}.`);
}

function release(watched: Watched): void {
  for (const other of watched.out) other.in.delete(watched);
  for (const other of watched.in) other.out.delete(watched);
  watched.out.clear();
  watched.in.clear();
  for (const forget of watched.reads) forget();
  watched.reads.length = 0;
}

/** What a footprint calls the flags and edges of a session's transactions. */
export function watchName(session: number): string {
  return `watch of ${session}`;
}

function edgesName(session: number): string {
  return `edges of ${session}`;
}

function refused(reason: string): SqlError {
  return new SqlError('40001', 'could not serialize access due to read/write dependencies among transactions', {
    detail: `Reason code: ${reason}`,
    hint: 'The transaction might succeed if retried.',
  });
}
