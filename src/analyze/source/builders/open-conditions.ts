/** Conditions of which the source says only a part: which one holds, or which columns they test. */
import type { Value } from '../../application.ts';
import { type Abstract, type Choice, constant, type Fragment, plain } from '../abstract-value.ts';
import { expression, isTrue } from '../conditions.ts';
import { join, parenthesized } from './fragment.ts';
import { fieldOf } from './open-objects.ts';

/**
 * The condition of the side that is taken: both are in the text, each with the value that decides.
 * @param isEmptyTrue Whether a side without conditions holds, as in AND, or not, as in OR.
 */
export function eitherCondition(
  { condition, ifTrue, ifFalse }: Choice,
  of: (side: Abstract) => Fragment,
  isEmptyTrue: boolean,
): Fragment {
  return eitherFragment(condition, of(ifTrue), of(ifFalse), isEmptyTrue);
}

/** The same of two conditions. */
export function eitherFragment(condition: Value, a: Fragment, b: Fragment, isEmptyTrue: boolean): Fragment {
  if (a.length + b.length === 0) return [];
  // A truth value, also of a text that is given or not.
  const decides = plain(expression('and', condition, isTrue));
  const side = (holds: Fragment, test: Fragment): readonly Fragment[] => {
    if (test.length === 0) return isEmptyTrue ? [holds] : [];
    return [parenthesized([...holds, ' AND ', ...parenthesized(test)])];
  };
  return parenthesized(join([...side([decides], a), ...side(['NOT ', decides], b)], ' OR '));
}

/**
 * Conditions that an argument or a library gives: any column of the table may decide whether a row is read.
 * @param columns By property
 */
export function anyCondition(value: Abstract, columns: readonly (readonly [string, Fragment])[]): Fragment {
  if (value.kind !== 'value' || value.value.kind === 'constant') return [];
  const { value: open } = value;
  const tests = columns.map(([name, column]): Fragment => [...column, ' = ', fieldOf(open, name)]);
  return tests.length === 0 ? [constant(true)] : parenthesized(join(tests, ' OR '));
}
