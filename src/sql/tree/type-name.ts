/** Names of types and casts, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type { Node } from '@pgsql/types';
import { integerNode, stringNode } from './constant.ts';
import { nameNodes } from './expression.ts';
import type { MysqlType, MysqlTypeName } from './mysql.ts';

/** Types of PostgreSQL that MySQL's are. */
type SharedType =
  | 'char'
  | 'date'
  | 'float4'
  | 'float8'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'interval'
  | 'jsonb'
  | 'numeric'
  | 'text'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'varchar';

/** A type with its modifiers: lengths, digits, the labels of an enum. */
export interface NamedType {
  readonly name: SharedType | { readonly own: MysqlTypeName };
  readonly modifiers: readonly (number | string)[];
}

export function namedType(name: SharedType, ...modifiers: readonly number[]): NamedType {
  return { name, modifiers };
}

/** A type that PostgreSQL lacks. */
export function ownType(own: MysqlTypeName, ...modifiers: readonly (number | string)[]): NamedType {
  return { name: { own }, modifiers };
}

/** Types that are words of the grammar, and what they are called in the catalog. */
const grammarTypes: ReadonlyMap<string, string> = new Map([
  ['char', 'bpchar'],
  ...['interval', 'numeric', 'time', 'timestamp', 'varchar'].map((name) => [name, name] as const),
]);

export function typeName({ name, modifiers }: NamedType, at: number): MysqlType {
  const typmods = modifiers.map((each) => (typeof each === 'number' ? integerNode(each, at) : stringNode(each, at)));
  return {
    ...(typeof name === 'string' ? { names: sharedNames(name) } : { names: nameNodes([name.own]), own: name.own }),
    ...(typmods.length === 0 ? {} : { typmods }),
    typemod: -1,
    location: at,
  };
}

function sharedNames(name: SharedType): Node[] {
  const known = grammarTypes.get(name);
  return nameNodes(known === undefined ? [name] : ['pg_catalog', known]);
}

export function typeCast(arg: Node, type: NamedType, at: number): Node {
  return { TypeCast: { arg, typeName: typeName(type, at), location: at } };
}

/** `INTERVAL '1 day'`. */
export function intervalNode(text: string, at: number): Node {
  return typeCast(stringNode(text, at), namedType('interval'), at);
}
