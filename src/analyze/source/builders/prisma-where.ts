/** `where` of Prisma: fields, operators, relations. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { isNothing } from '../value-arithmetic.ts';
import { comparison, entriesOf, givenEntries, inList } from './clauses.ts';
import { join, notRead, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { anyCondition, eitherCondition } from './open-conditions.ts';
import { joinedFields, linkOf, type PrismaModel, type PrismaRelation } from './prisma-schema.ts';
import { group } from './query.ts';

export type Models = ReadonlyMap<string, PrismaModel>;

export interface ModelTable {
  readonly machine: Machine;
  readonly models: Models;
  readonly model: PrismaModel;
  /** Its name in the statement. */
  readonly alias: string;
}

export function column({ model, alias }: ModelTable, field: string): Fragment {
  return [{ kind: 'column-part', table: alias, name: model.fields.get(field)?.column ?? field }];
}

/** The conditions, joined by AND; empty: all rows. */
export function whereFragment(table: ModelTable, where: Abstract | undefined): Fragment {
  switch (where?.kind) {
    case undefined:
    case 'undefined':
      return [];
    case 'choice':
      return eitherCondition(where, (side) => whereFragment(table, side), true);
    case 'object': {
      const tests = givenEntries(where).map(([name, value]) => condition(table, name, value));
      return group([...tests, whereFragment(table, where.rest ?? undefined)], 'AND');
    }
    case 'value':
      return anyCondition(
        where,
        scalarFields(table.model).map((name) => [name, column(table, name)]),
      );
    default:
      return notRead(`the conditions of \`where\` are ${whyNotConstant(where)}`);
  }
}

export function scalarFields({ fields }: PrismaModel): readonly string[] {
  return [...fields].flatMap(([name, { relation }]) => (relation === null ? [name] : []));
}

function condition(table: ModelTable, name: string, value: Abstract): Fragment {
  const { model } = table;
  if (name === 'AND' || name === 'OR' || name === 'NOT') {
    if (value.kind === 'choice') return eitherCondition(value, (side) => condition(table, name, side), true);
    const list = value.kind === 'array' ? value.elements.value : [value];
    const inner = listFragment(table, list, name === 'OR' ? 'OR' : 'AND');
    return name === 'NOT' && inner.length > 0 ? ['NOT ', ...parenthesized(inner)] : inner;
  }
  if (model.compound.has(name) && !model.fields.has(name)) return whereFragment(table, value);
  const field = model.fields.get(name);
  if (field === undefined) return notRead(`the field ${name} of ${model.name} is not in schema.prisma`);
  if (field.relation !== null) return relationCondition(table, field.relation, value);
  return scalarCondition(table, column(table, name), value);
}

/** A list that differs by path has both lists, each with the value that decides. */
function listFragment(table: ModelTable, list: readonly Abstract[], connective: 'AND' | 'OR'): Fragment {
  const side = (one: Abstract): Fragment =>
    one.kind === 'array' ? listFragment(table, one.elements.value, connective) : whereFragment(table, one);
  return group(
    list.map((one) =>
      one.kind === 'choice' && one.isSpread === true ? eitherCondition(one, side, connective === 'AND') : side(one),
    ),
    connective,
  );
}

