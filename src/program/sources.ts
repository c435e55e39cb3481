/**
 * The usual sources of nondeterminism: randomness, clocks, timers. While they are watched, the global functions are replaced by ones that
 * count calls; calls of a program that runs in a `Trial` are noted with the part of the program that made them, and can be answered with
 * forced values. Who calls is known by the asynchronous context, so neither moirai's own calls nor those of other tests in the process count.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { forcedUuid, ForcedValues, type Side } from './source-values.ts';

/** Sources that are replaced until it stops. */
export interface SourceWatch {
  /** Was any source that can be forced called, by whomever, since this was asked last? */
  wereCalled(): boolean;
  stop(): void;
}

export function watchSources(): SourceWatch {
  if (watches === 0) replaceSources();
  watches += 1;
  let seen = calls;
  let isStopped = false;
  return {
    wereCalled: () => {
      const since = calls - seen;
      seen = calls;
      return since > 0;
    },
    stop: () => {
      if (isStopped) return;
      isStopped = true;
      watches -= 1;
      if (watches === 0) restoreSources();
    },
  };
}

/** Runs what makes trials: sources are watched meanwhile. */
export async function withTrials<T>(run: () => Promise<T>): Promise<T> {
  const watch = watchSources();
  trials += 1;
  try {
    return await run();
  } finally {
    trials -= 1;
    // It slows down every promise of the process.
    if (trials === 0) scopes.disable();
    watch.stop();
  }
}

/** One run of a program of which the calls of sources are known. */
export class Trial {
  readonly #sideOf: (source: string) => Side | null;
  readonly #noted = new Map<string, Set<string>>();
  readonly #values = new Map<string, ForcedValues>();
  #uuids = 0;

  /** @param sideOf how a source answers: with forced values, or `null`: as it does */
  constructor(sideOf: (source: string) => Side | null = () => null) {
    this.#sideOf = sideOf;
  }

  /** The program, whose sessions and invariant are known to this trial. It runs inside `withTrials`. */
  around<P extends Watched>(program: P): P {
    const within = <A extends unknown[], R>(where: string, body: (...args: A) => R) => {
      return (...args: A): R => scopes.run({ where, trial: this }, () => body(...args));
    };
    const sessions = program.sessions.map((body, i) => within(`in session "${program.sessionNames[i]}"`, body));
    return { ...program, sessions, invariant: within('in the invariant', program.invariant) };
  }

