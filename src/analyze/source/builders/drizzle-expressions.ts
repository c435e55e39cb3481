/** Drizzle's operators, `sql` templates and selections. */
import type ts from 'typescript';
import { type Abstract, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { onEachPath } from './choices.ts';
import { comparisonSigns, entriesOf, inList } from './clauses.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { aliasOfTable, type DrizzleTable, tableOf } from './drizzle-tables.ts';
import { group } from './query.ts';
import { rawTemplate } from './raw-template.ts';
import { eitherCondition } from './open-conditions.ts';
import { ownEntry } from './own-entry.ts';

/** An expression: a condition, `sql`, an aggregate. */
export function sqlValue(machine: Machine, fragment: Fragment, calls: readonly ts.Node[] = []): Native {
  return {
    kind: 'native',
    title: 'SQL of Drizzle',
    isHandle: false,
    sql: () => {
      machine.reached.withoutStep(calls);
      return fragment;
    },
    member: (name) =>
      native(name, ([first]) => {
        if (name === 'as')
          return sqlValue(
            machine,
            [...fragment, ' AS ', identifier(constantText(first) ?? '?', machine.dialect)],
            calls,
          );
        return /^(?:mapWith|inlineParams|getSQL|\$dynamic)$/.test(name)
          ? sqlValue(machine, fragment, calls)
          : sqlValue(machine, notRead(`\`${name}\` of SQL of Drizzle is not read`), calls);
      }),
  };
}

const aggregates = /^(?:count|countDistinct|sum|sumDistinct|avg|avgDistinct|min|max)$/;

type Of = (machine: Machine, args: readonly Abstract[]) => Fragment;

const operators: Readonly<Record<string, Of>> = {
  and: (_, args) => group(args.map(conditionFragment), 'AND'),
  or: (_, args) => group(args.map(conditionFragment), 'OR'),
  not: (_, [first]) => ['NOT ', ...conditionFragment(first ?? undefinedValue)],
  isNull: (_, [first]) => [...operand(first ?? undefinedValue), ' IS NULL'],
  isNotNull: (_, [first]) => [...operand(first ?? undefinedValue), ' IS NOT NULL'],
  inArray: (machine, [column, list]) =>
    inList(machine, operand(column ?? undefinedValue), list ?? undefinedValue, false),
  notInArray: (machine, [column, list]) =>
    inList(machine, operand(column ?? undefinedValue), list ?? undefinedValue, true),
  exists: (_, [first]) => ['EXISTS ', ...operand(first ?? undefinedValue)],
  notExists: (_, [first]) => ['NOT EXISTS ', ...operand(first ?? undefinedValue)],
  between: (_, args) => between(args, ''),
  notBetween: (_, args) => between(args, 'NOT '),
  asc: (_, [first]) => [...operand(first ?? undefinedValue), ' ASC'],
  desc: (_, [first]) => [...operand(first ?? undefinedValue), ' DESC'],
};

function between([column, from, to]: readonly Abstract[], not: string): Fragment {
  const of = (value: Abstract | undefined): Fragment => operand(value ?? undefinedValue);
  return [...of(column), ` ${not}BETWEEN `, ...of(from), ' AND ', ...of(to)];
}

/** Nothing where it is `undefined`. */
export function conditionFragment(value: Abstract): Fragment {
  if (value.kind === 'undefined') return [];
  if (value.kind === 'native' && value.sql !== undefined) return value.sql();
  if (value.kind === 'choice') return eitherCondition(value, conditionFragment, true);
  return notRead(`a condition is ${whyNotConstant(value)}`);
}

/** `eq`, `and`, `count` and their like; `undefined` where there is none of the name. */
export function operatorNamed(machine: Machine, name: string): Native | undefined {
  const of = ownEntry(operators, name);
  const sign = ownEntry(comparisonSigns, name);
  const fragment: Of | undefined =
    of ??
    (sign === undefined
      ? aggregates.test(name)
        ? (_, args) => aggregate(name, args)
        : undefined
      : (_, [left, right]) => [...operand(left ?? undefinedValue), ` ${sign} `, ...operand(right ?? undefinedValue)]);
  if (fragment === undefined) return undefined;
  return native(name, (given) =>
    onEachPath(machine, given, (args) => {
      const made = fragment(machine, args);
      return made.length === 0 ? undefinedValue : sqlValue(machine, made);
    }),
  );
}

function aggregate(name: string, [value]: readonly Abstract[]): Fragment {
  const [, fn = name, distinct] = /^([a-z]+)(Distinct)?$/.exec(name) ?? [];
  const inner = value === undefined ? ['*'] : operand(value);
  return [`${fn}(${distinct === undefined ? '' : 'DISTINCT '}`, ...inner, ')'];
}

/** `` sql`...` ``, `sql.raw`, `sql.join`, `sql.identifier` */
export function drizzleSql(machine: Machine): Native {
  return {
    kind: 'native',
    title: 'sql of Drizzle',
    isHandle: false,
    tag: (texts, holes, at) =>
      onEachPath(machine, holes, (known) => sqlValue(machine, rawTemplate(texts, known.map(asList)), [at])),
    member: (name) => native(name, (args) => sqlValue(machine, helper(machine, name, args))),
  };

  /** A list in a template is a list of values in parentheses. */
  function asList(hole: Abstract): Abstract {
    return hole.kind === 'array'
      ? sqlValue(machine, parenthesized(join(hole.elements.value.map(operand), ', ')))
      : hole;
  }
}

function helper(machine: Machine, name: string, [first, second]: readonly Abstract[]): Fragment {
  const text = constantText(first);
  switch (name) {
    case 'raw':
      return text === undefined ? notRead(`a part of the SQL text is ${whyNotConstant(first)}`) : [text];
    case 'identifier':
      return text === undefined
        ? notRead(`a name in the SQL text is ${whyNotConstant(first)}`)
        : [identifier(text, machine.dialect)];
    case 'join': {
      if (first?.kind !== 'array') return notRead(`a list in the SQL text is ${whyNotConstant(first)}`);
      const separator = second === undefined ? [] : operand(second);
      return first.elements.value.flatMap((one, index) =>
        index === 0 ? operand(one) : [...separator, ...operand(one)],
      );
    }
    case 'param':
      return operand(first ?? undefinedValue);
    case 'empty':
      return [];
    default:
      return notRead(`\`sql.${name}\` of Drizzle is not read`);
  }
}

/** All columns of a table, under the names of their properties. */
export function allColumns(machine: Machine, table: DrizzleTable, alias: string): readonly Fragment[] {
  return [...table.columns].map(([property, { name }]) =>
    named(machine, [{ kind: 'column-part', table: alias, name }], property),
  );
}

function named(machine: Machine, fragment: Fragment, property: string): Fragment {
  const [only] = fragment;
  const isItsName =
    fragment.length === 1 && typeof only === 'object' && only.kind === 'column-part' && only.name === property;
  const hasAlias = fragment.some((part) => typeof part === 'string' && /^ AS $/.test(part));
  return isItsName || hasAlias ? fragment : [...fragment, ` AS ${identifier(property, machine.dialect)}`];
}

/** `{ id: users.id, user: users }` of SELECT and RETURNING. */
export function selection(machine: Machine, fields: Abstract): readonly Fragment[] {
  const entries = entriesOf(fields);
  if (entries === null) return [notRead(`the columns of SELECT are ${whyNotConstant(fields)}`)];
  return entries.flatMap(([property, value]): readonly Fragment[] => {
    const table = tableOf(value);
    if (table !== undefined) return allColumns(machine, table, aliasOfTable(value) ?? '');
    if (value.kind === 'object') return selection(machine, value);
    return [named(machine, operand(value), property)];
  });
}
