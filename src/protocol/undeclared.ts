/**
 * Prototypes that refuse what is not part of a protocol. A variable that is spelled wrong, or a `shared` that the protocol does not list, would be kept outside of
 * the state: the search would not see it change.
 */
import { InputError } from '../base/index.ts';

/** Behind all variables of an object: what reaches it is none. Names that every object has are no variables. */
export function withoutOthers(owner: string, names: readonly string[]): object {
  const refuse = (name: string): never => {
    throw new InputError('protocol/variable', `${owner} has no variable ${name}; variables: ${names.join(', ')}`);
  };
  return refusing(Object.prototype, refuse);
}

/** Until the protocol binds it. */
export function undeclared(owner: string, list: 'processes' | 'shared', prototype: object): object {
  return refusing(prototype, () => {
    throw new InputError('protocol/undeclared', `${owner} is not among the ${list} that define returns`);
  });
}

function refusing(prototype: object, refuse: (name: string) => never): object {
  const isOthers = (key: string | symbol): key is symbol =>
    typeof key === 'symbol' || key === 'then' || key === 'toJSON' || key === 'constructor';
  return new Proxy(prototype, {
    get: (target, key, receiver): unknown => {
      if (isOthers(key) && key !== Symbol.iterator) return Reflect.get(target, key, receiver);
      return prototype === Object.prototype && key in prototype
        ? Reflect.get(target, key, receiver)
        : refuse(String(key));
    },
    set: (_target, key) => refuse(String(key)),
  });
}
