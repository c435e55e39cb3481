/** `data` of Prisma: the columns that INSERT and UPDATE write, and what is written to other models with them. */
import { type Abstract, constant, unknown, type Fragment } from '../abstract-value.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { writtenEntries } from './open-objects.ts';
import { notRead, operand, whyNotConstant } from './fragment.ts';
import { column, type ModelTable } from './prisma-where.ts';
import { linkOf, type PrismaRelation } from './prisma-schema.ts';

export interface Written {
  /** By field. */
  readonly columns: ReadonlyMap<string, Fragment>;
  readonly nested: readonly Nested[];
  readonly notRead: Fragment;
}

/** `connect`, `create` of a relation. */
export interface Nested {
  readonly relation: PrismaRelation;
  /** `link`: a row of a many-to-many relation. */
  readonly kind: 'connect' | 'create' | 'link';
  readonly values: readonly Abstract[];
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
      for (const [kind, inner] of entriesOf(value) ?? [['?', value] as const]) {
        if (kind === 'connect' && relation.fields.length > 0) connected(columns, relation, inner);
        const given = kind === 'createMany' ? optionsOf(inner).get('data') : inner;
        const values = given?.kind === 'array' ? given.elements.value : given === undefined ? [] : [given];
        const isLinked = linkOf(table.models, table.model, relation) !== null;
        if (kind === 'connect' && relation.fields.length > 0) nested.push({ relation, kind: 'connect', values });
        else if (kind === 'connect' && isLinked) nested.push({ relation, kind: 'link', values });
        else if (
          kind.startsWith('create') &&
          kind !== 'connectOrCreate' &&
          relation.fields.length === 0 &&
          verb === 'insert'
        )
          nested.push({ relation, kind: 'create', values });
        else if (kind === 'disconnect' && relation.fields.length > 0)
          for (const own of relation.fields) columns.set(own, ['NULL']);
        else faults.push(notRead(`\`${kind}\` of the relation ${name} is not read`));
      }
    }
  }
  for (const [name, { filled }] of table.model.fields) {
    const isFilled = filled === 'always' || (filled === 'on insert' && verb === 'insert');
    if (isFilled && !columns.has(name))
      columns.set(name, [unknown(filled === 'always' ? 'the time' : 'a random value')]);
  }
  return { columns, nested, notRead: faults.flat() };
}

/** The foreign key of `connect: { id: 3 }`. */
function connected(columns: Map<string, Fragment>, { fields, references }: PrismaRelation, where: Abstract): void {
  const given = optionsOf(where);
  for (const [index, own] of fields.entries()) {
    const value = given.get(references[index] ?? '');
    columns.set(
      own,
      value === undefined ? notRead('`connect` by a field that is not the referenced one is not read') : operand(value),
    );
  }
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

/** The fields that `select` names, or all; relations apart. */
export function chosenFields(
  { model }: ModelTable,
  options: ReadonlyMap<string, Abstract>,
): { readonly fields: readonly string[]; readonly relations: readonly (readonly [string, Abstract])[] } {
  const select = entriesOf(options.get('select'));
  const include = entriesOf(options.get('include')) ?? [];
  const isOn = ([, value]: readonly [string, Abstract]): boolean =>
    !(value.kind === 'value' && value.value.kind === 'constant' && value.value.value === false);
  const isRelation = ([name]: readonly [string, Abstract]): boolean =>
    name !== '_count' && model.fields.get(name)?.relation !== null;
  const all = [...model.fields].flatMap(([name, { relation }]) => (relation === null ? [name] : []));
  if (select === null) return { fields: all, relations: include.filter(isOn).filter(isRelation) };
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
