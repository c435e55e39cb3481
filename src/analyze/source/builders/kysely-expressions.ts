/** Kysely's expressions: column names, the expression builder of callbacks, `sql` templates. */
import type ts from 'typescript';
import { type Abstract, constant, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Machine, Owner } from '../machine.ts';
import { constantOf } from '../value-arithmetic.ts';
import { runFragment } from './chain.ts';
import { comparison, entriesOf, inList } from './clauses.ts';
import { constantText, join, notRead, operand, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier, qualifiedName } from './identifier.ts';
import { group } from './query.ts';
import { rawTemplate } from './raw-template.ts';

/** What expressions need of the handle that they are made for. */
export interface Naming {
  readonly machine: Machine;
  /** How property names become names of the database: as they are, or by CamelCasePlugin. */
  readonly nameOf: (name: string) => string;
  /** A method that starts a chain: subqueries of the expression builder. */
  readonly start: (name: string) => Abstract | undefined;
}

const owners = new WeakMap<Abstract, Owner>();

/** Remembers whose statements a handle runs. */
export function withOwner(handle: Native, owner: Owner): Native {
  owners.set(handle, owner);
  return handle;
}

/** An expression with its own methods: `as`, `and`, `or`. */
export function expressionOf(naming: Naming, fragment: Fragment, calls: readonly ts.Node[] = []): Native {
  const { machine } = naming;
  return {
    kind: 'native',
    title: 'an expression of Kysely',
    isHandle: false,
    sql: () => {
      machine.reached.withoutStep(calls);
      return fragment;
    },
    member: (name) =>
      native(name, (args, at) => {
        switch (name) {
          case 'as':
            return expressionOf(naming, aliased(machine, fragment, args[0]));
          case 'and':
          case 'or':
            return expressionOf(
              naming,
              group([fragment, conditionOf(naming, args, at)], name === 'and' ? 'AND' : 'OR'),
            );
          case 'execute':
            return runFragment(machine, owners.get(args[0] ?? undefinedValue) ?? null, fragment, [...calls, at], at);
          case '$castTo':
          case '$notNull':
            return expressionOf(naming, fragment);
          case 'distinct':
            return expressionOf(
              naming,
              fragment.map((part) => (typeof part === 'string' ? part.replace('(', '(DISTINCT ') : part)),
            );
          default:
            return expressionOf(naming, notRead(`\`${name}\` of an expression of Kysely is not read`));
        }
      }),
  };
}

export function aliased(machine: Machine, fragment: Fragment, alias: Abstract | undefined): Fragment {
  const name = constantText(alias);
  const shown: Fragment = name === undefined ? operand(alias ?? undefinedValue) : [identifier(name, machine.dialect)];
  return [...fragment, ' AS ', ...shown];
}

/** `a.b`, without an alias. */
export function path({ machine, nameOf }: Naming, name: string): string {
  const parts = name.split('.').map((part) => (part === '*' ? part : nameOf(part)));
  return qualifiedName(parts.join('.'), machine.dialect);
}

function splitAlias(text: string): readonly [string, string | undefined] {
  const [name = '', alias] = text.split(/\s+as\s+/i);
  return [name.trim(), alias?.trim()];
}

/** `a.b as c` of SELECT; a column whose name a plugin changes keeps the property's name in the result. */
function selected(naming: Naming, text: string): Fragment {
  const [name, alias] = splitAlias(text);
  const property = name.split('.').at(-1) ?? '';
  const shown = alias ?? (property === '*' || naming.nameOf(property) === property ? undefined : property);
  return [
    shown === undefined ? path(naming, name) : `${path(naming, name)} AS ${identifier(shown, naming.machine.dialect)}`,
  ];
}

function table(naming: Naming, text: string): Fragment {
  const [name, alias] = splitAlias(text);
  return [alias === undefined ? path(naming, name) : `${path(naming, name)} AS ${path(naming, alias)}`];
}

/** A column by its name, or an expression. */
export function reference(naming: Naming, value: Abstract | undefined, at: ts.Node): Fragment {
  if (value?.kind === 'function') return reference(naming, callback(naming, value, at), at);
  const text = constantText(value);
  if (text !== undefined) return [path(naming, text)];
  if (value?.kind === 'native' && value.sql !== undefined) return value.sql();
  return notRead(`the name of a column is ${whyNotConstant(value)}`);
}

/** What stands in SELECT or RETURNING: names, expressions, callbacks, and lists of them. */
export function selections(naming: Naming, value: Abstract | undefined, at: ts.Node): readonly Fragment[] {
  if (value?.kind === 'function') return selections(naming, callback(naming, value, at), at);
  if (value?.kind === 'array') return value.elements.value.flatMap((one) => selections(naming, one, at));
  const text = constantText(value);
  return [text === undefined ? reference(naming, value, at) : selected(naming, text)];
}

