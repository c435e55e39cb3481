/**
 * What the sessions of a program do, remembered by what they read. A session is a function of the values that its reads return, so a session
 * that reads what it read in an earlier run need not run again: its operations are known. Each session has a tree of steps that branches
 * where a read returns another value; a run that stays inside the trees costs no promise and no call of the program. Where it leaves them,
 * the program runs, and what it does is added.
 *
 * The same trees show a program that is not such a function: after the same values it does something else.
 */
import type { IsolationLevel } from '../isolation/index.ts';
import {
  inOrderOf,
  mark,
  type Marks,
  type Program,
  type SessionHandle,
  type Store,
  type StoreTransaction,
} from '../program/index.ts';
import type { ExploringStore } from './exploring-store.ts';
import { copyAgain, copyPlain, OPAQUE } from './plain-copy.ts';

/** How the sessions ended, and what `sometimes` was called with. */
export type Ending = (
  | { readonly kind: 'finished'; readonly results: Readonly<Record<string, unknown>> }
  | { readonly kind: 'threw'; readonly session: string; readonly error: unknown }
) & {
  readonly marks: Marks;
  /** Where the run was judged already: the invariant may change what it is given. */
  readonly verdict?: HistoryVerdict;
};

export interface HistoryVerdict {
  /** What is wrong; `null` where nothing is. */
  readonly message: string | null;
  readonly marks: Marks;
  /** The error of its own code that the invariant threw. */
  readonly mistake?: Error;
  /** The invariant did not end in time: nothing is known. */
  readonly isLate?: boolean;
}

type StepKind = 'unknown' | 'begin' | 'read' | 'write' | 'commit' | 'abort' | 'mark' | 'returned' | 'threw';

class Step {
  kind: StepKind = 'unknown';
  /** Of a read or a write. */
  key = -1;
  /** The number of the value that is written, or that the read returned before `next`. */
  value = -1;
  level: IsolationLevel | undefined = undefined;
  /** Of a mark. */
  name = '';
  held = false;
  /** What the session returned or threw. */
  result: unknown = undefined;
  next: Step | null = null;
  /** After a read: what comes next, by the number of the value. */
  others: Map<number, Step> | null = null;

  after(value: number): Step | null {
    return value === this.value ? this.next : (this.others?.get(value) ?? null);
  }
}

export class Behaviours {
  readonly #program: Program;
  #roots: Step[] = [];
  #steps = 0;

  constructor(program: Program) {
    this.#program = program;
    this.forget();
  }

  /** Steps that are remembered. */
  get size(): number {
    return this.#steps;
  }

  forget(): void {
    this.#roots = this.#program.sessions.map(() => new Step());
    this.#steps = 0;
  }

  // ---- a run without the program

