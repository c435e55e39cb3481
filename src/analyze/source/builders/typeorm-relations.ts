/** Relations of TypeORM's entities: the joins by which a find and the query builder read them, conditions on them, and their rows as objects. */
import type ts from 'typescript';
import { type Abstract, arrayOf, constant, type Fragment, type ObjectValue } from '../abstract-value.ts';
import type { Value } from '../../application.ts';
import type { Machine } from '../machine.ts';
import { lineage } from '../lineage.ts';
import { choose, constantOf, isNothing } from '../value-arithmetic.ts';
import { expression, not } from '../conditions.ts';
import { ofRows } from './chain.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { decoratorsOf } from './decorators.ts';
import { column, type Entity, type EntityContext, rowObject, type Methods, relate } from './entity.ts';
import { constantText, join, notRead } from './fragment.ts';
import { identifier, snakeCase } from './identifier.ts';
import { classOfEntity, entityFrom, foreignKeyName, isSnakeCase } from './typeorm-entities.ts';

export interface Relation {
  readonly name: string;
  readonly isList: boolean;
  readonly isEager: boolean;
  /** `null`: the other entity is not in the sources. */
  readonly target: Entity | null;
  /** Columns that a join makes equal; through a table of its own where both sides are lists. */
  readonly own: string;
  readonly other: string;
  readonly link: { readonly table: string; readonly own: string; readonly other: string } | null;
}

const relations = new WeakMap<Entity, ReadonlyMap<string, Relation>>();
/** The entity that stands under another name in a statement. */
const named = new WeakMap<Entity, Entity>();

export function relationsOf(machine: Machine, given: Entity): ReadonlyMap<string, Relation> {
  const entity = named.get(given) ?? given;
  const known = relations.get(entity) ?? readRelations(machine, entity);
  relations.set(entity, known);
  return known;
}

/** The entity with a name of its own in the statement. */
export function aliased(entity: Entity, alias: string): Entity {
  const other: Entity = { ...entity, table: alias };
  named.set(other, named.get(entity) ?? entity);
  return other;
}

function tableOf(entity: Entity): string {
  return (named.get(entity) ?? entity).table;
}

/** The row has the key of the one that it refers to. */
export function hasKey({ link, isList, other, target }: Relation): boolean {
  return link === null && !isList && target !== null && other === columnName(target, target.keys[0] ?? 'id');
}

/** The column of a property, or of the relation's foreign key. */
export function propertyColumn(machine: Machine, entity: Entity, name: string): Fragment {
  const relation = entity.fields.has(name) ? undefined : relationsOf(machine, entity).get(name);
  if (relation === undefined) return column(entity, name);
  return hasKey(relation)
    ? [{ kind: 'column-part', table: entity.table, name: relation.own }]
    : notRead(`the relation ${name} has no column`);
}

function readRelations(machine: Machine, entity: Entity): ReadonlyMap<string, Relation> {
  const { ts } = machine.project;
  const type = classOfEntity(entity);
  const found = new Map<string, Relation>();
  if (type === undefined) return found;
  for (const owner of lineage(machine, type))
    for (const member of owner.node.members) {
      if (!ts.isPropertyDeclaration(member)) continue;
      const relation = relationOf(machine, entity, owner, member);
      if (relation !== undefined) found.set(relation.name, relation);
    }
  return found;
}