const signs: Readonly<Record<string, string>> = { equals: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' };
const patterns: Readonly<Record<string, readonly [string, string]>> = {
  contains: ["'%' || ", " || '%'"],
  startsWith: ['', " || '%'"],
  endsWith: ["'%' || ", ''],
};

function scalarCondition(table: ModelTable, name: Fragment, value: Abstract): Fragment {
  const operators = entriesOf(value);
  if (operators === null) return comparison(name, '=', value);
  const isInsensitive = operators.some(([operator]) => operator === 'mode');
  const parts = operators.map(([operator, operand]): Fragment => {
    const sign = signs[operator];
    if (sign !== undefined) return comparison(name, sign, operand);
    const pattern = patterns[operator];
    if (pattern !== undefined)
      return [...name, isInsensitive ? ' ILIKE (' : ' LIKE (', pattern[0], operand, pattern[1], ')'];
    switch (operator) {
      case 'mode':
        return [];
      case 'in':
      case 'notIn':
        return inList(table.machine, name, operand, operator === 'notIn');
      case 'not':
        return operand.kind === 'object'
          ? ['NOT ', ...parenthesized(scalarCondition(table, name, operand))]
          : comparison(name, '<>', operand);
      case 'has':
        return [operand, ' = ANY(', ...name, ')'];
      case 'isEmpty':
        return [...parenthesized([...name, " = '{}'"]), ' = ', operand];
      default:
        return notRead(`\`${operator}\` of \`where\` is not read`);
    }
  });
  return group(parts, 'AND');
}

/** As EXISTS: `some`, `none`, `every` of a list, `is` and `isNot` of one, whose fields may also stand alone. */
function relationCondition(table: ModelTable, relation: PrismaRelation, value: Abstract): Fragment {
  if (isNothing(value)) return ['NOT ', ...related(table, relation, undefined, false)];
  const entries = entriesOf(value) ?? [['?', value] as const];
  const isWrapped = entries.every(([name]) => /^(?:some|none|every|is|isNot)$/.test(name));
  if (!isWrapped) return related(table, relation, value, false);
  const parts = entries.map(([name, inner]): Fragment => {
    const isAbsent = name === 'none' || name === 'isNot' || name === 'every';
    const test = related(table, relation, isNothing(inner) ? undefined : inner, name === 'every');
    const isNegated = isAbsent !== isNothing(inner);
    return isNegated ? ['NOT ', ...test] : test;
  });
  return group(parts, 'AND');
}

function related(
  table: ModelTable,
  relation: PrismaRelation,
  where: Abstract | undefined,
  isNegated: boolean,
): Fragment {
  return ['EXISTS ', ...relatedRows('1', table, relation, where, isNegated)];
}

/** `(SELECT count(*) FROM ...)` of the rows of a relation. */
export function relatedCount(table: ModelTable, relation: PrismaRelation, where: Abstract | undefined): Fragment {
  return relatedRows('count(*)', table, relation, where, false);
}

/** The value that an order by a relation's field compares. */
export function relatedColumn(table: ModelTable, relation: PrismaRelation, field: string): Fragment {
  const inner = table.models.get(relation.model);
  const name = identifier(inner?.fields.get(field)?.column ?? field, table.machine.dialect);
  const alias = inner === undefined ? '' : identifier(aliasOf(table, inner), table.machine.dialect);
  return relatedRows(`${alias}.${name}`, table, relation, undefined, false);
}

function aliasOf(table: ModelTable, other: PrismaModel): string {
  return other.table === table.model.table || other.table === table.alias ? `${other.table}_related` : other.table;
}

function relatedRows(
  what: string,
  table: ModelTable,
  relation: PrismaRelation,
  where: Abstract | undefined,
  isNegated: boolean,
): Fragment {
  const { machine, models, model } = table;
  const other = models.get(relation.model);
  if (other === undefined) return notRead(`the model ${relation.model} is not in schema.prisma`);
  const alias = aliasOf(table, other);
  const inner: ModelTable = { ...table, model: other, alias };
  const joins = joinedFields(models, model, relation).map(
    ([own, theirs]): Fragment => [...column(inner, theirs), ' = ', ...column(table, own)],
  );
  const link = linkOf(models, model, relation);
  if (joins.length === 0 && link === null)
    return notRead(`the fields of a relation to ${relation.model} are not known`);
  if (link !== null) {
    const part = (owner: string, name: string): Fragment => [{ kind: 'column-part', table: owner, name }];
    joins.push([...part(link.table, link.other), ' = ', ...column(inner, other.id[0] ?? 'id')]);
    joins.push([...part(link.table, link.own), ' = ', ...column(table, model.id[0] ?? 'id')]);
  }
  const tests = whereFragment(inner, where);
  const all = [...joins, ...(tests.length === 0 ? [] : [isNegated ? ['NOT ', ...parenthesized(tests)] : tests])];
  const name = identifier(other.table, machine.dialect);
  const own = alias === other.table ? name : `${name} AS ${identifier(alias, machine.dialect)}`;
  const from = link === null ? own : `${own}, ${identifier(link.table, machine.dialect)}`;
  return [`(SELECT ${what} FROM ${from} WHERE `, ...join(all, ' AND '), ')'];
}
