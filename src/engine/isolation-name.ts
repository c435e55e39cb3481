/** SQL's names of isolation levels, as engines take them. */
import { InputError } from '../base/index.ts';
import type { IsolationName } from '../sql/index.ts';

export const isolationNames: readonly IsolationName[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'serializable',
];

/** @throws InputError `option/isolation` */
export function isolationNamed(text: string): IsolationName {
  const name = text
    .trim()
    .toLowerCase()
    .replaceAll(/[-\s]+/g, ' ');
  if ((isolationNames as readonly string[]).includes(name)) return name as IsolationName;
  throw new InputError('option/isolation', `"${text}" is none of the levels ${isolationNames.join(', ')}`);
}
