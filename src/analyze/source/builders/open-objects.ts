/** Objects of which the source does not say the fields: what a caller passes, what a library outside the sources gives. */
import type { Value } from '../../application.ts';
import { type Abstract, plain, unknown } from '../abstract-value.ts';
import { request } from '../request-name.ts';
import { valueOf } from '../value-arithmetic.ts';
import { entriesOf, givenEntries } from './clauses.ts';

/**
 * The properties of an object that is written to a row. Where they are not known, all `fields` of the row have a value: that writes at least what
 * the program writes. `null`: a list, or no object.
 */
export function writtenEntries(
  value: Abstract | undefined,
  fields: Iterable<string>,
): readonly (readonly [string, Abstract])[] | null {
  const entries = entriesOf(value);
  if (entries !== null || value === undefined) return entries;
  const open = openPart(value);
  if (open === null) return null;
  const written = new Map<string, Abstract>([...fields].map((name) => [name, fieldOf(open, name)]));
  for (const [name, one] of value.kind === 'object' ? givenEntries(value) : []) written.set(name, one);
  for (const name of alternatives(value)) if (!written.has(name)) written.set(name, plain(open));
  return [...written];
}

/** The names that any of the objects has that a value may be. */
function alternatives(value: Abstract | null): readonly string[] {
  if (value?.kind === 'choice') return [...alternatives(value.ifTrue), ...alternatives(value.ifFalse)];
  return value?.kind === 'object' ? [...givenEntries(value).map(([name]) => name), ...alternatives(value.rest)] : [];
}

/** Where the fields come from that are not known. */
export function openPart(value: Abstract): Value | null {
  switch (value.kind) {
    case 'object':
      return value.rest === null ? null : openPart(value.rest);
    case 'choice':
      return [value.ifTrue, value.ifFalse].some((side) => side.kind === 'object' || openPart(side) !== null)
        ? anyOf('several objects')
        : null;
    case 'value': {
      const { value: known } = value;
      if (known.kind === 'unknown') return /\b(?:list|loop)\b/.test(known.reason) ? null : known;
      return known.kind === 'argument' || known.kind === 'element' || isObject(known) ? known : null;
    }
    case 'external':
      // What a function of a library makes: `humps.decamelizeKeys(row)`.
      return value.path.includes('()') ? valueOf(value) : null;
    default:
      return null;
  }
}

function isObject(value: Value): boolean {
  return value.kind === 'expression' && (value.operator === 'object' || value.operator === 'if');
}

function anyOf(what: string): Value {
  return { kind: 'unknown', reason: `a field of ${what}` };
}

export function fieldOf(open: Value, name: string): Abstract {
  // The whole request: its own name is left out.
  if (open.kind === 'argument')
    return plain({ kind: 'argument', name: open.name === request ? name : `${open.name}.${name}` });
  if (open.kind === 'element' && open.field === null) return plain({ ...open, field: name });
  return open.kind === 'unknown' ? unknown(open.reason) : plain(anyOf('an object'));
}
