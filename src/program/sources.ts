/**
 * The usual sources of nondeterminism: randomness, clocks, timers. While they are watched, the global functions are replaced by ones that
 * count calls; calls of a program that runs in a `Trial` are noted with the part of the program that made them, and answered with values of
 * its own. Who calls is known by the asynchronous context, so neither moirai's own calls nor those of other tests in the process count.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { ArmedTimers, TimerNotes } from './armed-timers.ts';
import {
  type Draw,
  DrawnValues,
  ForcedPart,
  fraction,
  type Part,
  type PartValues,
  type Side,
  type SourceValues,
} from './source-values.ts';

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

/** Trials run until it is called: who calls a source is known meanwhile, and every promise of the process is slower. */
export function beginTrials(): () => void {
  let hasEnded = false;
  trials += 1;
  return () => {
    if (hasEnded) return;
    hasEnded = true;
    trials -= 1;
    if (trials === 0) scopes.disable();
  };
}

/** Runs what makes trials: sources are watched meanwhile. */
export async function withTrials<T>(run: () => Promise<T>): Promise<T> {
  const watch = watchSources();
  const end = beginTrials();
  try {
    return await run();
  } finally {
    end();
    watch.stop();
  }
}

/** What sources give: drawn values, or for each source one end of its range. */
export type TrialValues = Draw | ((source: string) => Side);

/** Runs of a program of which the calls of sources are known, and answered with values that are the same in each. */
export class Trial {
  readonly #given: TrialValues;
  readonly #noted = new Map<string, Set<string>>();
  readonly timers = new TimerNotes();
  /** Of sources that can be forced. */
  calls = 0;

  constructor(given: TrialValues = 'usual') {
    this.#given = given;
  }

  /** The program, whose sessions and invariant are known to this trial. It runs inside `withTrials`. */
  around<P extends SourceUser>(program: P): P {
    const count = program.sessions.length + 1;
    const sessions = program.sessions.map((body, index) =>
      this.#within(`in session "${program.sessionNames[index]}"`, { index, count }, body),
    );
    const invariant = this.#within('in the invariant', { index: count - 1, count }, program.invariant);
    return { ...program, sessions, invariant };
  }

  /** A part of the program: its values begin anew when it does. */
  #within<A extends unknown[], R>(where: string, part: Part, body: (...args: A) => R): (...args: A) => R {
    const drawn = this.#given;
    return (...args) => {
      const values = typeof drawn === 'function' ? new ForcedPart(drawn, part) : new DrawnValues(drawn, part);
      const timers = new ArmedTimers(this.timers, where);
      const [given] = args;
      if (typeof given === 'object' && given !== null) timersOf.set(given, timers);
      return scopes.run({ where, trial: this, values, timers }, () => body(...args));
    };
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
}

