/** Names of types and casts, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type { Node, TypeName } from '@pgsql/types';
import { integerNode, stringNode } from './constant.ts';
import { nameNodes } from './expression.ts';

/** A type with its modifiers: lengths, digits, the labels of an enum. */
export interface NamedType {
  readonly name: string;
  readonly modifiers: readonly (number | string)[];
}

export function namedType(name: string, ...modifiers: readonly (number | string)[]): NamedType {
  return { name, modifiers };
}

/** Types that are words of the grammar, and what they are called in the catalog. */
const grammarTypes: ReadonlyMap<string, string> = new Map([
  ['char', 'bpchar'],
  ...['interval', 'numeric', 'time', 'timestamp', 'varchar'].map((name) => [name, name] as const),
]);

export function typeName({ name, modifiers }: NamedType, at: number): TypeName {
  const own = grammarTypes.get(name);
  const typmods = modifiers.map((each) => (typeof each === 'number' ? integerNode(each, at) : stringNode(each, at)));
  return {
    names: nameNodes(own === undefined ? [name] : ['pg_catalog', own]),
    ...(typmods.length === 0 ? {} : { typmods }),
    typemod: -1,
    location: at,
  };
}

export function typeCast(arg: Node, type: NamedType, at: number): Node {
  return { TypeCast: { arg, typeName: typeName(type, at), location: at } };
}

/** `INTERVAL '1 day'`. */
export function intervalNode(text: string, at: number): Node {
  return typeCast(stringNode(text, at), namedType('interval'), at);
}
