/** Knex's names, raw SQL and conditions. */
import type ts from 'typescript';
import {
  type Abstract,
  type Choice,
  type Native,
  plain,
  undefinedValue,
  unknown,
  type Fragment,
  type Part,
} from '../abstract-value.ts';
import type { Value } from '../../application.ts';
import type { Machine } from '../machine.ts';
import { constantOf, isNothing } from '../value-arithmetic.ts';
import { queryOf } from './chain.ts';
import { comparison, entriesOf, givenEntries, inList, undefinedIn } from './clauses.ts';
import { anyCondition, eitherFragment } from './open-conditions.ts';
import { openPart } from './open-objects.ts';
import { columnFragments } from './table-fields.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier, qualifiedName } from './identifier.ts';
import { allConditions } from './query.ts';

export interface KnexNames {
  readonly machine: Machine;
  /** A chain that only collects conditions, of the statement's tables: what a callback of `where` gets. */
  readonly condition: (tables: readonly Fragment[]) => Native;
  /** Of the statement, where a condition is one of its own. */
  readonly tables?: readonly Fragment[];
}

/** `a.b`, or SQL. */
export function columnFragment({ machine }: KnexNames, value: Abstract | undefined): Fragment {
  const text = constantText(value);
  if (text !== undefined) return [qualifiedName(text, machine.dialect)];
  // `groupBy(1)`, `select(1)`
  const number = constantOf(value);
  if (typeof number === 'number') return [String(number)];
  if (value?.kind === 'native' && value.sql !== undefined) return value.sql();
  return notRead(`the name of a column is ${whyNotConstant(value)}`);
}

/** `'a.b as c'`, `{ c: 'a.b' }`, SQL, or a list of these. */
export function selectedFragments(names: KnexNames, value: Abstract): readonly Fragment[] {
  const { dialect } = names.machine;
  if (value.kind === 'array') return value.elements.value.flatMap((one) => selectedFragments(names, one));
  const entries = entriesOf(value);
  if (entries !== null)
    return entries.map(([alias, column]) => [...columnFragment(names, column), ` AS ${identifier(alias, dialect)}`]);
  const [name, alias] = constantText(value)?.split(/\s+as\s+/i) ?? [];
  if (name === undefined) return [columnFragment(names, value)];
  const path = qualifiedName(name.trim(), dialect);
  return [[alias === undefined ? path : `${path} AS ${identifier(alias.trim(), dialect)}`]];
}

export function tableFragments(names: KnexNames, value: Abstract): readonly Fragment[] {
  // `from(function () { this.select('n').from('a').as('b'); })`
  if (value.kind === 'function') return [innerQuery(names, value, value.node) ?? notRead('a subquery is not read')];
  return selectedFragments(names, value).map((table) =>
    table.map(
      (part): Part =>
        typeof part !== 'string' && part.kind === 'not-read'
          ? { kind: 'not-read', reason: part.reason.replace('name of a column', 'name of a table') }
          : part,
    ),
  );
}

/** `?` is a value, `??` a name; `:key` and `:key:` with an object. */
export function rawFragment(machine: Machine, text: Abstract | undefined, values: Abstract | undefined): Fragment {
  if (text?.kind === 'native' && text.sql !== undefined) return text.sql();
  const sql = constantText(text);
  if (sql === undefined) return withNumbers(machine, text, values);
  if (values?.kind === 'object') return namedHoles(machine, sql, values);
  const list = values === undefined ? [] : values.kind === 'array' ? values.elements.value : [values];
  let next = 0;
  return sql.split(/(\\\?|\?\??)/).flatMap((piece): Fragment => {
    if (piece === '\\?') return ['?'];
    if (piece !== '?' && piece !== '??') return [piece];
    const value = list[next++];
    if (value === undefined) return [piece];
    return piece === '?' ? operand(value) : columnFragment({ machine, condition: noCondition }, value);
  });
}

/** A number in the text is as good as a bound value. */
function withNumbers(machine: Machine, text: Abstract | undefined, values: Abstract | undefined): Fragment {
  const parts =
    text?.kind === 'value' && text.value.kind === 'expression' && text.value.operator === '||'
      ? text.value.operands
      : [];
  const isKnown = parts.every((part) => (part.kind === 'constant' ? !/[?:]/.test(String(part.value)) : isNumber(part)));
  if (parts.length === 0 || values !== undefined || !isKnown)
    return notRead(`a part of the SQL text is ${whyNotConstant(text)}`);
  return parts.flatMap((part) =>
    part.kind === 'constant' ? rawFragment(machine, plain(part), undefined) : [plain(part)],
  );
}

function isNumber(value: Value): boolean {
  if (value.kind === 'row-count') return true;
  if (value.kind !== 'expression') return false;
  return value.operator === 'if' ? value.operands.slice(1).every(isNumber) : /^(?:[-*/%]|length)$/.test(value.operator);
}

