/**
 * The two-level pipeline of Leopard (ICDE 2023, IV.C): operations of many sessions in one order of their start times, while they arrive.
 *
 * Level one is a queue for each session, in which they are sorted already. Level two is a heap of the sessions that have something
 * queued, by the start of the first; a session that is taken from it gives a batch: all operations up to the next session's first and
 * the watermark. The watermark is the earliest time at which a session without queued operations may start its next, which is the end of
 * its last one, so nothing is dispatched that something earlier may still follow (Theorem 1).
 *
 * Cost: O(1/B log n) for an operation with n sessions and batches of B. Memory: at most `bufferMax` operations; where a session keeps
 * the watermark back longer than that, it is taken to be dead and no longer waited for. If it comes back with something that should
 * have been dispatched before, that is an error: what was decided without it stands.
 *
 * A recorder knows more: its marks say up to which time every operation is there, of sessions that have not been seen yet, too. Then nothing else
 * is waited for, and a session that says nothing holds nothing back. What is overtaken because a statement hangs for longer than the
 * buffer lasts goes to `onLate`.
 */
import { assert, InputError, MinHeap } from '../base/index.ts';
import { kindCode, type OperationTable } from './operation-table.ts';
import { grownBytes, grownFloats, grownInts, none } from './slots.ts';

export interface PipelineOptions {
  /** Where operations are; here they are named by their positions in it. */
  readonly operations: OperationTable;
  /** Gets every operation, in order of their starts; it may take it out of the table. */
  readonly dispatch: (operation: number) => void;
  /** A session that is not waited for any longer. */
  readonly onStalled?: (session: string) => void;
  /** Operations that may wait. Default 65,536. */
  readonly bufferMax?: number;
  /** All sessions, where they are known; else operations are held back for sessions whose first line is still to come. */
  readonly sessions?: readonly string[] | null;
  /** Operations that are always held back where sessions are not declared. Default 4,096, at most half of the buffer. */
  readonly heldBack?: number;
  /** Does `mark` say what is complete? */
  readonly hasMarks?: boolean;
  /** With marks: an operation that was overtaken; it may take it out of the table. */
  readonly onLate?: (operation: number) => void;
  /** How far clocks may be off, in the trace's unit; a start that goes back by no more is moved forward, and counted. Default 0. */
  readonly clockError?: number;
}

/** What happened while the operations of all sessions were put in order. */
export interface PipelineCounts {
  readonly waiting: number;
  readonly waitingMost: number;
  readonly batches: number;
  readonly stalled: number;
  readonly moved: number;
  /** Operations that were overtaken. */
  readonly late: number;
  /** Operations behind the last mark of a trace that was cut off. */
  readonly cut: number;
}

const drainEvery = 256;