  /** The sources that were called. */
  sources(): string[] {
    return [...this.#noted.keys()];
  }

  /** Where a source was called, in the order of first calls: `Math.random in session "a"`. */
  callsOf(source: string): string[] {
    return [...(this.#noted.get(source) ?? [])].map((where) => `${source} ${where}`);
  }

  note(source: string, where: string): void {
    const places = this.#noted.get(source);
    if (places === undefined) this.#noted.set(source, new Set([where]));
    else places.add(where);
  }

  /** What the source is to answer with there; `null`: what it does by itself. */
  forced(source: string, where: string): ForcedValues | null {
    const side = this.#sideOf(source);
    if (side === null) return null;
    const place = `${source} ${where}`;
    let values = this.#values.get(place);
    if (values === undefined) this.#values.set(place, (values = new ForcedValues(side)));
    return values;
  }

  uuid(source: string): string {
    this.#uuids += 1;
    return forcedUuid(this.#sideOf(source) ?? 'low', this.#uuids);
  }
}

/** What a program of any kind has. */
interface Watched {
  readonly sessionNames: readonly string[];
  // oxlint-disable-next-line no-explicit-any
  readonly sessions: readonly ((connection: any) => unknown)[];
  // oxlint-disable-next-line no-explicit-any
  readonly invariant: (end: any) => unknown;
}

let watches = 0;
let trials = 0;
let calls = 0;
const restore: (() => void)[] = [];
const scopes = new AsyncLocalStorage<{ readonly where: string; readonly trial: Trial }>();

type AnyFunction = (...args: never[]) => unknown;

/** How a source answers with forced values. @param own the arguments of the call */
type Answer = (values: ForcedValues, own: readonly unknown[], trial: Trial) => unknown;

/** A source, where its function is, and its forced answer: none for timers, whose moment is nobody's to choose. */
const sources: readonly (readonly [source: string, owner: object, name: string, answer: Answer | null])[] = [
  ['Math.random', Math, 'random', (values) => values.fraction()],
  ['Date.now', Date, 'now', (values) => values.wallClockMs()],
  ['performance.now', performance, 'now', (values) => values.uptimeMs()],
  ['performance.now', Object.getPrototypeOf(performance) as object, 'now', (values) => values.uptimeMs()],
  ['process.hrtime.bigint', process.hrtime, 'bigint', (values) => BigInt(Math.round(values.uptimeMs() * 1e6))],
  ...[Object.getPrototypeOf(crypto) as object, nodeCrypto].flatMap((owner): (typeof sources)[number][] => [
    ['crypto.randomUUID', owner, 'randomUUID', (_values, _own, trial) => trial.uuid('crypto.randomUUID')],
    ['crypto.getRandomValues', owner, 'getRandomValues', (values, [into]) => filled(values, into)],
  ]),
  [
    'crypto.randomBytes',
    nodeCrypto,
    'randomBytes',
    (values, [size, done]) => answered(filled(values, Buffer.alloc(size as number)), done),
  ],
  ['crypto.randomFillSync', nodeCrypto, 'randomFillSync', (values, [into]) => filled(values, into)],
  ['crypto.randomInt', nodeCrypto, 'randomInt', forcedInteger],
  ['setTimeout', globalThis, 'setTimeout', null],
  ['setInterval', globalThis, 'setInterval', null],
  ['setImmediate', globalThis, 'setImmediate', null],
  ['fetch', globalThis, 'fetch', null],
];

/** Can a trial force what this source gives? */
export function isForcible(source: string): boolean {
  return source === NEW_DATE || sources.some(([name, , , answer]) => name === source && answer !== null);
}

const NEW_DATE = 'new Date()';

function replaceSources(): void {
  for (const [source, owner, name, answer] of sources) replace(source, owner, name, answer);
  replaceDate();
  // `import { randomUUID } from 'node:crypto'` follows the module's object only when told to.
  syncBuiltinESMExports();
}

function restoreSources(): void {
  for (const undo of restore.toReversed()) undo();
  restore.length = 0;
  syncBuiltinESMExports();
}

function replace(source: string, owner: object, name: string, answer: Answer | null): void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  const original = descriptor?.value as AnyFunction | undefined;
  if (descriptor === undefined || typeof original !== 'function' || !(descriptor.configurable ?? false)) return;
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    const forced = answer === null ? noteCall(source) : forcedCall(source);
    if (forced === null || answer === null) return Reflect.apply(original, this, args);
    return answer(forced.values, args, forced.trial);
  };
  Object.defineProperties(replaced, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(owner, name, { ...descriptor, value: replaced });
  restore.push(() => {
    // Somebody else may have replaced it in the meantime.
    if (Reflect.get(owner, name) === replaced) Object.defineProperty(owner, name, descriptor);
  });
}

function noteCall(source: string): null {
  const scope = scopes.getStore();
  scope?.trial.note(source, scope.where);
  return null;
}

function forcedCall(source: string): { readonly values: ForcedValues; readonly trial: Trial } | null {
  calls += 1;
  noteCall(source);
  const scope = scopes.getStore();
  const values = scope?.trial.forced(source, scope.where) ?? null;
  return scope === undefined || values === null ? null : { values, trial: scope.trial };
}

/** `new Date()` and `Date()`; a date made from given parts is no source. */
function replaceDate(): void {
  const Original = globalThis.Date;
  const now = (): Date => {
    const forced = forcedCall(NEW_DATE);
    return forced === null ? new Original() : new Original(forced.values.wallClockMs());
  };
  const Replaced = new Proxy(Original, {
    construct: (target, args, newTarget) => {
      if (args.length > 0) return Reflect.construct(target, args, newTarget) as object;
      return Reflect.construct(target, [now().getTime()], newTarget) as object;
    },
    apply: () => now().toString(),
  });
  const setConstructor = (value: DateConstructor): void => {
    Object.defineProperty(Original.prototype, 'constructor', { value, writable: true, configurable: true });
  };
  globalThis.Date = Replaced;
  setConstructor(Replaced);
  restore.push(() => {
    if (globalThis.Date === Replaced) globalThis.Date = Original;
    setConstructor(Original);
  });
}

function filled(values: ForcedValues, into: unknown): unknown {
  const view = into as ArrayBufferView;
  values.bytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return into;
}

/** `randomInt([min, ]max[, callback])` */
function forcedInteger(values: ForcedValues, own: readonly unknown[]): unknown {
  const numbers = own.filter((each) => typeof each === 'number');
  const [min, end] = numbers.length === 1 ? [0, numbers[0] as number] : (numbers as [number, number]);
  return answered(values.integer(min, end), own.at(-1));
}

/** To whoever passed a callback, by it. */
function answered(value: unknown, done: unknown): unknown {
  if (typeof done !== 'function') return value;
  queueMicrotask(() => (done as (error: null, value: unknown) => void)(null, value));
  return undefined;
}
