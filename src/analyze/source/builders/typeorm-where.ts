/** Conditions of TypeORM: objects with find operators, and text with `:parameters`. */
import { type Abstract, constant, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { comparison, entriesOf, givenEntries, inList } from './clauses.ts';
import { column, type Entity, type EntityContext } from './entity.ts';
import { notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { anyCondition, eitherCondition } from './open-conditions.ts';
import { dialects } from './dialect.ts';
import { group } from './query.ts';
import { hasKey, propertyColumn, relatedCondition, relationsOf } from './typeorm-relations.ts';
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
  if (where.kind === 'choice') return eitherCondition(where, (side) => whereFragment(context, side), true);
  if (where.kind === 'value') {
    const { entity } = context;
    return anyCondition(
      where,
      [...entity.fields.keys()].map((name) => [name, column(entity, name)]),
    );
  }
  if (where.kind !== 'object') return notRead(`the conditions of \`where\` are ${whyNotConstant(where)}`);
  const parts = givenEntries(where).map(([name, value]) => propertyCondition(context, name, value));
  return group([...parts, whereFragment(context, where.rest ?? undefined)], 'AND');
}

function propertyCondition(context: EntityContext, name: string, value: Abstract): Fragment {
  const { entity, machine } = context;
  const relation = relationsOf(machine, entity).get(name);
  if (!entity.fields.has(name) && relation === undefined) return notRead(`${name} is no column of ${entity.table}`);
  const own = propertyColumn(machine, entity, name);
  const entries = value.kind === 'object' && value.of === null ? entriesOf(value) : null;
  if (entries === null) return tested(context, own, value);
  // `{ owner: { id: 3 } }` is the foreign key.
  const [only, ...others] = entries;
  if (only === undefined) return [];
  const isKey = others.length === 0 && only[0] === 'id' && (relation === undefined || hasKey(relation));
  if (isKey) return tested(context, own, only[1]);
  return relation === undefined
    ? tested(context, own, value)
    : relatedCondition(context, relation, (inner) => whereFragment(inner, value));
}

/** The row's key, a list of keys, or conditions: what `update`, `delete` and `increment` take. */
export function criteria(context: EntityContext, value: Abstract | undefined): Fragment {
  if (value?.kind === 'object') return whereFragment(context, value);
  const [key = 'id'] = context.entity.keys;
  if (value?.kind === 'array') return inList(context.machine, column(context.entity, key), value, false);
  return comparison(column(context.entity, key), '=', value ?? constant(null));
}

/** `p.id = :id AND p.n IN (:...list)`: properties of an alias are columns. */
export function textCondition(
  machine: Machine,
  aliases: ReadonlyMap<string, Entity>,
  given: string,
  parameters: ReadonlyMap<string, Abstract>,
): Fragment {
  const text = withLists(machine, given, parameters);
  const names = [...aliases.keys()].map((name) => name.replaceAll(/\W/g, '\\$&')).join('|');
  const pattern = new RegExp(`((?<![\\w.])(?:${names})\\.\\w+|(?<!:):(?:\\.\\.\\.)?[A-Za-z_]\\w*)`);
  return text.split(pattern).flatMap((piece): Fragment => {
    const [, list, name] = /^:(\.\.\.)?(\w+)$/.exec(piece) ?? [];
    if (name === undefined) {
      const [alias = '', property, ...others] = piece.split('.');
      const entity = aliases.get(alias);
      return entity === undefined || property === undefined || others.length > 0
        ? [piece]
        : propertyColumn(machine, entity, property);
    }
    const value = parameters.get(name);
    if (value === undefined) return notRead(`the value of :${name} is not given with its condition`);
    if (list === undefined) return operand(value);
    if (value.kind !== 'array') return notRead(`the list :...${name} is ${whyNotConstant(value)}`);
    return value.elements.value.flatMap((one, index) => (index === 0 ? operand(one) : [', ', ...operand(one)]));
  });
}

/** `IN (:...ids)` of a list that is one value. */
function withLists(machine: Machine, text: string, parameters: ReadonlyMap<string, Abstract>): string {
  const { inList: within, notInList } = dialects[machine.dialect];
  return text.replaceAll(
    /\s*\b(not\s+)?in\s*\(\s*:\.\.\.(\w+)\s*\)/gi,
    (whole, not: string | undefined, name: string) => {
      const list = parameters.get(name);
      if (list === undefined || list.kind === 'array') return whole;
      const [before, after] = not === undefined ? within : notInList;
      return `${before}:${name}${after}`;
    },
  );
}
