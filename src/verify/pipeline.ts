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
 * have been dispatched before, that is an error: what was decided without it cannot be taken back.
 *
 * A recorder knows more: its marks say up to which time every operation is there, of sessions that nobody has seen yet, too. Then nothing else
 * is waited for, and a session that says nothing holds nothing back. What is overtaken because a statement hangs for longer than the
 * buffer lasts goes to `onLate`.
 */
import { assert } from '../base/assert.ts';
import { InputError } from '../base/input-error.ts';
import { MinHeap } from './min-heap.ts';
import type { TraceOperation } from './trace.ts';

export interface PipelineOptions {
  /** Gets every operation, in order of their starts. */
  readonly dispatch: (operation: TraceOperation) => void;
  /** A session that nobody waits for any longer. */
  readonly onStalled?: (session: string) => void;
  /** Operations that may wait. Default 65,536. */
  readonly bufferMax?: number;
  /** All sessions, where they are known; else operations are held back for sessions whose first line is still to come. */
  readonly sessions?: readonly string[] | null;
  /** Operations that are always held back where sessions are not declared. Default 4,096, at most half of the buffer. */
  readonly heldBack?: number;
  /** Does `mark` say what is complete? */
  readonly hasMarks?: boolean;
  /** With marks: an operation that was overtaken. */
  readonly onLate?: (operation: TraceOperation) => void;
  /** How far clocks may be off, in the trace's unit; a start that goes back by no more is moved forward, and counted. Default 0. */
  readonly clockError?: number;
}

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

interface Session {
  readonly name: string;
  queue: TraceOperation[];
  /** Of the first in the queue that was not dispatched. */
  next: number;
  last: TraceOperation | null;
  /** Is there something to wait for? */
  isLive: boolean;
}

const drainEvery = 256;

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #sessions = new Map<string, Session>();
  /** Sessions with something queued, by its start. */
  readonly #heap = new MinHeap<Session>();
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
    this.#bufferMax = options.bufferMax ?? 65_536;
    const heldBack = Math.min(options.heldBack ?? 4_096, this.#bufferMax >> 1);
    this.#hasMarks = options.hasMarks === true;
    this.#heldBack = options.sessions || this.#hasMarks ? 0 : heldBack;
    this.#clockError = options.clockError ?? 0;
    for (const name of options.sessions ?? []) this.#open(name);
  }

  get counts(): PipelineCounts {
    return this.#counts;
  }

  /** Start of the last operation that was dispatched: what is behind the newest that came is the lag. */
  get frontier(): number {
    return this.#frontier;
  }

  /** @throws InputError `trace/order`, `trace/overlap`, `trace/late`, `trace/session` with the line */
  push(given: TraceOperation, line: number): void {
    const session = this.#sessions.get(given.session) ?? this.#openLate(given.session, line);
    const operation = this.#inOrder(session, given, line);
    session.last = operation;
    if (operation.start < this.#frontier && this.#hasMarks) {
      this.#counts.late += 1;
      this.#options.onLate?.(operation);
      return;
    }
    if (operation.start < this.#frontier)
      throw new InputError(
        'trace/late',
        `session ${given.session} comes too late: later operations were already looked at; give a larger --buffer`,
        { line },
      );
    session.isLive = operation.kind !== 'end';
    if (session.next === session.queue.length) this.#heap.push(operation.start, session);
    session.queue.push(operation);
    this.#counts.waiting += 1;
    this.#counts.waitingMost = Math.max(this.#counts.waitingMost, this.#counts.waiting);
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
    for (const session of this.#sessions.values()) session.isLive = false;
    this.#dispatchUpTo(Infinity, 0);
    assert(this.#counts.waiting === 0, `${this.#counts.waiting} operations were not dispatched`);
    return Infinity;
  }

  #openLate(name: string, line: number): Session {
    if (!this.#options.sessions) return this.#open(name);
    throw new InputError('trace/session', `session ${name} is not among those that the header declares`, { line });
  }

  #open(name: string): Session {
    const session: Session = { name, queue: [], next: 0, last: null, isLive: true };
    this.#sessions.set(name, session);
    return session;
  }

  /** Operations of one session follow each other; a commit may share the interval of the statement that commits by itself. */
  #inOrder({ last }: Session, given: TraceOperation, line: number): TraceOperation {
    if (last === null) return given;
    const reached = last.end === Infinity ? last.start : last.end;
    if (given.start >= reached || isAutocommit(last, given)) return given;
    if (reached - given.start <= this.#clockError) {
      this.#counts.moved += 1;
      return { ...given, start: reached, end: Math.max(reached, given.end) };
    }
    const [code, how] =
      given.start < last.start ? ['trace/order', 'starts before'] : ['trace/overlap', 'starts before the end of'];
    throw new InputError(code, `an operation of session ${given.session} ${how} the one before it`, { line });
  }

  #watermark(): number {
    if (this.#hasMarks) return this.#mark;
    let watermark = Infinity;
    for (const session of this.#sessions.values()) {
      if (session.isLive && session.next === session.queue.length) watermark = Math.min(watermark, reachedBy(session));
    }
    return watermark;
  }

  #dispatchUpTo(limit: number, heldBack: number): void {
    let watermark = limit;
    while (this.#heap.minKey <= watermark && this.#counts.waiting > heldBack) {
      const session = this.#heap.pop();
      assert(session !== undefined, 'the heap is not empty');
      this.#counts.batches += 1;
      this.#dispatchBatch(session, Math.min(watermark, this.#heap.minKey));
      const head = session.queue[session.next];
      if (head !== undefined) this.#heap.push(head.start, session);
      else if (session.isLive && !this.#hasMarks) watermark = Math.min(watermark, reachedBy(session));
    }
  }

  #dispatchBatch(session: Session, limit: number): void {
    for (let head = session.queue[session.next]; head !== undefined; head = session.queue[session.next]) {
      if (head.start > limit) break;
      session.next += 1;
      this.#counts.waiting -= 1;
      this.#frontier = head.start;
      this.#options.dispatch(head);
    }
    if (session.next === session.queue.length) {
      session.queue = [];
      session.next = 0;
    } else if (session.next > 1_024) {
      session.queue = session.queue.slice(session.next);
      session.next = 0;
    }
  }

  #stallSlowest(): boolean {
    let slowest: Session | null = null;
    for (const session of this.#sessions.values()) {
      if (!session.isLive || session.next < session.queue.length) continue;
      if (slowest === null || reachedBy(session) < reachedBy(slowest)) slowest = session;
    }
    if (slowest === null) return false;
    slowest.isLive = false;
    this.#counts.stalled += 1;
    this.#options.onStalled?.(slowest.name);
    return true;
  }
}

function reachedBy({ last }: Session): number {
  if (last === null) return -Infinity;
  return last.end === Infinity ? last.start : last.end;
}

function isAutocommit(last: TraceOperation, given: TraceOperation): boolean {
  const isEnd = given.kind === 'commit' || given.kind === 'abort';
  return isEnd && given.transaction === last.transaction && given.start === last.start && given.end === last.end;
}
