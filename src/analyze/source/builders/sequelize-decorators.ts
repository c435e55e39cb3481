/** Models of sequelize-typescript: the attributes of `@Column` and its companions, and the options of `@Table`. */
import type ts from 'typescript';
import { type Abstract, type ClassValue, constant, objectOf } from '../abstract-value.ts';
import { lineage } from '../lineage.ts';
import type { Machine } from '../machine.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { type Decorator, decoratorsOf } from './decorators.ts';
import { constantText } from './fragment.ts';
import { keyOfModel } from './sequelize-associations.ts';
import {
  addAssociation,
  addForeignKey,
  addReference,
  addScope,
  type Association,
  type AssociationKind,
  defineModel,
} from './sequelize-models.ts';

/** What these say as an option of the column. */
const columnOptions: Readonly<Record<string, string>> = { PrimaryKey: 'primaryKey', AutoIncrement: 'autoIncrement' };

/** The option of the model that names a column of a time. */
const times: Readonly<Record<string, string>> = {
  CreatedAt: 'createdAt',
  UpdatedAt: 'updatedAt',
  DeletedAt: 'deletedAt',
};

/** As `init` would define it; nothing where the class has no `@Table`. */
export function defineDecorated(machine: Machine, type: ClassValue, key: object): void {
  const table = decoratorsOf(machine, type, type.node).find(({ name }) => name === 'Table');
  if (table === undefined) return;
  const attributes = new Map<string, Abstract>();
  const options = optionsOf(table.args[0]);
  const named = new Map<string, Abstract>();
  const foreignKeys: string[] = [];
  for (const owner of lineage(machine, type).toReversed()) {
    for (const member of owner.node.members) {
      if (!machine.project.ts.isPropertyDeclaration(member)) continue;
      const name = member.name.getText();
      const all = decoratorsOf(machine, owner, member);
      const time = all.map((one) => times[one.name]).find((option) => option !== undefined);
      const isColumn = all.some((one) => one.name === 'Column' || one.name === 'ForeignKey');
      if (time !== undefined) named.set(time, constant(name));
      else if (isColumn) attributes.set(name, attribute(all));
      foreignKeys.push(...all.flatMap((one) => (one.name === 'BelongsTo' ? keysIn(one) : [])));
    }
  }
  const isParanoid: readonly (readonly [string, Abstract])[] = named.has('deletedAt')
    ? [['paranoid', constant(true)]]
    : [];
  const given = objectOf(Object.fromEntries([...isParanoid, ...named, ...options]));
  defineModel(key, type.node.name?.text ?? 'a model', objectOf(Object.fromEntries(attributes)), given, new Map());
  for (const one of foreignKeys) addForeignKey(key, one);
  addRelations(machine, type, key);
  addScopes(machine, type, key);
}

const kinds: Readonly<Record<string, AssociationKind>> = {
  BelongsTo: 'own-key',
  HasOne: 'other-key-one',
  HasMany: 'other-key-many',
  BelongsToMany: 'through',
};

/** What `@BelongsTo` and its companions say, and `@ForeignKey`. Models name each other: they are looked up when a query asks. */
function addRelations(machine: Machine, type: ClassValue, key: object): void {
  for (const owner of lineage(machine, type).toReversed()) {
    for (const member of owner.node.members) {
      if (!machine.project.ts.isPropertyDeclaration(member)) continue;
      const field = member.name.getText();
      for (const one of decoratorsOf(machine, owner, member)) {
        const kind = kinds[one.name];
        const model = (index: number) => (): object | undefined =>
          keyOfModel(machine, modelAt(machine, one, index, member));
        if (one.name === 'ForeignKey') addReference(key, { field, to: model(0) });
        if (kind !== undefined) addAssociation(key, associationAt(machine, field, kind, one, member, model));
      }
    }
  }
}

/** `() => Model` */
function modelAt(machine: Machine, { later }: Decorator, index: number, at: ts.Node): Abstract | undefined {
  const given = later[index]?.();
  return given?.kind === 'function' ? machine.call(given, [], at) : given;
}

function associationAt(
  machine: Machine,
  name: string,
  kind: AssociationKind,
  decorator: Decorator,
  at: ts.Node,
  model: (index: number) => () => object | undefined,
): Association {
  const isThrough = kind === 'through';
  const [, second, third, fourth] = decorator.args;
  const key = isThrough ? third : second;
  const given = new Map([...optionsOf(second), ...optionsOf(key)]);
  if (constantText(key) !== undefined && key !== undefined) given.set('foreignKey', key);
  if (isThrough && fourth !== undefined) given.set('otherKey', fourth);
  const option = given.get('through');
  const between = optionsOf(option).get('model') ?? option ?? second;
  const named = (): Abstract | undefined => (between?.kind === 'function' ? machine.call(between, [], at) : between);
  const through = isThrough
    ? () => constantText(between) ?? keyOfModel(machine, named()) ?? model(1)()
    : () => undefined;
  return { kind, name: constantText(given.get('as')) ?? name, target: model(0), through, options: given };
}

/** `@DefaultScope(() => ({ ... }))`, `@Scopes(() => ({ name: { ... } }))` */
function addScopes(machine: Machine, type: ClassValue, key: object): void {
  for (const decorator of decoratorsOf(machine, type, type.node)) {
    if (!/^(?:DefaultScope|Scopes)$/.test(decorator.name)) continue;
    const value = modelAt(machine, decorator, 0, type.node);
    if (value === undefined) continue;
    if (decorator.name === 'DefaultScope') addScope(key, 'defaultScope', value);
    else for (const [name, one] of entriesOf(value) ?? []) addScope(key, name, one);
  }
}

function attribute(all: readonly Decorator[]): Abstract {
  const options = all.flatMap(({ name, args }): readonly (readonly [string, Abstract])[] => {
    const option = columnOptions[name];
    if (option !== undefined) return [[option, constant(true)]];
    return name === 'Column' ? (entriesOf(args[0]) ?? []) : [];
  });
  return objectOf(Object.fromEntries(options));
}

/** `@BelongsTo(() => User, 'userId')`, `{ foreignKey: 'userId' }`; without it, `@ForeignKey` stands at the column. */
function keysIn({ args: [, given] }: Decorator): readonly string[] {
  const options = optionsOf(given);
  const named = options.get('foreignKey');
  const key = constantText(given) ?? constantText(named) ?? constantText(optionsOf(named).get('name'));
  return key === undefined ? [] : [key];
}