function noCondition(): Native {
  return { kind: 'native', title: 'nothing', isHandle: false };
}

function namedHoles(machine: Machine, sql: string, values: Abstract & { kind: 'object' }): Fragment {
  return sql.split(/((?<!:):\w+:?(?!:))/).flatMap((piece): Fragment => {
    const [, name, isName] = /^:(\w+)(:?)$/.exec(piece) ?? [];
    const value = name === undefined ? undefined : values.properties.get(name)?.value;
    if (value === undefined) return [piece];
    return isName === ':' ? columnFragment({ machine, condition: noCondition }, value) : operand(value);
  });
}

/** `(column, value)`, `(column, operator, value)`, `({ column: value })`, `(callback)`, `(raw)`, `(true)`. */
export function conditionFragment(names: KnexNames, args: readonly Abstract[], at: ts.Node): Fragment {
  const [first, second, third] = args;
  if (first === undefined) return [];
  const differs = (args.length > 2 ? [first, second] : args.length > 1 ? [first] : []).find(isChoiceOfTexts);
  if (differs !== undefined) {
    const of = (side: Abstract): Fragment =>
      conditionFragment(
        names,
        args.map((one) => (one === differs ? side : one)),
        at,
      );
    return eitherFragment(differs.condition, of(differs.ifTrue), of(differs.ifFalse), true);
  }
  if (args.length === 1) return aloneCondition(names, first, at);
  const column = columnFragment(names, first);
  if (args.at(-1)?.kind === 'undefined') return notRead('a value of `where` is undefined, which Knex refuses');
  if (args.length === 2) return comparison(column, '=', second ?? undefinedValue);
  const operator = constantText(second);
  if (operator === undefined) {
    // Whatever it is, the column and the value decide.
    const decides = unknown('an operator that the source does not say');
    return parenthesized([...comparison(column, '=', third ?? undefinedValue), ' OR ', decides]);
  }
  const sign = operator.toLowerCase();
  if (sign === 'in' || sign === 'not in')
    return inList(names.machine, column, third ?? undefinedValue, sign === 'not in');
  // Only `=` with NULL becomes IS.
  const value = third ?? undefinedValue;
  return isNothing(value) && sign !== '=' && !sign.startsWith('is')
    ? [...column, ` ${sign} NULL`]
    : comparison(column, sign, value);
}

/** A column or an operator that differs by path. */
function isChoiceOfTexts(value: Abstract | undefined): value is Choice {
  const isText = (side: Abstract): boolean => constantText(side) !== undefined || isChoiceOfTexts(side);
  return value?.kind === 'choice' && isText(value.ifTrue) && isText(value.ifFalse);
}

function aloneCondition(names: KnexNames, value: Abstract, at: ts.Node): Fragment {
  if (value.kind === 'function') return callbackCondition(names, value, at);
  if (value.kind === 'native' && value.sql !== undefined) return value.sql();
  const known = constantOf(value);
  if (typeof known === 'boolean') return [known ? '1 = 1' : '1 = 0'];
  const given = value.kind === 'object' ? givenEntries(value) : [];
  const refused = value.kind === 'object' ? undefinedIn(value) : undefined;
  if (refused !== undefined) return notRead(`${refused} of \`where\` is undefined, which Knex refuses`);
  const parts = given.map(([name, one]) => comparison(columnFragment(names, textValue(name)), '=', one));
  if (entriesOf(value) !== null) return join(parts, ' AND ');
  const open = openPart(value);
  const columns = columnFragments(names.machine, names.tables ?? []);
  if (open === null || columns.length === 0) return notRead(`the columns of WHERE are ${whyNotConstant(value)}`);
  return join([...parts, anyCondition(plain(open), columns)], ' AND ');
}

function textValue(text: string): Abstract {
  return { kind: 'value', value: { kind: 'constant', value: text } };
}

/** A query, or what a function adds to a new one; `undefined`: it is neither. */
export function innerQuery(names: KnexNames, query: Abstract | undefined, at: ts.Node): Fragment | undefined {
  if (query?.kind === 'native') return query.sql?.();
  if (query?.kind !== 'function') return undefined;
  const inner = names.condition([]);
  names.machine.call({ ...query, self: inner }, [inner], at);
  return inner.sql?.();
}

/** The function's own conditions, in parentheses. */
function callbackCondition(names: KnexNames, fn: Abstract & { kind: 'function' }, at: ts.Node): Fragment {
  const inner = names.condition(names.tables ?? []);
  names.machine.call({ ...fn, self: inner }, [inner], at);
  const query = queryOf(inner);
  if (query === undefined) return notRead('the conditions in a function differ by path');
  return query.where.length === 0 ? query.notRead : [...parenthesized(allConditions(query.where)), ...query.notRead];
}