export function tables(naming: Naming, value: Abstract | undefined, at: ts.Node): readonly Fragment[] {
  if (value?.kind === 'function') return tables(naming, callback(naming, value, at), at);
  if (value?.kind === 'array') return value.elements.value.flatMap((one) => tables(naming, one, at));
  const text = constantText(value);
  if (text !== undefined) return [table(naming, text)];
  if (value?.kind === 'native' && value.sql !== undefined) return [value.sql()];
  return [notRead(`the name of a table is ${whyNotConstant(value)}`)];
}

export function callback(naming: Naming, fn: Abstract, at: ts.Node): Abstract {
  return naming.machine.call(fn, [expressionBuilder(naming)], at);
}

/** A bound value, an expression, or what a callback gives. */
export function valueFragment(naming: Naming, value: Abstract, at: ts.Node): Fragment {
  return value.kind === 'function' ? operand(callback(naming, value, at)) : operand(value);
}

/** `(column, operator, value)`, `(expression)`, `(callback)`. */
export function conditionOf(naming: Naming, args: readonly Abstract[], at: ts.Node): Fragment {
  const [left, operator, right] = args;
  if (operator === undefined) return reference(naming, left, at);
  return compared(naming, reference(naming, left, at), operator, right ?? undefinedValue, at);
}

function compared(naming: Naming, left: Fragment, operator: Abstract, right: Abstract, at: ts.Node): Fragment {
  const sign = constantText(operator)?.toLowerCase();
  if (sign === undefined) return notRead(`an operator is ${whyNotConstant(operator)}`);
  if (sign === 'in' || sign === 'not in') {
    const list = right.kind === 'function' ? callback(naming, right, at) : right;
    return inList(naming.machine, left, list, sign === 'not in');
  }
  const isNull = constantOf(right) === null;
  // Only IS compares with NULL: `= NULL` is never true, and Kysely sends it.
  if (isNull && !sign.startsWith('is')) return [...left, ` ${sign} NULL`];
  return comparison(left, sign, right.kind === 'function' ? callback(naming, right, at) : right);
}

/** `eb('a', '=', 1)`, `eb.and([...])`, `eb.fn.count('id')`, `eb.selectFrom(...)`. */
function expressionBuilder(naming: Naming): Native {
  const builder: Native = {
    kind: 'native',
    title: 'an expression builder of Kysely',
    isHandle: false,
    call: (args, at) => expressionOf(naming, conditionOf(naming, args, at)),
    member: (name) => (name === 'eb' ? builder : expressionMethod(naming, name)),
  };
  return builder;
}

function expressionMethod(naming: Naming, name: string): Abstract {
  const gives = (of: (args: readonly Abstract[], at: ts.Node) => Fragment): Native =>
    native(name, (args, at) => expressionOf(naming, of(args, at)));
  switch (name) {
    case 'ref':
      return gives(([value], at) => reference(naming, value, at));
    case 'table':
      return gives(([value], at) => join(tables(naming, value, at), ', '));
    case 'val':
    case 'value':
      return gives(([value]) => operand(value ?? undefinedValue));
    case 'lit':
      return gives(([value]) => literal(value));
    case 'and':
    case 'or':
      return gives(([value], at) => grouped(naming, value, name === 'and' ? 'AND' : 'OR', at));
    case 'not':
    case 'exists':
    case 'neg':
      return gives(([value], at) => [name === 'neg' ? '-' : `${name.toUpperCase()} `, ...reference(naming, value, at)]);
    case 'between':
      return gives(([left, from, to], at) => [
        ...reference(naming, left, at),
        ' BETWEEN ',
        ...operand(from ?? undefinedValue),
        ' AND ',
        ...operand(to ?? undefinedValue),
      ]);
    case 'parens':
      return gives((args, at) => parenthesized(conditionOf(naming, args, at)));
    case 'cast':
      return gives(([value, type], at) => {
        const text = constantText(type);
        return text === undefined
          ? notRead(`a type is ${whyNotConstant(type)}`)
          : ['CAST(', ...reference(naming, value, at), ` AS ${text})`];
      });
    case 'case':
      return native(name, ([value], at) =>
        caseOf(
          naming,
          value === undefined ? ['CASE'] : ['CASE ', ...reference(naming, value, at)],
          value !== undefined,
        ),
      );
    case 'fn':
      return functions(naming);
    default:
      return naming.start(name) ?? gives(() => notRead(`\`${name}\` of Kysely's expression builder is not read`));
  }
}

