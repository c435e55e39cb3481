/** Named finite sets: the resource managers, the ballots, the transactions of a protocol. Members are the numbers 0 .. size - 1. */
import { InputError } from '../base/index.ts';

/** A member of a `NamedSet`, as a number that counts from 0. */
export type Member = number;
/** A set of members as a bit mask: plain data, compared with `===`. */
export type Members = number;

/** A set of processes or values, with names for traces. */
export interface NamedSet {
  readonly name: string;
  readonly size: number;
  /** How traces call the members. */
  readonly names: readonly string[];
  readonly members: readonly Member[];
  readonly all: Members;
}

const sizeMax = 30;

/** `namedSet('t', 3)` has the members t1, t2 and t3; `namedSet('vote', ['yes', 'no'])` has these two. */
export function namedSet(name: string, members: number | readonly string[]): NamedSet {
  const names =
    typeof members === 'number' ? Array.from({ length: members }, (_, i) => `${name}${i + 1}`) : [...members];
  if (names.length < 1 || names.length > sizeMax || !Number.isInteger(names.length)) {
    throw new InputError(
      'protocol/set',
      `set ${name} has ${String(members)} members; from 1 to ${sizeMax} are possible`,
    );
  }
  return {
    name,
    size: names.length,
    names,
    members: names.map((_, i) => i),
    all: 2 ** names.length - 1,
  };
}

/** Is the member among them? */
export const has = (members: Members, member: Member): boolean => ((members >>> member) & 1) === 1;
/** With the member. Sets are values: the old one stays. */
export const plus = (members: Members, member: Member): Members => members | (1 << member);
/** Without the others. */
export const minus = (members: Members, others: Members): Members => members & ~others;

/** How many members there are. */
export function sizeOf(members: Members): number {
  let count = 0;
  for (let left = members; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** The members, ascending. */
export function membersOf(members: Members): Member[] {
  const list: Member[] = [];
  for (let left = members; left !== 0; left &= left - 1) list.push(31 - Math.clz32(left & -left));
  return list;
}
