/** Objects that stand for rows, as TypeORM and Sequelize give them: their fields are written, and a method saves them. */
import type ts from 'typescript';
import type { Value } from '../../application.ts';
import {
  type Abstract,
  type Cell,
  constant,
  type Native,
  type ObjectValue,
  plain,
  type Fragment,
  findInEnds,
} from '../abstract-value.ts';
import type { Machine, Owner } from '../machine.ts';
import { choose, valueOf } from '../value-arithmetic.ts';
import { ofRows, runFragment } from './chain.ts';
import { comparison } from './clauses.ts';
import { join, operand, parenthesized } from './fragment.ts';
import { identifier } from './identifier.ts';
import { newQuery, printQuery, type Query } from './query.ts';
import { expression, same } from '../conditions.ts';

export interface Entity {
  readonly table: string;
  /** By property. */
  readonly fields: ReadonlyMap<string, EntityField>;
  /** Properties of the primary key. */
  readonly keys: readonly string[];
}

export interface EntityField {
  readonly column: string;
  /** What the library fills in on INSERT and on UPDATE; `null`: nothing. */
  readonly onInsert: Fragment | null;
  readonly onUpdate: Fragment | null;
  /** The database makes it: INSERT returns it. */
  readonly isGenerated: boolean;
  /** Set where the row counts as deleted. */
  readonly isDeletion: boolean;
}

/** What an object was read as: its saved values tell which fields changed. */
export interface Loaded {
  readonly entity: Entity;
  readonly original: ReadonlyMap<string, Cell>;
}

const loaded = new WeakMap<Abstract, Loaded>();

export function loadedFrom(object: Abstract): Loaded | undefined {
  return findInEnds(object, (end) => loaded.get(end));
}

/** The object itself, where it is there or not. */
export function objectIn(value: Abstract | undefined): ObjectValue | undefined {
  return value === undefined ? undefined : findInEnds(value, (end) => (end.kind === 'object' ? end : undefined));
}

/** @param valueOf What a column of the result has that is no field: one of a joined table. */
export type Methods = (self: ObjectValue, valueOf: (field: string) => Value) => Native;

export function rowObject(entity: Entity, valueOfField: (field: string) => Value, methods: Methods): ObjectValue {
  const original = new Map<string, Cell>(
    [...entity.fields.keys()].map((field) => [field, { value: plain(valueOfField(field)) }]),
  );
  const cells = [...original].map(([field, { value }]): [string, Cell] => [field, { value }]);
  const lookup: { self?: ObjectValue } = {};
  const rest: Native = {
    kind: 'native',
    title: 'a row object',
    isHandle: true,
    member: (name, at) =>
      lookup.self === undefined ? undefined : methods(lookup.self, valueOfField).member?.(name, at),
  };
  const self: ObjectValue = { kind: 'object', properties: new Map(cells), of: null, rest };
  lookup.self = self;
  loaded.set(self, { entity, original });
  return self;
}

/** Gives a row object the value of a relation, as it was read. */
export function relate(object: ObjectValue, name: string, value: Abstract): void {
  const known = loaded.get(object);
  object.properties.set(name, { value });
  if (known !== undefined) loaded.set(object, { ...known, original: new Map([...known.original, [name, { value }]]) });
}

/** An object made by the program: nothing of it is saved yet. */
export function newInstance(entity: Entity, values: ReadonlyMap<string, Abstract>, methods: Methods): ObjectValue {
  const object = rowObject({ ...entity, fields: new Map() }, () => ({ kind: 'constant', value: null }), methods);
  for (const [name, value] of values) object.properties.set(name, { value });
  loaded.set(object, { entity, original: new Map() });
  return object;
}

/** The rows, whose elements are such objects. */
export function instances(rows: Abstract, entity: Entity, methods: Methods): Abstract {
  return ofRows(rows, (statement) => ({
    kind: 'rows',
    statement,
    elementOf: (field) => rowObject(entity, field, methods),
  }));
}

/** The first row as an object, or `null`. */
export function firstInstance(rows: Abstract, entity: Entity, methods: Methods): Abstract {
  return ofRows(rows, (statement) => {
    const object = rowObject(entity, (field) => ({ kind: 'column', statement, column: field, row: 'first' }), methods);
    const isThere = expression('<>', { kind: 'row-count', statement }, { kind: 'constant', value: 0 });
    return choose(isThere, object, constant(null));
  });
}

/** Fields whose values are not those that were read. */
export function changedFields(object: ObjectValue): ReadonlyMap<string, Abstract> {
  const known = loaded.get(object);
  return new Map(
    [...object.properties].flatMap(([name, { value }]): readonly (readonly [string, Abstract])[] => {
      const before = known?.original.get(name)?.value;
      const isSame = before !== undefined && (before === value || same(valueOf(before), valueOf(value)));
      return isSame || known?.entity.fields.has(name) === false || value.kind === 'undefined' ? [] : [[name, value]];
    }),
  );
}

