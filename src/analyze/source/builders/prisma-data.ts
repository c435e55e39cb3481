/** `data` of Prisma: the columns that INSERT and UPDATE write, and what is written to other models with them. */
import { type Abstract, constant, fromOutside, type Fragment } from '../abstract-value.ts';
import { isNothing } from '../value-arithmetic.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { writtenEntries } from './open-objects.ts';
import { notRead, operand, whyNotConstant } from './fragment.ts';
import { column, type ModelTable } from './prisma-where.ts';
import type { PrismaModel, PrismaRelation } from './prisma-schema.ts';

export interface Written {
  /** By field. */
  readonly columns: ReadonlyMap<string, Fragment>;
  readonly nested: readonly Nested[];
  readonly notRead: Fragment;
}

/** `connect`, `create` and the others of a relation. */
export interface Nested {
  readonly relation: PrismaRelation;
  readonly kind: string;
  /** One object, or a list. */
  readonly value: Abstract;
}

const nestedKinds =
  /^(?:connect|create|createMany|connectOrCreate|set|disconnect|delete|deleteMany|update|updateMany|upsert)$/;

/** Before the row itself, which has the foreign key. */
export function isFirst({ relation, kind }: Nested): boolean {
  return relation.fields.length > 0 && /^(?:connect|create|connectOrCreate)$/.test(kind);
}

export function writtenFields(table: ModelTable, data: Abstract | undefined, verb: 'insert' | 'update'): Written {
  const { fields, id } = table.model;
  const written = [...fields].flatMap(([name, { relation }]) =>
    relation === null && !id.includes(name) ? [name] : [],
  );
  const entries = writtenEntries(data, written);
  if (entries === null)
    return { columns: new Map(), nested: [], notRead: notRead(`the fields of \`data\` are ${whyNotConstant(data)}`) };
  const columns = new Map<string, Fragment>();
  const nested: Nested[] = [];
  const faults: Fragment[] = [];
  for (const [name, value] of entries) {
    const field = table.model.fields.get(name);
    if (field === undefined) faults.push(notRead(`the field ${name} of ${table.model.name} is not in schema.prisma`));
    else if (field.relation === null) columns.set(name, fieldValue(table, name, value));
    else {
      const { relation } = field;
      const given = entriesOf(value);
      if (given === null) faults.push(notRead(`what is written to the relation ${name} is ${whyNotConstant(value)}`));
      for (const [kind, inner] of given ?? []) {
        const one = { relation, kind, value: inner };
        if (kind === 'disconnect' && relation.fields.length > 0)
          for (const own of relation.fields) columns.set(own, ['NULL']);
        else if (nestedKinds.test(kind)) nested.push(one);
        else faults.push(notRead(`\`${kind}\` of the relation ${name} is not read`));
        // The columns of the key have their place, and their values when the other row is known.
        if (isFirst(one)) for (const own of relation.fields) columns.set(own, ['NULL']);
      }
    }
  }
  for (const [name, { filled }] of table.model.fields) {
    const isFilled = filled === 'always' || (filled === 'on insert' && verb === 'insert');
    if (isFilled && !columns.has(name))
      columns.set(name, [fromOutside(filled === 'always' ? 'the time' : 'a random value')]);
  }
  return { columns, nested, notRead: faults.flat() };
}

const arithmetic: Readonly<Record<string, string>> = { increment: '+', decrement: '-', multiply: '*', divide: '/' };

/** A value, `{ set: value }`, or `{ increment: 1 }`. */
function fieldValue(table: ModelTable, name: string, value: Abstract): Fragment {
  const [first, ...others] = entriesOf(value) ?? [];
  if (first === undefined || others.length > 0) return operand(value);
  const [operation, amount] = first;
  if (operation === 'set') return operand(amount);
  const sign = arithmetic[operation];
  // An object that is no operation is the value of a JSON column.
  return sign === undefined ? operand(value) : ['(', ...column(table, name), ` ${sign} `, ...operand(amount), ')'];
}

/** Of an object that the source does not say, all relations: rows of any may be read. */
function included(model: PrismaModel, include: Abstract | undefined): readonly (readonly [string, Abstract])[] {
  const entries = entriesOf(include);
  if (entries !== null || include === undefined || isNothing(include)) return entries ?? [];
  return [...model.fields].flatMap(([name, { relation }]) =>
    relation === null ? [] : [[name, constant(true)] as const],
  );
}

/** The fields that `select` names, or all; relations apart. */
export function chosenFields(
  { model }: ModelTable,
  options: ReadonlyMap<string, Abstract>,
): { readonly fields: readonly string[]; readonly relations: readonly (readonly [string, Abstract])[] } {
  const select = entriesOf(options.get('select'));
  const include = included(model, options.get('include'));
  const isOn = ([, value]: readonly [string, Abstract]): boolean =>
    !(value.kind === 'value' && value.value.kind === 'constant' && value.value.value === false);
  const isRelation = ([name]: readonly [string, Abstract]): boolean =>
    name !== '_count' && model.fields.get(name)?.relation !== null;
  const all = [...model.fields].flatMap(([name, { relation }]) => (relation === null ? [name] : []));
  if (select === null) {
    const open = included(model, options.get('select'));
    return { fields: all, relations: [...include, ...open].filter(isOn).filter(isRelation) };
  }
  const chosen = select.filter(isOn);
  return {
    fields: chosen.filter((one) => !isRelation(one) && one[0] !== '_count').map(([name]) => name),
    relations: chosen.filter(isRelation),
  };
}

/** `_count: true`, `{ _count: { select: { likes: true, posts: { where: ... } } } }`: the relations with their conditions. */
export function countedRelations(
  { model }: ModelTable,
  options: ReadonlyMap<string, Abstract>,
): readonly (readonly [PrismaRelation, string, Abstract | undefined])[] {
  const given = optionsOf(options.get('select')).get('_count') ?? optionsOf(options.get('include')).get('_count');
  if (given === undefined) return [];
  const named = entriesOf(optionsOf(given).get('select'));
  const lists = [...model.fields].filter(([, { relation }]) => relation?.isList === true);
  return lists.flatMap(([name, { relation }]): readonly (readonly [PrismaRelation, string, Abstract | undefined])[] => {
    const found = named?.find(([one]) => one === name);
    if (relation === null || (named !== null && found === undefined)) return [];
    return [[relation, name, optionsOf(found?.[1]).get('where')]];
  });
}

export const one: Fragment = [constant(1)];