/** A program of any kind, whose code may call sources of nondeterminism. */
export interface SourceUser {
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
const scopes = new AsyncLocalStorage<Scope>();

interface Scope {
  readonly where: string;
  readonly trial: Trial;
  readonly values: PartValues;
  readonly timers: ArmedTimers;
}

/** By what a session is given, its handle or connection. */
const timersOf = new WeakMap<object, ArmedTimers>();

/**
 * After a session has returned, time passes: the timers that it left armed fire. Only of a session that ran in a trial.
 * @returns whether there were any
 * @throws what they throw
 */
export function passTimeAfter(given: object): boolean {
  return timersOf.get(given)?.passTime() ?? false;
}

/** A session's timers do not fire while `isHeld`. Only of a session that runs in a trial. */
export function holdTimersOf(given: object, isHeld: () => boolean): void {
  const timers = timersOf.get(given);
  if (timers !== undefined) timers.isHeld = isHeld;
}

type AnyFunction = (...args: never[]) => unknown;

/** How a source answers with such values. @param own the arguments of the call */
type Answer = (values: SourceValues, own: readonly unknown[], part: PartValues) => unknown;

/** A source, where its function is, and its answer: none for timers, whose moment cannot be chosen. */
const sources: readonly (readonly [source: string, owner: object, name: string, answer: Answer | null])[] = [
  ['Math.random', Math, 'random', fraction],
  ['Date.now', Date, 'now', (values) => values.wallClockMs()],
  ['performance.now', performance, 'now', (values) => values.uptimeMs()],
  ['performance.now', Object.getPrototypeOf(performance) as object, 'now', (values) => values.uptimeMs()],
  ['process.hrtime.bigint', process.hrtime, 'bigint', (values) => BigInt(Math.round(values.uptimeMs() * 1e6))],
  ['process.hrtime', process, 'hrtime', (values, [since]) => hrtime(values.uptimeMs(), since)],
  ...[Object.getPrototypeOf(crypto) as object, nodeCrypto].flatMap((owner): (typeof sources)[number][] => [
    ['crypto.randomUUID', owner, 'randomUUID', (_values, _own, part) => part.uuid('crypto.randomUUID')],
    ['crypto.getRandomValues', owner, 'getRandomValues', (values, [into]) => filled(values, into)],
  ]),
  [
    'crypto.randomBytes',
    nodeCrypto,
    'randomBytes',
    (values, [size, done]) => answered(filled(values, Buffer.alloc(size as number)), done),
  ],
  ['crypto.randomFill', nodeCrypto, 'randomFill', (values, own) => answered(filled(values, own[0]), own.at(-1))],
  ['crypto.randomFillSync', nodeCrypto, 'randomFillSync', (values, [into]) => filled(values, into)],
  ['crypto.randomInt', nodeCrypto, 'randomInt', forcedInteger],
  ['setTimeout', globalThis, 'setTimeout', null],
  ['setInterval', globalThis, 'setInterval', null],
  ['setImmediate', globalThis, 'setImmediate', null],
  ['fetch', globalThis, 'fetch', null],
  ['net.connect', Socket.prototype, 'connect', null],
];

/** Does it reach what moirai does not control: another server, a database by a connection of the program's own? */
export function isOutside(source: string): boolean {
  return source === 'fetch' || source === 'net.connect';
}

/** Can a trial force what this source gives? */
export function isForcible(source: string): boolean {
  return source === NEW_DATE || sources.some(([name, , , answer]) => name === source && answer !== null);
}

const NEW_DATE = 'new Date()';

function replaceSources(): void {
  for (const [source, owner, name, answer] of sources) replace(source, owner, name, answer);
  replaceDate();
  // `import { randomUUID } from 'node:crypto'` follows the module's object only after syncBuiltinESMExports.
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
    const scope = answer === null ? noted(source) : called(source);
    if (scope !== null && answer !== null) return answer(scope.values.of(source), args, scope.values);
    if (scope === null || !isTimer(source) || typeof args[0] !== 'function') return Reflect.apply(original, this, args);
    return timed(scope, source, args, (given) => Reflect.apply(original, this, given));
  };
  Object.defineProperties(replaced, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(owner, name, { ...descriptor, value: replaced });
  restore.push(() => {
    // Other code may have replaced it in the meantime.
    if (Reflect.get(owner, name) === replaced) Object.defineProperty(owner, name, descriptor);
  });
}

function noted(source: string): Scope | null {
  const scope = scopes.getStore() ?? null;
  scope?.trial.note(source, scope.where);
  return scope;
}

/** Of a source that can be forced. */
function called(source: string): Scope | null {
  calls += 1;
  const scope = noted(source);
  if (scope !== null) scope.trial.calls += 1;
  return scope;
}

function isTimer(source: string): boolean {
  return source === 'setTimeout' || source === 'setInterval';
}

/** A timer's waiter finds that its time has passed. */
function timed(
  { values, timers }: Scope,
  source: string,
  [callback, ms, ...rest]: readonly unknown[],
  set: (given: unknown[]) => unknown,
): unknown {
  const fire = function (this: unknown): unknown {
    if (source === 'setTimeout') values.elapsed(Number(ms) || 0);
    return Reflect.apply(callback as AnyFunction, this, rest as never[]);
  };
  return timers.arm(source, fire, (given) => set([given, ms]));
}

/** `new Date()` and `Date()`; a date made from given parts is no source. */
function replaceDate(): void {
  const Original = globalThis.Date;
  const now = (): Date => {
    const scope = called(NEW_DATE);
    return scope === null ? new Original() : new Original(scope.values.of(NEW_DATE).wallClockMs());
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

function filled(values: SourceValues, into: unknown): unknown {
  const view = into as ArrayBufferView;
  values.bytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return into;
}

/** `hrtime([since])`: seconds and nanoseconds. */
function hrtime(ms: number, since: unknown): [number, number] {
  const own = Array.isArray(since) ? (since as [number, number]) : [0, 0];
  const ns = BigInt(Math.round(ms * 1e6)) - (BigInt(own[0] ?? 0) * 1_000_000_000n + BigInt(own[1] ?? 0));
  return [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
}

/** `randomInt([min, ]max[, callback])` */
function forcedInteger(values: SourceValues, own: readonly unknown[]): unknown {
  const numbers = own.filter((each) => typeof each === 'number');
  const [min, end] = numbers.length === 1 ? [0, numbers[0] as number] : (numbers as [number, number]);
  return answered(values.integer(min, end), own.at(-1));
}

/** To the caller that passed a callback, by it. */
function answered(value: unknown, done: unknown): unknown {
  if (typeof done !== 'function') return value;
  queueMicrotask(() => (done as (error: null, value: unknown) => void)(null, value));
  return undefined;
}
