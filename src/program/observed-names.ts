/** Which names an invariant asks of the objects that it is given. What every object is asked (by `await`, JSON, `expect`) is left out. */
import { InputError } from '../base/index.ts';

/**
 * @param onMissing called with each name that is asked for and that `object` does not have
 * @param onListed called where the names are listed, as for a copy: what a copy is asked is not seen
 */
export function namesAsked<T extends object>(object: T, onMissing: (name: string) => void, onListed: () => void): T {
  const note = (target: T, name: string | symbol): void => {
    if (typeof name === 'string' && !(name in target) && !isAskedOfAll(name)) onMissing(name);
  };
  return new Proxy(object, {
    get(target, name) {
      note(target, name);
      return Reflect.get(target, name) as unknown;
    },
    has(target, name) {
      note(target, name);
      return Reflect.has(target, name);
    },
    getOwnPropertyDescriptor(target, name) {
      note(target, name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      onListed();
      return Reflect.ownKeys(target);
    },
  });
}

/**
 * Results by session, where the value of another name is refused: it is `undefined` in every run.
 * @throws InputError from its properties: `program/session-name`
 */
export function resultsOf<T extends object>(results: T, sessionNames: readonly string[]): T {
  return new Proxy(results, {
    get(target, name) {
      if (typeof name === 'symbol' || name in target || sessionNames.includes(name) || isAskedOfAll(name))
        return Reflect.get(target, name) as unknown;
      throw new InputError(NO_SESSION, noSessionText(name, sessionNames));
    },
  });
}

/** Is it what `resultsOf` refuses? No violation: the invariant is at fault. */
export function isSessionNameFault(error: unknown): boolean {
  return error instanceof InputError && error.code === NO_SESSION;
}

/** `structuredClone` takes no observed object: an invariant that asks for it is called again, not observed. */
export function observed<T>(invariant: (isObserved: boolean) => T | Promise<T>): T | Promise<T> {
  const again = (error: unknown): T | Promise<T> => {
    if (error instanceof DOMException && error.name === 'DataCloneError') return invariant(false);
    throw error;
  };
  try {
    const returned = invariant(true);
    return returned instanceof Promise ? returned.catch(again) : returned;
  } catch (error) {
    return again(error);
  }
}

const NO_SESSION = 'program/session-name';

function noSessionText(name: string, sessionNames: readonly string[]): string {
  const names = sessionNames.map((each) => `"${each}"`).join(', ');
  return `the invariant looks at the result of session "${name}"; the sessions are ${names}`;
}

/** By `await`, JSON, and the matchers and printers of test frameworks, which look for marks of their own (`$$typeof`, `@@__IMMUTABLE_MAP__@@`). */
export function isAskedOfAll(name: string): boolean {
  return askedOfAll.has(name) || name.startsWith('$$') || name.startsWith('@@');
}

const askedOfAll = new Set([
  'then',
  'toJSON',
  'length',
  'asymmetricMatch',
  'nodeType',
  'tagName',
  'inspect',
  '_isMockFunction',
]);