  /** Runs all sessions on the store as they ran before. @returns `null` where they leave what is known; the store is then in the middle */
  replay(store: ExploringStore, turnsMax: number): Ending | null {
    const { sessionNames } = this.#program;
    const cursors = [...this.#roots];
    const run = { results: {} as Record<string, unknown>, marks: new Map<string, boolean>(), threw: null as Threw };
    let waiting: number[] = [];
    for (let session = 0; session < cursors.length; session += 1) {
      const step = between(cursors[session] as Step, sessionNames[session] as string, run);
      if (step === null) return null;
      cursors[session] = step;
      if (step.kind === 'begin') waiting.push(session);
    }
    for (let turns = 0; waiting.length > 0; turns += 1) {
      if (turns === turnsMax) return null;
      const session = store.nextSession(waiting);
      if (session === null) break;
      const end = transaction(cursors[session] as Step, session, store, run.marks);
      const step = end === null ? null : between(end, sessionNames[session] as string, run);
      if (step === null) return null;
      cursors[session] = step;
      if (step.kind !== 'begin') waiting = waiting.filter((each) => each !== session);
    }
    return run.threw === null
      ? { kind: 'finished', results: inOrderOf(this.#program, run.results), marks: run.marks }
      : { kind: 'threw', ...run.threw, marks: run.marks };
  }

  // ---- runs of the program, noted

  /** The program and the store of one run, which is added to what is known. */
  record(store: ExploringStore): Recording {
    const recorder = new Recorder(this.#roots, this.#program, store, () => (this.#steps += 1));
    const { sessions } = this.#program;
    return {
      program: { ...this.#program, sessions: sessions.map((body, i) => recorder.session(i, body)) },
      store: recorder,
      difference: () => recorder.difference,
    };
  }
}

export interface Recording {
  readonly program: Program;
  readonly store: Store;
  /** What a session did otherwise than before on the same values; `null` while there is nothing. */
  readonly difference: () => string | null;
}

type Threw = { readonly session: string; readonly error: unknown } | null;

/** From the end of a transaction to the begin of the next, or the end of the session. */
function between(
  from: Step,
  session: string,
  run: { readonly results: Record<string, unknown>; readonly marks: Map<string, boolean>; threw: Threw },
): Step | null {
  for (let step: Step | null = from; step !== null; step = step.next) {
    switch (step.kind) {
      case 'begin':
        return step;
      case 'mark':
        mark(run.marks, step.name, step.held);
        continue;
      case 'returned': {
        if (step.result === OPAQUE) return null;
        run.results[session] = copyAgain(step.result);
        return step;
      }
      case 'threw':
        run.threw ??= { session, error: step.result };
        return step;
      default:
        return null;
    }
  }
  return null;
}

/** One transaction from its begin on. @returns the step after its end */
function transaction(begin: Step, session: number, store: ExploringStore, marks: Map<string, boolean>): Step | null {
  const log = store.open(session, begin.level);
  for (let step = begin.next; step !== null; ) {
    switch (step.kind) {
      case 'read':
        step = step.after(store.read(log, step.key));
        continue;
      case 'write':
        store.write(log, step.key, step.value);
        break;
      case 'mark':
        mark(marks, step.name, step.held);
        break;
      case 'commit':
        store.commit(log);
        return step.next;
      case 'abort':
        store.abort(log);
        return step.next;
      default:
        return null;
    }
    step = step.next;
  }
  return null;
}

/** A store that notes what each session does. */
class Recorder implements Store {
  difference: string | null = null;
  readonly #cursors: Step[];
  readonly #program: Program;
  readonly #store: ExploringStore;
  readonly #count: () => void;

  constructor(roots: readonly Step[], program: Program, store: ExploringStore, count: () => void) {
    this.#cursors = [...roots];
    this.#program = program;
    this.#store = store;
    this.#count = count;
  }

  begin(session: number, level?: IsolationLevel): StoreTransaction {
    const store = this.#store;
    this.#note(session, { kind: 'begin', level });
    const log = store.open(session, level);
    return {
      read: (key) => {
        const id = store.numbers.keyId(key);
        const value = store.read(log, id);
        this.#note(session, { kind: 'read', key: id }, value);
        return store.numbers.copyOf(value);
      },
      write: (key, value) => {
        const id = store.numbers.keyId(key);
        const number = this.#numberOf(session, value);
        this.#note(session, { kind: 'write', key: id, value: number });
        store.write(log, id, number);
      },
      commit: () => {
        this.#note(session, { kind: 'commit' });
        store.commit(log);
        return 'committed';
      },
      abort: () => {
        this.#note(session, { kind: 'abort' });
        store.abort(log);
      },
    };
  }

  session(index: number, body: Program['sessions'][number]): Program['sessions'][number] {
    return async (handle) => {
      try {
        const result = await body(this.#observed(index, handle));
        this.#note(index, { kind: 'returned', result });
        return result;
      } catch (error) {
        this.#note(index, { kind: 'threw', result: error });
        throw error;
      }
    };
  }

  #observed(index: number, handle: SessionHandle): SessionHandle {
    return {
      ...handle,
      sometimes: (name, condition = true) => {
        this.#note(index, { kind: 'mark', name, held: condition });
        handle.sometimes(name, condition);
      },
    };
  }

  /** Most often it is what the session wrote here before: then nothing is copied. */
  #numberOf(session: number, value: unknown): number {
    const step = this.#cursors[session] as Step;
    return step.kind === 'write' && this.#store.numbers.isValue(step.value, value)
      ? step.value
      : this.#store.numbers.valueNumber(value);
  }

  /** What comes next in a session; after a read also what it returned. */
  #note(session: number, did: Partial<Step>, returned?: number): void {
    if (this.difference !== null) return;
    const step = this.#cursors[session] as Step;
    if (step.kind === 'unknown') learn(step, did);
    else if (!isSame(step, did)) {
      this.difference = `on the same values, session "${this.#program.sessionNames[session]}" first ${this.#words(step)}, then ${this.#words(did)}`;
      return;
    }
    this.#cursors[session] = returned === undefined ? this.#next(step) : this.#branch(step, returned);
  }

  #next(step: Step): Step {
    if (step.next === null) this.#count();
    return (step.next ??= new Step());
  }

  #branch(step: Step, value: number): Step {
    const known = step.after(value);
    if (known !== null) return known;
    this.#count();
    const next = new Step();
    if (step.next === null) {
      step.next = next;
      step.value = value;
    } else (step.others ??= new Map<number, Step>()).set(value, next);
    return next;
  }

  #words({ kind, key = -1, value = -1, name = '' }: Partial<Step>): string {
    switch (kind) {
      case 'read':
        return `reads ${this.#store.numbers.keyOf(key)}`;
      case 'write':
        return `writes ${this.#store.numbers.keyOf(key)} = ${JSON.stringify(this.#store.numbers.copyOf(value))}`;
      case 'mark':
        return `says sometimes "${name}"`;
      case 'returned':
        return 'returns';
      case 'threw':
        return 'throws';
      case 'begin':
        return 'begins a transaction';
      default:
        return `${kind}s`;
    }
  }
}

/** What is returned belongs to the program, which may change it: a copy is kept. */
function learn(step: Step, did: Partial<Step>): void {
  Object.assign(step, did);
  if (did.kind === 'returned') step.result = copyPlain(did.result);
}

/** What was thrown or returned is not compared: errors have stacks, and what counts is what is done with it. */
function isSame(step: Step, did: Partial<Step>): boolean {
  return (
    step.kind === did.kind &&
    step.key === (did.key ?? -1) &&
    (step.kind !== 'write' || step.value === did.value) &&
    step.level === did.level &&
    step.name === (did.name ?? '') &&
    step.held === (did.held ?? false)
  );
}