/** What is known of a session's last operation. */
const kindNone = 255;

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #operations: OperationTable;
  /** Sessions that were seen, by their numbers in the table of operations. */
  #isMet = new Uint8Array();
  /** Is there something to wait for? */
  #isLive = new Uint8Array();
  /** Its queue, a list by `OperationTable.next`. */
  #first = new Int32Array();
  #last = new Int32Array();
  /** Of its newest operation, which may be gone. */
  #lastStart = new Float64Array();
  #lastEnd = new Float64Array();
  #lastKind = new Uint8Array();
  /** Sessions with something queued, by its start. */
  readonly #heap = new MinHeap();
  readonly #bufferMax: number;
  readonly #heldBack: number;
  readonly #clockError: number;
  readonly #hasMarks: boolean;
  #mark = -Infinity;
  #frontier = -Infinity;
  #sinceDrain = 0;
  #counts = { waiting: 0, waitingMost: 0, batches: 0, stalled: 0, moved: 0, late: 0, cut: 0 };

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#operations = options.operations;
    this.#bufferMax = options.bufferMax ?? 65_536;
    const heldBack = Math.min(options.heldBack ?? 4_096, this.#bufferMax >> 1);
    this.#hasMarks = options.hasMarks === true;
    this.#heldBack = options.sessions || this.#hasMarks ? 0 : heldBack;
    this.#clockError = options.clockError ?? 0;
    for (const name of options.sessions ?? []) this.#meet(this.#operations.sessions.of(name));
  }

  get counts(): PipelineCounts {
    return this.#counts;
  }

  /** Start of the last operation that was dispatched: what is behind the newest that came is the lag. */
  get frontier(): number {
    return this.#frontier;
  }

  /** @throws InputError `trace/order`, `trace/overlap`, `trace/late`, `trace/session` with the line */
  push(operation: number, line: number): void {
    const { session: sessions, start, end, kind, next } = this.#operations;
    const session = sessions[operation];
    if (session >= this.#isMet.length || this.#isMet[session] === 0) this.#meetLate(session, line);
    this.#order(session, operation, line);
    const from = start[operation];
    this.#lastStart[session] = from;
    this.#lastEnd[session] = end[operation];
    this.#lastKind[session] = kind[operation];
    if (from < this.#frontier && this.#hasMarks) {
      this.#counts.late += 1;
      this.#options.onLate?.(operation);
      return;
    }
    if (from < this.#frontier) {
      const name = this.#operations.sessions.name(session);
      const how = 'comes too late: later operations were already looked at; give a larger --buffer';
      throw new InputError('trace/late', `session ${name} ${how}`, { line });
    }
    this.#isLive[session] = kind[operation] === kindCode.end ? 0 : 1;
    next[operation] = none;
    if (this.#first[session] === none) {
      this.#first[session] = operation;
      this.#heap.push(from, session);
    } else next[this.#last[session]] = operation;
    this.#last[session] = operation;
    this.#counts.waiting += 1;
    if (this.#counts.waiting > this.#counts.waitingMost) this.#counts.waitingMost = this.#counts.waiting;
    this.#sinceDrain += 1;
    if (this.#sinceDrain >= drainEvery || this.#counts.waiting > this.#bufferMax) this.drain();
  }

  /** Nothing that starts before `time` will come any more. */
  mark(time: number): void {
    if (time > this.#mark) this.#mark = time;
    this.drain();
  }

  /** Dispatches what nothing can precede any more. */
  drain(): void {
    this.#sinceDrain = 0;
    this.#dispatchUpTo(this.#watermark(), this.#heldBack);
    if (this.#hasMarks) {
      this.#dispatchUpTo(Infinity, this.#bufferMax);
      return;
    }
    while (this.#counts.waiting > this.#bufferMax) {
      if (!this.#stallSlowest()) break;
      this.#dispatchUpTo(this.#watermark(), this.#heldBack);
    }
  }

  /** Nothing more will come. @returns the time from which on something may be missing */
  finish(): number {
    if (this.#hasMarks) {
      this.#dispatchUpTo(this.#mark, 0);
      this.#counts.cut = this.#counts.waiting;
      return this.#mark;
    }
    this.#isLive.fill(0);
    this.#dispatchUpTo(Infinity, 0);
    assert(this.#counts.waiting === 0, `${this.#counts.waiting} operations were not dispatched`);
    return Infinity;
  }

  /**
   * Nothing more will come, and something is missing. Without marks only what no session that is known can precede is certain.
   * @returns the time from which on something may be missing
   */
  finishCut(): number {
    if (this.#hasMarks) return this.finish();
    this.#dispatchUpTo(this.#watermark(), 0);
    this.#counts.cut = this.#counts.waiting;
    return this.#frontier;
  }

  #meetLate(session: number, line: number): void {
    if (!this.#options.sessions) return this.#meet(session);
    const name = this.#operations.sessions.name(session);
    throw new InputError('trace/session', `session ${name} is not among those that the header declares`, { line });
  }

  #meet(session: number): void {
    if (session >= this.#isMet.length) this.#grow(Math.max(16, 2 * session));
    this.#isMet[session] = 1;
    this.#isLive[session] = 1;
    this.#first[session] = none;
    this.#last[session] = none;
    this.#lastKind[session] = kindNone;
  }

  #grow(capacity: number): void {
    this.#isMet = grownBytes(this.#isMet, capacity);
    this.#isLive = grownBytes(this.#isLive, capacity);
    this.#first = grownInts(this.#first, capacity);
    this.#last = grownInts(this.#last, capacity);
    this.#lastStart = grownFloats(this.#lastStart, capacity);
    this.#lastEnd = grownFloats(this.#lastEnd, capacity);
    this.#lastKind = grownBytes(this.#lastKind, capacity);
  }

  /** Operations of one session follow each other; those of one message, such as a statement that commits by itself and its commit, share an interval. */
  #order(session: number, operation: number, line: number): void {
    if (this.#lastKind[session] === kindNone) return;
    const { start, end } = this.#operations;
    const reached = this.#reachedBy(session);
    const from = start[operation];
    if (from >= reached || this.#isOfOneMessage(session, operation)) return;
    if (reached - from <= this.#clockError) {
      this.#counts.moved += 1;
      start[operation] = reached;
      end[operation] = Math.max(reached, end[operation]);
      return;
    }
    const [code, how] =
      from < this.#lastStart[session]
        ? ['trace/order', 'starts before']
        : ['trace/overlap', 'starts before the end of'];
    const name = this.#operations.sessions.name(session);
    throw new InputError(code, `an operation of session ${name} ${how} the one before it`, { line });
  }

  #isOfOneMessage(session: number, operation: number): boolean {
    const { start, end } = this.#operations;
    return start[operation] === this.#lastStart[session] && end[operation] === this.#lastEnd[session];
  }

  /** Nothing of the session can start before this. */
  #reachedBy(session: number): number {
    if (this.#lastKind[session] === kindNone) return -Infinity;
    const end = this.#lastEnd[session];
    return end === Infinity ? this.#lastStart[session] : end;
  }

  #isWaitedFor(session: number): boolean {
    return this.#isMet[session] === 1 && this.#isLive[session] === 1 && this.#first[session] === none;
  }

  #watermark(): number {
    if (this.#hasMarks) return this.#mark;
    let watermark = Infinity;
    for (let session = 0; session < this.#isMet.length; session += 1)
      if (this.#isWaitedFor(session)) watermark = Math.min(watermark, this.#reachedBy(session));
    return watermark;
  }

  #dispatchUpTo(limit: number, heldBack: number): void {
    let watermark = limit;
    while (this.#heap.minKey <= watermark && this.#counts.waiting > heldBack) {
      const session = this.#heap.pop();
      assert(session !== none, 'the heap is not empty');
      this.#counts.batches += 1;
      this.#dispatchBatch(session, Math.min(watermark, this.#heap.minKey));
      const head = this.#first[session];
      if (head !== none) this.#heap.push(this.#operations.start[head], session);
      else if (this.#isLive[session] === 1 && !this.#hasMarks)
        watermark = Math.min(watermark, this.#reachedBy(session));
    }
  }

  #dispatchBatch(session: number, limit: number): void {
    for (let head = this.#first[session]; head !== none; ) {
      const start = this.#operations.start[head];
      if (start > limit) return;
      this.#first[session] = this.#operations.next[head];
      this.#counts.waiting -= 1;
      this.#frontier = start;
      this.#options.dispatch(head);
      head = this.#first[session] ?? none;
    }
  }

  #stallSlowest(): boolean {
    let slowest = none;
    for (let session = 0; session < this.#isMet.length; session += 1) {
      if (!this.#isWaitedFor(session)) continue;
      if (slowest === none || this.#reachedBy(session) < this.#reachedBy(slowest)) slowest = session;
    }
    if (slowest === none) return false;
    this.#isLive[slowest] = 0;
    this.#counts.stalled += 1;
    this.#options.onStalled?.(this.#operations.sessions.name(slowest));
    return true;
  }
}