/** `case().when('n', '>', 0).then(1).else(0).end()` @param isSimple it compares one value: `case('state').when('open')` */
function caseOf(naming: Naming, sql: Fragment, isSimple: boolean): Native {
  const then = (added: Fragment): Native => caseOf(naming, [...sql, ...added], isSimple);
  return {
    kind: 'native',
    title: 'a CASE of Kysely',
    isHandle: false,
    hasOwnThen: true,
    member: (name) =>
      native(name, (args, at) => {
        const value = valueFragment(naming, args[0] ?? undefinedValue, at);
        switch (name) {
          case 'when':
            return then([' WHEN ', ...(isSimple ? value : conditionOf(naming, args, at))]);
          case 'then':
            return then([' THEN ', ...value]);
          case 'else':
            return then([' ELSE ', ...value]);
          case 'thenRef':
          case 'elseRef':
            return then([` ${name.slice(0, 4).toUpperCase()} `, ...reference(naming, args[0], at)]);
          case 'end':
            return expressionOf(naming, ['(', ...sql, ' END)']);
          default:
            return then(notRead(`\`${name}\` of a CASE of Kysely is not read`));
        }
      }),
  };
}

/** A value that is not known before it runs is bound here: the statement means the same. */
export function literal(value: Abstract = undefinedValue): Fragment {
  const known = constantOf(value);
  if (known === undefined) return operand(value);
  return [typeof known === 'string' ? `'${known.replaceAll("'", "''")}'` : String(known).toUpperCase()];
}

/** `and([a, b])`, `and({ id: 1 })` */
function grouped(naming: Naming, value: Abstract | undefined, connective: 'AND' | 'OR', at: ts.Node): Fragment {
  if (value?.kind === 'array') {
    const parts = value.elements.value.map((one) => reference(naming, one, at));
    return parts.length === 0 ? [connective === 'AND' ? '1 = 1' : '1 = 0'] : group(parts, connective);
  }
  const entries = entriesOf(value);
  if (entries === null) return notRead(`a list of conditions is ${whyNotConstant(value)}`);
  const parts = entries.map(([name, one]) =>
    compared(naming, [path(naming, name)], constant(one.kind === 'array' ? 'in' : '='), one, at),
  );
  return group(parts, connective);
}

/** `fn.count('id')`, `fn('lower', ['name'])` */
export function functions(naming: Naming): Native {
  const called = (name: string, args: readonly Abstract[], at: ts.Node): Native =>
    expressionOf(naming, [
      `${name}(`,
      ...join(
        args.map((arg) => reference(naming, arg, at)),
        ', ',
      ),
      ')',
    ]);
  return {
    kind: 'native',
    title: 'functions of Kysely',
    isHandle: false,
    call: ([name, list], at) => called(constantText(name) ?? '', list?.kind === 'array' ? list.elements.value : [], at),
    member: (name) =>
      native(name, (args, at) => {
        if (name === 'countAll') return expressionOf(naming, ['count(*)']);
        if (name === 'agg')
          return called(constantText(args[0]) ?? '', args[1]?.kind === 'array' ? args[1].elements.value : [], at);
        return called(name === 'jsonAgg' ? 'json_agg' : name === 'toJson' ? 'to_json' : name, args, at);
      }),
  };
}

/** `` sql`...` ``, `sql.ref('a.b')`, `sql.raw('...')` */
export function sqlTag(naming: Naming): Native {
  return {
    kind: 'native',
    title: 'sql of Kysely',
    isHandle: false,
    tag: (texts, holes, at) => expressionOf(naming, rawTemplate(texts, holes), [at]),
    member: (name) => native(name, (args, at) => expressionOf(naming, sqlHelper(naming, name, args, at))),
  };
}

function sqlHelper(naming: Naming, name: string, args: readonly Abstract[], at: ts.Node): Fragment {
  const [first, second] = args;
  switch (name) {
    case 'ref':
      return reference(naming, first, at);
    case 'table':
      return join(tables(naming, first, at), ', ');
    case 'id':
      return [args.map((arg) => identifier(constantText(arg) ?? '?', naming.machine.dialect)).join('.')];
    case 'lit':
    case 'literal':
      return literal(first);
    case 'raw': {
      const text = constantText(first);
      return text === undefined ? notRead(`a part of the SQL text is ${whyNotConstant(first)}`) : [text];
    }
    case 'val':
    case 'value':
      return operand(first ?? undefinedValue);
    case 'join':
      return first?.kind === 'array'
        ? join(first.elements.value.map(operand), second === undefined ? ', ' : textOf(second))
        : notRead(`a list in the SQL text is ${whyNotConstant(first)}`);
    default:
      return notRead(`\`sql.${name}\` of Kysely is not read`);
  }
}

function textOf(separator: Abstract): string {
  const [only] = operand(separator);
  return typeof only === 'string' ? only : ', ';
}