/** What the object has now is what its row has. */
export function markSaved(machine: Machine, object: ObjectValue): void {
  for (const [name, cell] of loaded.get(object)?.original ?? []) {
    const now = object.properties.get(name)?.value;
    if (now !== undefined) machine.memory.write(cell, now);
  }
}

export interface EntityContext {
  readonly machine: Machine;
  readonly owner: Owner;
  readonly entity: Entity;
}

/** A call of a method of a repository or model. */
export interface EntityCall extends EntityContext {
  readonly at: ts.Node;
}

export function runCall({ machine, owner, at }: EntityCall, query: Query): Abstract {
  return runFragment(machine, owner, printQuery(query, machine.dialect), [at], at);
}

/** The field that is set where a row counts as deleted. */
export function deletionField({ fields }: Entity): string | undefined {
  return [...fields].find(([, { isDeletion }]) => isDeletion)?.[0];
}

/** Without generated and primary keys, and what marks a row as deleted. */
export function writableFields({ fields, keys }: Entity): readonly string[] {
  return [...fields].flatMap(([name, { isGenerated, isDeletion, onUpdate, onInsert }]) =>
    isGenerated || isDeletion || onUpdate !== null || onInsert !== null || keys.includes(name) ? [] : [name],
  );
}

/** ON CONFLICT of these fields, which writes those of the new row. */
export function overwriting(
  { entity, machine }: EntityContext,
  targets: readonly string[],
  written: readonly string[],
): Fragment {
  const columnOf = (name: string): string => identifier(entity.fields.get(name)?.column ?? name, machine.dialect);
  const set = written.map((name): Fragment => [`${columnOf(name)} = excluded.${columnOf(name)}`]);
  return [' ON CONFLICT ', ...parenthesized([targets.map(columnOf).join(', ')]), ' DO UPDATE SET ', ...join(set, ', ')];
}

export function column(entity: Entity, field: string): Fragment {
  return [{ kind: 'column-part', table: entity.table, name: entity.fields.get(field)?.column ?? field }];
}

export function shown({ machine, entity }: EntityContext, field: string): Fragment {
  const name = entity.fields.get(field)?.column ?? field;
  return name === field
    ? column(entity, field)
    : [...column(entity, field), ` AS ${identifier(field, machine.dialect)}`];
}

export function startQuery({ machine, entity }: EntityContext, verb: Query['verb']): Query {
  return newQuery(verb, [[identifier(entity.table, machine.dialect)]], entity.table);
}

/** The row's own key. */
export function keyCondition({ entity }: EntityContext, object: ObjectValue): Fragment {
  const tests = entity.keys.map((key) => {
    const value = loaded.get(object)?.original.get(key)?.value ?? object.properties.get(key)?.value ?? constant(null);
    return comparison(column(entity, key), '=', value);
  });
  return join(tests, ' AND ');
}

/** `column = value` for each field, and for those that the library fills in. */
export function assigned(
  { machine, entity }: EntityContext,
  values: ReadonlyMap<string, Fragment>,
): readonly Fragment[] {
  const filled = [...entity.fields].flatMap(([name, { onUpdate }]): readonly (readonly [string, Fragment])[] =>
    onUpdate === null || values.has(name) ? [] : [[name, onUpdate]],
  );
  return [...values, ...filled].map(([name, value]) => [
    `${identifier(entity.fields.get(name)?.column ?? name, machine.dialect)} = `,
    ...value,
  ]);
}

/** The rows of INSERT with what the library fills in. */
export function insertQuery(
  context: EntityContext,
  rows: readonly ReadonlyMap<string, Abstract>[],
  conflict: Fragment,
  returning: readonly string[],
): Query {
  const { machine, entity } = context;
  const filled = [...entity.fields].flatMap(([name, { onInsert }]) => (onInsert === null ? [] : [name]));
  const names = [...new Set([...rows.flatMap((row) => [...row.keys()]), ...filled])];
  return {
    ...startQuery(context, 'insert'),
    insertColumns:
      names.length === 0
        ? null
        : names.map((name) => identifier(entity.fields.get(name)?.column ?? name, machine.dialect)),
    rows: rows.map((row) =>
      names.map((name): Fragment => {
        const value = row.get(name);
        return value === undefined ? (entity.fields.get(name)?.onInsert ?? ['DEFAULT']) : operand(value);
      }),
    ),
    conflict,
    returning: returning.map((field) => shown(context, field)),
  };
}
