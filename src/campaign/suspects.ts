/** The usual sources of nondeterminism, watched for a while: their global functions are replaced by ones that note who called. */

export interface Watch {
  /** What was called, and where, in order of first call: `Math.random in session "a"`. */
  calls(): string[];
  stop(): void;
}

/** @param where tells which part of the program is running when a suspect is called */
export function watchSuspects(where: () => string): Watch {
  const noted = new Set<string>();
  const restore: (() => void)[] = [];
  const replace = (owner: object, name: string, label: string): void => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    const original = descriptor?.value as ((...args: unknown[]) => unknown) | undefined;
    if (descriptor === undefined || typeof original !== 'function' || !(descriptor.configurable ?? false)) return;
    const watched = function (this: unknown, ...args: unknown[]): unknown {
      if (isCalledByProgram()) noted.add(`${label} ${where()}`);
      return Reflect.apply(original, this, args);
    };
    Object.defineProperty(owner, name, { ...descriptor, value: watched });
    restore.push(() => Object.defineProperty(owner, name, descriptor));
  };
  for (const [owner, name, label] of suspects) replace(owner, name, label);
  restore.push(replaceDate((label) => noted.add(`${label} ${where()}`)));
  return {
    calls: () => [...noted],
    stop: () => {
      for (const undo of restore.toReversed()) undo();
    },
  };
}

const suspects: readonly (readonly [object, string, string])[] = [
  [Math, 'random', 'Math.random'],
  [performance, 'now', 'performance.now'],
  [Object.getPrototypeOf(performance) as object, 'now', 'performance.now'],
  [crypto, 'randomUUID', 'crypto.randomUUID'],
  [Object.getPrototypeOf(crypto) as object, 'randomUUID', 'crypto.randomUUID'],
  [Object.getPrototypeOf(crypto) as object, 'getRandomValues', 'crypto.getRandomValues'],
  [globalThis, 'setTimeout', 'setTimeout'],
  [globalThis, 'setInterval', 'setInterval'],
  [globalThis, 'setImmediate', 'setImmediate'],
  [globalThis, 'fetch', 'fetch'],
];

/** The scheduler uses timers and the clock too: its own calls come from program/run and base/clock. */
function isCalledByProgram(): boolean {
  const caller = (new Error().stack ?? '').split('\n')[3] ?? '';
  return !/[\\/](?:program[\\/]run|base[\\/]clock)\.[jt]s/.test(caller);
}

/** `Date.now()` and `new Date()`; a date made from given parts is no suspect. */
function replaceDate(note: (label: string) => void): () => void {
  const Original = globalThis.Date;
  const Watched = new Proxy(Original, {
    construct(target, args, newTarget) {
      if (args.length === 0) note('new Date()');
      return Reflect.construct(target, args, newTarget) as object;
    },
    get(target, name, receiver) {
      if (name === 'now') note('Date.now');
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  globalThis.Date = Watched;
  return () => {
    globalThis.Date = Original;
  };
}