function relationOf(
  machine: Machine,
  entity: Entity,
  owner: Parameters<typeof decoratorsOf>[1],
  member: ts.PropertyDeclaration,
): Relation | undefined {
  const all = decoratorsOf(machine, owner, member);
  const decorator = all.find(({ name }) => /^(?:ManyToOne|OneToOne|OneToMany|ManyToMany)$/.test(name));
  if (decorator === undefined) return undefined;
  const name = member.name.getText();
  const target = targetOf(machine, owner, member, decorator.name) ?? null;
  const isOwner = decorator.name === 'ManyToOne' || all.some((one) => one.name === 'JoinColumn');
  const inverse = inverseName(machine, member, decorator.name);
  const base = {
    name,
    target,
    isList: decorator.name.endsWith('Many'),
    isEager: decorator.args.some((arg) => constantOf(optionsOf(arg).get('eager')) === true),
    link: null,
  };
  const key = (of: Entity | null): string => columnName(of, of?.keys[0] ?? 'id');
  if (decorator.name === 'ManyToMany') {
    const joinTable = all.find((one) => one.name === 'JoinTable');
    return {
      ...base,
      own: key(entity),
      other: key(target),
      link: linkOf(machine, entity, target, name, inverse, joinTable?.args),
    };
  }
  if (isOwner) return { ...base, own: foreignKeyName(machine, name, all), other: key(target) };
  const back = target === null ? undefined : memberOf(machine, target, inverse);
  const theirs = back === undefined ? '' : foreignKeyName(machine, back.name, back.decorators);
  return { ...base, target: theirs === '' ? null : target, own: key(entity), other: theirs };
}

function columnName(entity: Entity | null, field: string): string {
  return entity?.fields.get(field)?.column ?? field;
}

/** `() => User` of `@ManyToOne(() => User, ...)`. */
function targetOf(
  machine: Machine,
  owner: Parameters<typeof decoratorsOf>[1],
  member: ts.PropertyDeclaration,
  decorator: string,
): Entity | undefined {
  const { ts } = machine.project;
  const [first] = argumentsOf(machine, member, decorator);
  if (first === undefined || !ts.isArrowFunction(first) || ts.isBlock(first.body)) return undefined;
  return entityFrom(machine, machine.evaluate(first.body, owner.scope));
}

function argumentsOf(machine: Machine, member: ts.PropertyDeclaration, decorator: string): readonly ts.Expression[] {
  const { ts } = machine.project;
  const calls = (ts.getDecorators(member) ?? []).flatMap(({ expression: one }) =>
    ts.isCallExpression(one) ? [one] : [],
  );
  return calls.find((one) => one.expression.getText() === decorator)?.arguments ?? [];
}

/** The property of the other side: `(user) => user.posts`, or its name. */
function inverseName(machine: Machine, member: ts.PropertyDeclaration, decorator: string): string | undefined {
  const { ts } = machine.project;
  const [, second] = argumentsOf(machine, member, decorator);
  if (second === undefined) return undefined;
  if (ts.isStringLiteralLike(second)) return second.text;
  const body = ts.isArrowFunction(second) ? second.body : undefined;
  return body !== undefined && ts.isPropertyAccessExpression(body) ? body.name.text : undefined;
}

function memberOf(machine: Machine, entity: Entity, name: string | undefined) {
  const { ts } = machine.project;
  const type = classOfEntity(entity);
  if (type === undefined || name === undefined) return undefined;
  for (const owner of lineage(machine, type))
    for (const member of owner.node.members)
      if (ts.isPropertyDeclaration(member) && member.name.getText() === name)
        return { name, member, owner, decorators: decoratorsOf(machine, owner, member) };
  return undefined;
}

/** The table of `@JoinTable`, on this side or on the other. */
function linkOf(
  machine: Machine,
  entity: Entity,
  target: Entity | null,
  name: string,
  inverse: string | undefined,
  joinTable: readonly Abstract[] | undefined,
): Relation['link'] {
  if (joinTable !== undefined) {
    const options = optionsOf(joinTable[0]);
    const nameOf = (option: string): string | undefined => constantText(optionsOf(options.get(option)).get('name'));
    const written = isSnakeCase(machine) ? snakeCase : camelCase;
    const columnOf = (of: Entity | null): string =>
      written(`${of?.table ?? '?'}_${columnName(of, of?.keys[0] ?? 'id')}`);
    return {
      table: constantText(options.get('name')) ?? snakeCase(`${entity.table}_${name}_${target?.table ?? '?'}`),
      own: nameOf('joinColumn') ?? columnOf(entity),
      other: nameOf('inverseJoinColumn') ?? columnOf(target),
    };
  }
  const back = target === null ? undefined : memberOf(machine, target, inverse);
  const options = back?.decorators.find((one) => one.name === 'JoinTable');
  if (target === null || back === undefined || options === undefined) return null;
  const theirs = linkOf(machine, target, entity, back.name, name, options.args);
  return theirs === null ? null : { table: theirs.table, own: theirs.other, other: theirs.own };
}

