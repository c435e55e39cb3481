/** `where` of Sequelize, and SQL in its options: `literal`, `fn`, `col`. */
import { type Abstract, native, type Native, type Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { constantOf, isNothing } from '../value-arithmetic.ts';
import { comparisonSigns, comparison, entriesOf, givenEntries, inList, optionsOf, undefinedIn } from './clauses.ts';
import { column, type EntityContext } from './entity.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier, qualifiedName } from './identifier.ts';
import { anyCondition, eitherCondition } from './open-conditions.ts';
import { openPart } from './open-objects.ts';
import { group } from './query.ts';
import { ownEntry } from './own-entry.ts';

/** `Op.gte` as the name of a property. */
const mark = '#op:';

export const operators: Native = {
  kind: 'native',
  title: 'Op',
  isHandle: false,
  member: (name) => ({ kind: 'value', value: { kind: 'constant', value: mark + name } }),
};

export function whereFragment(context: EntityContext, where: Abstract | undefined): Fragment {
  if (where === undefined || where.kind === 'undefined') return [];
  if (where.kind === 'native' && where.sql !== undefined) return where.sql();
  if (where.kind === 'array')
    return group(
      where.elements.value.map((one) => whereFragment(context, one)),
      'AND',
    );
  const open = openWhere(context, where);
  if (open !== undefined) return open;
  const entries = entriesOf(where);
  const refused = where.kind === 'object' ? undefinedIn(where) : undefined;
  if (refused !== undefined) return notRead(`${refused} of \`where\` is undefined, which Sequelize refuses`);
  if (entries === null) return notRead(`the conditions of \`where\` are ${whyNotConstant(where)}`);
  return group(
    entries.map(([name, value]) => condition(context, name, value)),
    'AND',
  );
}

/** Conditions that the source does not say: any column may decide. */
function openWhere(context: EntityContext, where: Abstract): Fragment | undefined {
  if (where.kind === 'choice') return eitherCondition(where, (side) => whereFragment(context, side), true);
  const open = where.kind === 'object' && where.rest !== null && !isNothing(where.rest) ? where.rest : where;
  if (openPart(open) === null || open.kind !== 'value') return undefined;
  const columns = [...context.entity.fields.keys()].map((name) => [name, column(context.entity, name)] as const);
  const given = where.kind === 'object' ? givenEntries(where) : [];
  const known = given.map(([name, value]) => condition(context, name, value));
  return group([anyCondition(open, columns), ...known], 'AND');
}

function condition(context: EntityContext, name: string, value: Abstract): Fragment {
  const connective = /^#op:(and|or|not)$/.exec(name)?.[1];
  if (connective === 'not') return ['NOT ', ...parenthesized(whereFragment(context, value))];
  if (connective !== undefined) {
    const parts =
      value.kind === 'array'
        ? value.elements.value.map((one) => whereFragment(context, one))
        : (entriesOf(value) ?? []).map(([field, one]) => condition(context, field, one));
    return group(parts, connective === 'or' ? 'OR' : 'AND');
  }
  const joined = /^\$(.+)\.([^.]+)\$$/.exec(name);
  if (joined !== null) {
    const [, path = '', field = ''] = joined;
    const part: Fragment = [{ kind: 'column-part', table: path.replaceAll('.', '->'), name: field }];
    return fieldCondition(context, part, value);
  }
  if (!context.entity.fields.has(name)) return notRead(`${name} is no attribute of ${context.entity.table}`);
  return fieldCondition(context, column(context.entity, name), value);
}

const signs: Readonly<Record<string, string>> = { ...comparisonSigns, is: 'IS', iLike: 'ILIKE' };

function fieldCondition(context: EntityContext, name: Fragment, value: Abstract): Fragment {
  if (value.kind === 'array') return inList(context.machine, name, value, false);
  const entries = entriesOf(value);
  if (entries === null || !entries.some(([key]) => key.startsWith(mark))) return comparison(name, '=', value);
  const parts = entries.map(([key, operandValue]): Fragment => {
    const operator = key.slice(mark.length);
    const sign = signs[operator];
    if (sign !== undefined) return comparison(name, sign, operandValue);
    switch (operator) {
      case 'in':
      case 'notIn':
        return inList(context.machine, name, operandValue, operator === 'notIn');
      case 'not':
        return comparison(name, '<>', operandValue);
      case 'between': {
        const [from, to] = operandValue.kind === 'array' ? operandValue.elements.value : [];
        return from === undefined || to === undefined
          ? notRead('the range of BETWEEN is not read')
          : [...name, ' BETWEEN ', ...operand(from), ' AND ', ...operand(to)];
      }
      case 'or':
      case 'and': {
        const list = operandValue.kind === 'array' ? operandValue.elements.value : [operandValue];
        const tests = list.map((one) => fieldCondition(context, name, one));
        return group(tests, operator === 'or' ? 'OR' : 'AND');
      }
      default:
        return notRead(`\`Op.${operator}\` is not read`);
    }
  });
  return group(parts, 'AND');
}

/** `literal('n + 1')`, `fn('SUM', col('n'))` */
export function sqlFunction(machine: Machine, name: string): Native | undefined {
  const of: Readonly<Record<string, (args: readonly Abstract[]) => Fragment>> = {
    literal: ([text]) => {
      const known = constantText(text);
      return known === undefined ? notRead(`a part of the SQL text is ${whyNotConstant(text)}`) : [known];
    },
    col: ([text]) => [qualifiedName(constantText(text) ?? '?', machine.dialect)],
    fn: ([fn, ...args]) => [`${constantText(fn) ?? '?'}(`, ...join(args.map(operand), ', '), ')'],
  };
  const fragment = ownEntry(of, name);
  if (fragment === undefined) return undefined;
  return native(name, (args) => ({ kind: 'native', title: name, isHandle: false, sql: () => fragment(args) }));
}

/** Names, `[expression, alias]`, or `{ exclude: [...] }`. */
export function chosenColumns(
  context: EntityContext,
  attributes: Abstract | undefined,
  shown: (field: string) => Fragment,
): readonly Fragment[] {
  const { entity, machine } = context;
  const all = [...entity.fields.keys()];
  if (attributes === undefined || attributes.kind === 'undefined') return all.map(shown);
  const options = optionsOf(attributes);
  const excluded = options.get('exclude');
  if (excluded?.kind === 'array') {
    const names = new Set(excluded.elements.value.map((one) => constantOf(one)));
    return all.filter((name) => !names.has(name)).map(shown);
  }
  const added = options.get('include');
  if (added?.kind === 'array') return [...all.map(shown), ...chosenColumns(context, added, shown)];
  // Names that the source does not say are some of these.
  if (attributes.kind !== 'array')
    return openPart(attributes) !== null || attributes.kind === 'value'
      ? all.map(shown)
      : [notRead(`\`attributes\` are ${whyNotConstant(attributes)}`)];
  return attributes.elements.value.map((one): Fragment => {
    const name = constantText(one);
    if (name !== undefined) return shown(name);
    const [expression, alias] = one.kind === 'array' ? one.elements.value : [one];
    const text = constantText(expression);
    const sql: Fragment =
      text === undefined
        ? expression === undefined
          ? []
          : operand(expression)
        : [qualifiedName(text, machine.dialect)];
    return alias === undefined ? sql : [...sql, ` AS ${identifier(constantText(alias) ?? '?', machine.dialect)}`];
  });
}
