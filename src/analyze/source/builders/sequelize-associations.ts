/** Associations of Sequelize's models: which rows a row has, by which columns, and under which name. */
import { type Abstract, type ClassValue, findInEnds } from '../abstract-value.ts';
import { modelOfClass } from '../calls.ts';
import type { Machine } from '../machine.ts';
import { optionsOf } from './clauses.ts';
import type { Entity } from './entity.ts';
import { constantText } from './fragment.ts';
import {
  type Association,
  type AssociationKind,
  associationsOf,
  entityOf,
  keyOfClass,
  modelName,
  referencesOf,
  saysKey,
  singularOf,
  pluralOf,
} from './sequelize-models.ts';

/** The columns, by the names of fields: `own` of the row and `other` of the associated one. */
export interface Link {
  readonly own: string;
  readonly other: string;
  readonly through: { readonly table: string; readonly own: string; readonly other: string } | null;
}

const keys = new WeakMap<Abstract, object>();

/** Remembers by what the definition of a model is found. */
export function withModelKey<Of extends Abstract>(model: Of, key: object): Of {
  keys.set(model, key);
  return model;
}

/** Of a class: its definition is made where it was not yet. */
export function keyOfModel(machine: Machine, value: Abstract | undefined): object | undefined {
  // Handles of several configurations define the same models.
  return value === undefined
    ? undefined
    : findInEnds(value, (end) => (end.kind === 'class' ? keyOfModelClass(machine, end) : keys.get(end)));
}

function keyOfModelClass(machine: Machine, value: ClassValue): object {
  modelOfClass(machine, value);
  return keyOfClass(value);
}

export function isToMany({ kind }: Association): boolean {
  return kind === 'other-key-many' || kind === 'through';
}

/** The name that Sequelize gives: the other model's, in the plural where there may be several. */
export function associationName(kind: AssociationKind, other: string, options: ReadonlyMap<string, Abstract>): string {
  const isMany = kind === 'other-key-many' || kind === 'through';
  return constantText(options.get('as')) ?? (isMany ? pluralOf(other) : singularOf(other));
}

export function linkOf(key: object, association: Association): Link | undefined {
  const target = association.target();
  const [own, other] = [entityOf(key), target === undefined ? undefined : entityOf(target)];
  if (target === undefined || own === undefined || other === undefined) return undefined;
  const { kind, options } = association;
  const [ownKey = 'id', otherKey = 'id'] = [own.keys[0], other.keys[0]];
  const given = namedKey(options);
  switch (kind) {
    case 'own-key': {
      const column = given ?? referenceTo(key, target) ?? foreignKeyName(association.name, otherKey);
      return { own: column, other: constantText(options.get('targetKey')) ?? otherKey, through: null };
    }
    case 'other-key-one':
    case 'other-key-many': {
      const column = given ?? referenceTo(target, key) ?? foreignKeyName(singularOf(modelName(key) ?? ''), ownKey);
      return { own: constantText(options.get('sourceKey')) ?? ownKey, other: column, through: null };
    }
    case 'through':
      return throughLink(key, target, association, ownKey, otherKey);
  }
}

function throughLink(
  key: object,
  target: object,
  { through, options }: Association,
  own: string,
  other: string,
): Link | undefined {
  const between = through();
  if (between === undefined) return undefined;
  const entity = typeof between === 'string' ? undefined : entityOf(between);
  if (typeof between !== 'string' && entity === undefined) return undefined;
  const column = (field: string): string => entity?.fields.get(field)?.column ?? field;
  const reference = (to: object): string | undefined =>
    typeof between === 'string' ? undefined : referenceTo(between, to);
  const first = namedKey(options) ?? reference(key) ?? foreignKeyName(singularOf(modelName(key) ?? ''), own);
  const second =
    namedKey(options, 'otherKey') ?? reference(target) ?? foreignKeyName(singularOf(modelName(target) ?? ''), other);
  const table = typeof between === 'string' ? between : (entity?.table ?? '');
  return { own, other, through: { table, own: column(first), other: column(second) } };
}

/** The rows between two models, by the names of their columns. */
export function rowsBetween(key: object, { through }: Association, link: Link): Entity | undefined {
  const between = through();
  if (between === undefined || link.through === null) return undefined;
  const model = typeof between === 'string' ? undefined : entityOf(between);
  if (typeof between !== 'string' && model === undefined) return undefined;
  // A model that the library makes has the times that the others have.
  const times = [...(entityOf(key)?.fields.values() ?? [])].filter(({ onInsert }) => onInsert !== null);
  const plain = { onInsert: null, onUpdate: null, isGenerated: false, isDeletion: false };
  const ends = [link.through.own, link.through.other];
  const withoutId = typeof between === 'string' || saysKey(between) ? [] : ['id'];
  const own = [...(model?.fields ?? [])].flatMap(([name, field]) => (withoutId.includes(name) ? [] : [field]));
  const fields = [...(model === undefined ? times : own), ...ends.map((name) => ({ ...plain, column: name }))];
  return { table: link.through.table, fields: new Map(fields.map((field) => [field.column, field])), keys: ends };
}

/** `{ foreignKey: 'ownerId' }`, `{ foreignKey: { name: 'ownerId' } }` */
export function namedKey(options: ReadonlyMap<string, Abstract>, name = 'foreignKey'): string | undefined {
  const given = options.get(name);
  return constantText(given) ?? constantText(optionsOf(given).get('name'));
}

/** `AccountId`: the other model's name and key. */
export function foreignKeyName(name: string, key: string): string {
  return `${name}_${key}`.replaceAll(/[-_\s]+(.)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '');
}

/** The field that `@ForeignKey(() => Model)` stands at. */
function referenceTo(key: object, model: object): string | undefined {
  return referencesOf(key).find(({ to }) => to() === model)?.field;
}

/** By name, by model, or by both. */
export function associationWith(
  key: object,
  model: object | undefined,
  name: string | undefined,
): Association | undefined {
  const all = associationsOf(key);
  return name === undefined
    ? all.find(({ target }) => model !== undefined && target() === model)
    : all.find((one) => one.name === name);
}
