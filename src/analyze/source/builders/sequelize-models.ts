/** Sequelize's models: `sequelize.define(name, attributes, options)` and `Model.init(attributes, options)`. */
import type ts from 'typescript';
import { type Abstract, type ClassValue, fromOutside } from '../abstract-value.ts';
import { constantOf } from '../value-arithmetic.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import type { Entity, EntityField } from './entity.ts';
import { constantText } from './fragment.ts';
import { snakeCase } from './identifier.ts';

/** `through`: the table between two models has the keys of both. */
export type AssociationKind = 'own-key' | 'other-key-one' | 'other-key-many' | 'through';

export interface Association {
  readonly kind: AssociationKind;
  /** The property of the row. */
  readonly name: string;
  readonly target: () => object | undefined;
  /** The model or the name of the table between; `undefined`: there is none. */
  readonly through: () => object | string | undefined;
  readonly options: ReadonlyMap<string, Abstract>;
}

/** A field that has the key of another model's row. */
export interface Reference {
  readonly field: string;
  readonly to: () => object | undefined;
}

interface Definition {
  readonly name: string;
  readonly attributes: Abstract | undefined;
  readonly options: ReadonlyMap<string, Abstract>;
  /** Foreign keys of associations. */
  readonly added: Set<string>;
  /** By name. */
  readonly associations: Map<string, Association>;
  readonly references: Reference[];
  /** Options of queries, by name; `defaultScope` is always added. */
  readonly scopes: Map<string, Abstract>;
}

/** By class, or by the object of `define`. */
const definitions = new WeakMap<object, Definition>();

export function defineModel(
  key: ts.ClassLikeDeclaration | object,
  name: string,
  attributes: Abstract | undefined,
  options: Abstract | undefined,
  defaults: ReadonlyMap<string, Abstract>,
): void {
  const known = new Map([...defaults, ...(entriesOf(options) ?? [])]);
  const given = constantText(known.get('modelName')) ?? name;
  const before = definitions.get(key);
  const scopes = new Map(before?.scopes ?? []);
  const byDefault = known.get('defaultScope');
  if (byDefault !== undefined) scopes.set('defaultScope', byDefault);
  for (const [scope, value] of optionsOf(known.get('scopes'))) scopes.set(scope, value);
  definitions.set(key, {
    name: given,
    attributes,
    options: known,
    added: before?.added ?? new Set(),
    associations: before?.associations ?? new Map(),
    references: before?.references ?? [],
    scopes,
  });
}

export function addAssociation(key: object, association: Association): void {
  definitions.get(key)?.associations.set(association.name, association);
}

export function addReference(key: object, reference: Reference): void {
  definitions.get(key)?.references.push(reference);
}

export function addScope(key: object, name: string, value: Abstract): void {
  definitions.get(key)?.scopes.set(name, value);
}

export function associationsOf(key: object): readonly Association[] {
  return [...(definitions.get(key)?.associations.values() ?? [])];
}

export function referencesOf(key: object): readonly Reference[] {
  return definitions.get(key)?.references ?? [];
}

export function scopeOf(key: object, name: string): Abstract | undefined {
  return definitions.get(key)?.scopes.get(name);
}

export function scopeNames(key: object): readonly string[] {
  return [...(definitions.get(key)?.scopes.keys() ?? [])];
}

export function keyOfClass({ node }: ClassValue): object {
  return node;
}

export function modelName(key: object): string | undefined {
  return definitions.get(key)?.name;
}

/** `Account.belongsTo(Owner)` gives accounts a column `ownerId`. */
export function addForeignKey(key: object, name: string): void {
  definitions.get(key)?.added.add(name);
}

