/** One statement for several that a builder makes on different paths, or in the passes of a loop: they differ in their conditions only. */
import type { Value } from '../../application.ts';
import { type Fragment, type Part, unknown } from '../abstract-value.ts';
import { same } from '../conditions.ts';
import type { Machine } from '../machine.ts';
import { anyCondition, eitherFragment } from './open-conditions.ts';
import { allConditions, type Condition, type Query, withCondition } from './query.ts';
import { columnFragments } from './table-fields.ts';

/** Both conditions, each with the value that decides; `undefined` where more than conditions differs. */
export function mergedQuery(condition: Value, a: Query, b: Query): Query | undefined {
  if (!isAlikeElse(a, b)) return undefined;
  const common = commonLength(a.where, b.where);
  const [restA, restB] = [a.where.slice(common), b.where.slice(common)];
  // Of OR, each side is one condition.
  const isAdded = [...restA, ...restB].every(({ connective }) => connective === 'AND');
  const before = isAdded ? a.where.slice(0, common) : [];
  const behind = isAdded ? commonLength(restA.toReversed(), restB.toReversed()) : 0;
  const [ofA, ofB] = isAdded ? [restA, restB] : [a.where, b.where];
  const own = (rest: readonly Condition[]): Fragment => allConditions(rest.slice(0, rest.length - behind));
  const either = eitherFragment(condition, own(ofA), own(ofB), true);
  const merged = withCondition({ ...a, where: before }, either);
  return { ...merged, where: [...merged.where, ...restA.slice(restA.length - behind)] };
}

/** How many conditions from the first on are the same. */
function commonLength(a: readonly Condition[], b: readonly Condition[]): number {
  const first = a.findIndex((one, index) => !isAlikeCondition(one, b[index]));
  return first < 0 ? a.length : first;
}

/** Conditions that a loop adds may test any column of the table; `undefined` where it adds more, or the schema does not say the columns. */
export function queryOfPasses(machine: Machine, before: Query, after: Query): Query | undefined {
  const isPrefix = before.where.every((one, index) => isAlikeCondition(one, after.where[index]));
  const added = after.where.slice(before.where.length);
  if (!isPrefix || !isAlikeElse(before, after)) return undefined;
  const [first] = added;
  if (first === undefined) return before;
  // Without a condition before it, the first OR would be the only one.
  if (first.connective === 'OR' && before.where.length === 0) return undefined;
  if (added.some(({ connective }) => connective !== first.connective)) return undefined;
  const columns = columnFragments(machine, before.tables);
  if (columns.length === 0) return undefined;
  return withCondition(before, anyCondition(unknown('a condition that a loop adds'), columns), first.connective);
}

/** But for the conditions. */
function isAlikeElse(a: Query, b: Query): boolean {
  const names = Object.keys(a) as readonly (keyof Query)[];
  return names.every((name) => name === 'where' || isAlike(a[name], b[name]));
}

function isAlikeCondition(a: Condition, b: Condition | undefined): boolean {
  return a.connective === b?.connective && isAlike(a.fragment, b.fragment);
}

/** What two paths share is the same object, or has the same text and bound values. */
function isAlike(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isAlike(one, b[index]));
  const [left, right] = [partOf(a), partOf(b)];
  if (left === undefined || right === undefined) return false;
  switch (left.kind) {
    case 'value':
      return right.kind === 'value' && isSameValue(left.value, right.value);
    case 'column-part':
      return right.kind === 'column-part' && left.table === right.table && left.name === right.name;
    case 'not-read':
      return right.kind === 'not-read' && left.reason === right.reason;
    default:
      return false;
  }
}

/** What is not known is the same where it is the same object. */
function isSameValue(a: Value, b: Value): boolean {
  if (same(a, b)) return true;
  if (a.kind !== 'expression' || b.kind !== 'expression' || a.operator !== b.operator) return false;
  return (
    a.operands.length === b.operands.length && a.operands.every((one, index) => isSameOperand(one, b.operands[index]))
  );
}

function isSameOperand(a: Value, b: Value | undefined): boolean {
  return b !== undefined && isSameValue(a, b);
}

function partOf(value: unknown): Exclude<Part, string> | undefined {
  // Lists and parts are all that the fields of a statement hold, beside text.
  return typeof value === 'object' && value !== null && 'kind' in value ? (value as Exclude<Part, string>) : undefined;
}
