/** Conditions of TypeORM: objects with find operators, and text with `:parameters`. */
import { type Abstract, constant, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import { comparison, entriesOf, inList } from './clauses.ts';
import { column, type Entity, type EntityContext } from './entity.ts';
import { notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { group } from './query.ts';
import { ownEntry } from './own-entry.ts';

type Operator = (context: EntityContext, name: Fragment) => Fragment;

const operators = new WeakMap<Abstract, Operator>();

const signs: Readonly<Record<string, string>> = {
  Equal: '=',
  MoreThan: '>',
  MoreThanOrEqual: '>=',
  LessThan: '<',
  LessThanOrEqual: '<=',
  Like: 'LIKE',
  ILike: 'ILIKE',
};

/** `MoreThan(3)`, `In([1, 2])`, `Not(IsNull())`; `undefined` where there is none of the name. */
export function findOperator(name: string): Native | undefined {
  const sign = ownEntry(signs, name);
  const make = (args: readonly Abstract[]): Operator | undefined => {
    const [first = undefinedValue, second = undefinedValue] = args;
    if (sign !== undefined) return (_, field) => comparison(field, sign, first);
    switch (name) {
      case 'In':
        return ({ machine }, field) => inList(machine, field, first, false);
      case 'IsNull':
        return (_, field) => [...field, ' IS NULL'];
      case 'Between':
        return (_, field) => [...field, ' BETWEEN ', ...operand(first), ' AND ', ...operand(second)];
      case 'Not':
        return (context, field) =>
          operators.has(first)
            ? ['NOT ', ...parenthesized(tested(context, field, first))]
            : comparison(field, '!=', first);
      case 'Raw':
      case 'Any':
      case 'ArrayContains':
        return () => notRead(`\`${name}\` of TypeORM is not read`);
      default:
        return undefined;
    }
  };
  if (make([]) === undefined) return undefined;
  return native(name, (args) => {
    const value: Native = { kind: 'native', title: name, isHandle: false };
    const operator = make(args);
    if (operator !== undefined) operators.set(value, operator);
    return value;
  });
}

function tested(context: EntityContext, field: Fragment, value: Abstract): Fragment {
  return operators.get(value)?.(context, field) ?? comparison(field, '=', value);
}

/** An object; a list of objects is OR. */
export function whereFragment(context: EntityContext, where: Abstract | undefined): Fragment {
  if (where === undefined || where.kind === 'undefined') return [];
  if (where.kind === 'array')
    return group(
      where.elements.value.map((one) => whereFragment(context, one)),
      'OR',
    );
  const entries = entriesOf(where);
  if (entries === null) return notRead(`the conditions of \`where\` are ${whyNotConstant(where)}`);
  const parts = entries.map(([name, value]): Fragment => {
    const field = context.entity.fields.get(name);
    if (field === undefined)
      return notRead(`${name} is no column of ${context.entity.table}: a condition on a relation is not read`);
    // `{ owner: { id: 3 } }` is the foreign key.
    const [only, ...others] = value.kind === 'object' ? (entriesOf(value) ?? []) : [];
    const key = only !== undefined && others.length === 0 && only[0] === 'id' ? only[1] : value;
    return tested(context, column(context.entity, name), key);
  });
  return group(parts, 'AND');
}

/** The row's key, a list of keys, or conditions: what `update`, `delete` and `increment` take. */
export function criteria(context: EntityContext, value: Abstract | undefined): Fragment {
  if (value?.kind === 'object') return whereFragment(context, value);
  const [key = 'id'] = context.entity.keys;
  if (value?.kind === 'array') return inList(context.machine, column(context.entity, key), value, false);
  return comparison(column(context.entity, key), '=', value ?? constant(null));
}

/** `p.id = :id AND p.n IN (:...list)`: properties of the alias are columns. */
export function textCondition(
  entity: Entity,
  alias: string,
  text: string,
  parameters: ReadonlyMap<string, Abstract>,
): Fragment {
  const pattern = new RegExp(`((?<![\\w.])${alias}\\.\\w+|(?<!:):(?:\\.\\.\\.)?[A-Za-z_]\\w*)`);
  return text.split(pattern).flatMap((piece): Fragment => {
    const [, list, name] = /^:(\.\.\.)?(\w+)$/.exec(piece) ?? [];
    if (name === undefined)
      return piece.startsWith(`${alias}.`) ? column(entity, piece.slice(alias.length + 1)) : [piece];
    const value = parameters.get(name);
    if (value === undefined) return notRead(`the value of :${name} is not given with its condition`);
    if (list === undefined) return operand(value);
    if (value.kind !== 'array') return notRead(`the list :...${name} is ${whyNotConstant(value)}`);
    return value.elements.value.flatMap((one, index) => (index === 0 ? operand(one) : [', ', ...operand(one)]));
  });
}
