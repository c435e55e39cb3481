/** Parts of a statement that a builder puts together: text, bound values, columns, and what the reader could not turn into text. */
import type { Dialect } from '../../application.ts';
import type { Abstract, Fragment, Part, ColumnPart } from '../abstract-value.ts';
import { constantOf, valueOf } from '../value-arithmetic.ts';
import { dialects } from './dialect.ts';
import { identifier } from './identifier.ts';

export function notRead(reason: string): Fragment {
  return [{ kind: 'not-read', reason }];
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  return fragments.flatMap((fragment, index) => (index === 0 ? fragment : [separator, ...fragment]));
}

export function parenthesized(fragment: Fragment): Fragment {
  return ['(', ...fragment, ')'];
}

/** What an abstract value is inside a statement: its own text, or a bound value. */
export function operand(value: Abstract): Fragment {
  return value.kind === 'native' && value.sql !== undefined ? value.sql() : [value];
}

/** Columns of the statement's own table without their table, where it is the only one. */
export function withColumns(fragment: Fragment, ownTable: string | null, dialect: Dialect): Fragment {
  const columns = fragment.flatMap((part) => (isColumn(part) ? [part] : []));
  const isOnlyTable = columns.every(({ table }) => table === ownTable);
  return fragment.map((part) => {
    if (!isColumn(part)) return part;
    const name = identifier(part.name, dialect);
    return isOnlyTable ? name : `${identifier(part.table, dialect)}.${name}`;
  });
}

function isColumn(part: Part): part is ColumnPart {
  return typeof part !== 'string' && part.kind === 'column-part';
}

export interface Flat {
  readonly text: string;
  readonly parameters: readonly Abstract[];
  /** Of what was not read. */
  readonly reasons: readonly string[];
}

/** The text with `$1`, `$2`, ... or `?`. */
export function flat(fragment: Fragment, dialect: Dialect): Flat {
  const parameters: Abstract[] = [];
  const reasons: string[] = [];
  const text = withColumns(fragment, null, dialect).map((part): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'not-read') reasons.push(part.reason);
    else if (part.kind !== 'column-part') parameters.push(part);
    return dialects[dialect].placeholder(parameters.length);
  });
  return { text: text.join(''), parameters, reasons };
}

/** The text that a builder needs as a constant: a name of a table or column. */
export function constantText(value: Abstract | undefined): string | undefined {
  const text = constantOf(value);
  return typeof text === 'string' ? text : undefined;
}

export function whyNotConstant(value: Abstract | undefined): string {
  if (value === undefined) return 'nothing';
  const known = valueOf(value);
  if (known.kind === 'argument') return `an argument: ${known.name}`;
  return known.kind === 'unknown' ? `not constant: ${known.reason}` : 'computed';
}