function camelCase(text: string): string {
  return text.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A relation that a statement reads with its row. */
export interface JoinedRelation {
  readonly relation: Relation;
  /** Under its alias. */
  readonly entity: Entity;
  /** Of its columns in the result. */
  readonly prefix: string;
  readonly children: readonly JoinedRelation[];
}

/** `['owner', 'owner.posts']`, `{ owner: { posts: true } }`, and relations that are always read; a reason where they are not known. */
export function joinedRelations(
  context: EntityContext,
  given: Abstract | undefined,
  { path, isEager }: { readonly path: string; readonly isEager: boolean },
): readonly JoinedRelation[] | string {
  const asked = namesIn(given);
  if (asked === null) return 'the relations of a find are not known';
  const found: JoinedRelation[] = [];
  for (const [name, relation] of relationsOf(context.machine, context.entity)) {
    const inner = asked.filter((one) => one === name || one.startsWith(`${name}.`));
    const isCycle = path.split('_').length > 4 || path.split('_').includes(name);
    if (inner.length === 0 && (!isEager || !relation.isEager || isCycle)) continue;
    if (relation.target === null || (relation.isList && relation.own === ''))
      return `the relation ${name} is not known`;
    const prefix = path === '' ? name : `${path}_${name}`;
    const entity = aliased(relation.target, prefix === context.entity.table ? `${prefix}_joined` : prefix);
    const further = inner.flatMap((one) => (one === name ? [] : [constant(one.slice(name.length + 1))]));
    const children = joinedRelations({ ...context, entity }, arrayOf(further), { path: prefix, isEager });
    if (typeof children === 'string') return children;
    found.push({ relation, entity, prefix, children });
  }
  const unknown = asked.find((one) => !relationsOf(context.machine, context.entity).has(one.split('.')[0] ?? ''));
  return unknown === undefined ? found : `the relation ${unknown} is not known`;
}

function namesIn(given: Abstract | undefined): readonly string[] | null {
  if (given === undefined || isNothing(given)) return [];
  if (given.kind === 'array') {
    const names = given.elements.value.map(constantText);
    return names.includes(undefined) ? null : names.flatMap((name) => (name === undefined ? [] : [name]));
  }
  return (
    entriesOf(given)?.flatMap(([name, value]) => {
      if (constantOf(value) === false) return [];
      return [name, ...(value.kind === 'object' ? (namesIn(value) ?? []) : []).map((inner) => `${name}.${inner}`)];
    }) ?? null
  );
}

/** `LEFT JOIN posts AS "posts" ON ...`; through the table of a many-to-many relation, two. */
export function joinFragments(
  { machine, entity }: EntityContext,
  relation: Relation,
  target: Entity,
  how: 'LEFT JOIN' | 'INNER JOIN',
  further: Fragment,
): readonly Fragment[] {
  const name = (text: string): string => identifier(text, machine.dialect);
  const part = (table: string, text: string): Fragment => [{ kind: 'column-part', table, name: text }];
  const extra: Fragment = further.length === 0 ? [] : [' AND ', ...further];
  const table = tableOf(target);
  const from = `${how} ${name(table)}${table === target.table ? '' : ` AS ${name(target.table)}`} ON `;
  const { link } = relation;
  if (link === null)
    return [[from, ...part(target.table, relation.other), ' = ', ...part(entity.table, relation.own), ...extra]];
  const between = `${target.table}_${link.table}`;
  return [
    [
      `${how} ${name(link.table)} AS ${name(between)} ON `,
      ...part(between, link.own),
      ' = ',
      ...part(entity.table, relation.own),
    ],
    [from, ...part(target.table, relation.other), ' = ', ...part(between, link.other), ...extra],
  ];
}

/** A condition on related rows: a row for which there is one that fulfils it. */
export function relatedCondition(
  context: EntityContext,
  relation: Relation,
  test: (context: EntityContext) => Fragment,
): Fragment {
  const { machine, entity } = context;
  const { target, link } = relation;
  if (target === null) return notRead(`the relation ${relation.name} is not known`);
  const inner = aliased(target, `${entity.table}_${relation.name}`);
  const name = (text: string): string => identifier(text, machine.dialect);
  const part = (table: string, text: string): Fragment => [{ kind: 'column-part', table, name: text }];
  const between = `${inner.table}_link`;
  const joins: readonly Fragment[] =
    link === null
      ? [[...part(inner.table, relation.other), ' = ', ...part(entity.table, relation.own)]]
      : [
          [...part(between, link.own), ' = ', ...part(entity.table, relation.own)],
          [...part(inner.table, relation.other), ' = ', ...part(between, link.other)],
        ];
  const from = `${name(target.table)} AS ${name(inner.table)}`;
  const tables = link === null ? from : `${from}, ${name(link.table)} AS ${name(between)}`;
  const tests = test({ ...context, entity: inner });
  return [
    `EXISTS (SELECT 1 FROM ${tables} WHERE `,
    ...join([...joins, ...(tests.length === 0 ? [] : [tests])], ' AND '),
    ')',
  ];
}

/** The columns of a joined relation, each with a name of its own in the result. */
function joinedColumns(context: EntityContext, { entity, prefix }: JoinedRelation): readonly Fragment[] {
  return [...entity.fields.keys()].map(
    (field): Fragment => [...column(entity, field), ` AS ${identifier(`${prefix}_${field}`, context.machine.dialect)}`],
  );
}

/** The joins of relations within relations, and all their columns. */
export function joinsOf(
  context: EntityContext,
  joined: readonly JoinedRelation[],
): { readonly joins: readonly Fragment[]; readonly columns: readonly Fragment[] } {
  const parts = joined.map((one) => {
    const inner = joinsOf({ ...context, entity: one.entity }, one.children);
    return {
      joins: [...joinFragments(context, one.relation, one.entity, 'LEFT JOIN', []), ...inner.joins],
      columns: [...joinedColumns(context, one), ...inner.columns],
    };
  });
  return { joins: parts.flatMap(({ joins }) => joins), columns: parts.flatMap(({ columns }) => columns) };
}

type FieldOf = (field: string) => Value;
type MethodsOf = (entity: Entity) => Methods;

/** The rows as objects, with the objects of their relations. */
export function relatedInstances(
  rows: Abstract,
  entity: Entity,
  joined: readonly JoinedRelation[],
  methods: MethodsOf,
): Abstract {
  return ofRows(rows, (statement) => ({
    kind: 'rows',
    statement,
    elementOf: (field) => withRelated(rowObject(entity, field, methods(entity)), joined, field, statement, methods),
  }));
}

export function firstRelated(
  rows: Abstract,
  entity: Entity,
  joined: readonly JoinedRelation[],
  methods: MethodsOf,
): Abstract {
  return ofRows(rows, (statement) => {
    const field: FieldOf = (name) => ({ kind: 'column', statement, column: name, row: 'first' });
    const object = withRelated(rowObject(entity, field, methods(entity)), joined, field, statement, methods);
    const isThere = expression('<>', { kind: 'row-count', statement }, { kind: 'constant', value: 0 });
    return choose(isThere, object, constant(null));
  });
}

function withRelated(
  object: ObjectValue,
  joined: readonly JoinedRelation[],
  field: FieldOf,
  statement: string,
  methods: MethodsOf,
): ObjectValue {
  for (const one of joined) {
    const { relation, entity, prefix, children } = one;
    const inner = (of: FieldOf): ObjectValue => {
      const own: FieldOf = (name) => of(`${prefix}_${name}`);
      const original = named.get(entity) ?? entity;
      return withRelated(rowObject(original, own, methods(original)), children, of, statement, methods);
    };
    const key = field(`${prefix}_${entity.keys[0] ?? 'id'}`);
    const value: Abstract = relation.isList
      ? { kind: 'rows', statement, elementOf: inner }
      : choose(not(expression('is null', key)), inner(field), constant(null));
    relate(object, relation.name, value);
  }
  return object;
}