/** Made each time: associations come after `init`. `undefined`: no file calls `init`. */
export function entityOf(key: object): Entity | undefined {
  const definition = definitions.get(key);
  const attributes = entriesOf(definition?.attributes);
  if (definition === undefined || attributes === null) return undefined;
  const { options } = definition;
  const isUnderscored = isOn(options, 'underscored', false);
  const columnOf = (name: string): string => (isUnderscored ? snakeCase(name) : name);
  const fields = new Map<string, EntityField>();
  const keys: string[] = [];
  for (const [name, type] of attributes) {
    const known = optionsOf(type);
    const isKey = constantOf(known.get('primaryKey')) === true;
    if (isKey) keys.push(name);
    fields.set(name, {
      ...plainField,
      column: constantText(known.get('field')) ?? columnOf(name),
      isGenerated: constantOf(known.get('autoIncrement')) === true,
    });
  }
  const id: readonly (readonly [string, EntityField])[] =
    keys.length > 0 ? [] : [['id', { ...plainField, column: 'id', isGenerated: true }]];
  const all = new Map([...id, ...fields]);
  for (const name of definition.added) if (!all.has(name)) all.set(name, { ...plainField, column: columnOf(name) });
  addTimes(all, options, columnOf);
  const plural = isOn(options, 'freezeTableName', false) ? definition.name : pluralOf(columnOf(definition.name));
  const table = constantText(options.get('tableName')) ?? plural;
  return { table, fields: all, keys: keys.length > 0 ? keys : ['id'] };
}

/** Otherwise the library gives it `id`, but not between two other models. */
export function saysKey(key: object): boolean {
  const attributes = entriesOf(definitions.get(key)?.attributes) ?? [];
  return attributes.some(([, type]) => constantOf(optionsOf(type).get('primaryKey')) === true);
}

const plainField: EntityField = { column: '', onInsert: null, onUpdate: null, isGenerated: false, isDeletion: false };

function addTimes(
  fields: Map<string, EntityField>,
  options: ReadonlyMap<string, Abstract>,
  columnOf: (name: string) => string,
): void {
  if (!isOn(options, 'timestamps', true)) return;
  const time = [fromOutside('the time')];
  const add = (option: string, field: Partial<EntityField>): void => {
    const given = options.get(option);
    if (given !== undefined && constantOf(given) === false) return;
    const name = constantText(given) ?? option;
    fields.set(name, { ...plainField, column: fields.get(name)?.column ?? columnOf(name), ...field });
  };
  add('createdAt', { onInsert: time });
  add('updatedAt', { onInsert: time, onUpdate: time });
  if (isOn(options, 'paranoid', false)) add('deletedAt', { isDeletion: true });
}

function isOn(options: ReadonlyMap<string, Abstract>, name: string, otherwise: boolean): boolean {
  const value = constantOf(options.get(name));
  return typeof value === 'boolean' ? value : otherwise;
}

/** English plurals as far as rules go, as Sequelize makes them; other irregular nouns need `tableName`. */
export function pluralOf(name: string): string {
  // A model may be named in the plural: `Orders`, `url_clicks`, `Media`.
  if (/(?:[^isu]s|media|data)$/i.test(name) && !/alias$/i.test(name)) return name;
  const irregular = irregularNouns.find(([one]) => new RegExp(`${one}$`, 'i').test(name));
  if (irregular !== undefined) return name.slice(0, 1 - irregular[0].length) + irregular[1].slice(1);
  if (/sis$/i.test(name)) return `${name.slice(0, -2)}es`;
  if (/(?:s|x|z|ch|sh)$/i.test(name)) return `${name}es`;
  return /[^aeiou]y$/i.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** By their ends. */
const irregularNouns = [
  ['person', 'people'],
  ['child', 'children'],
  ['index', 'indices'],
  ['matrix', 'matrices'],
  ['knife', 'knives'],
  ['woman', 'women'],
  ['quiz', 'quizzes'],
] as const;

export function singularOf(name: string): string {
  if (/ies$/i.test(name)) return `${name.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/i.test(name)) return name.slice(0, -2);
  return /[^s]s$/i.test(name) ? name.slice(0, -1) : name;
}
