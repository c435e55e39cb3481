/** TypeORM's entities: classes with decorators, and `new EntitySchema({ ... })`. */
import type ts from 'typescript';
import { type Abstract, type ClassValue, constant } from '../abstract-value.ts';
import { lineage } from '../lineage.ts';
import type { Machine } from '../machine.ts';
import { constantOf } from '../value-arithmetic.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { type Decorator, decoratorsOf } from './decorators.ts';
import type { Entity, EntityField } from './entity.ts';
import { constantText } from './fragment.ts';
import { snakeCase } from './identifier.ts';

const schemas = new WeakMap<Abstract, Entity>();
const classes = new WeakMap<ClassValue['node'], Entity | undefined>();

const classesOf = new WeakMap<Entity, ClassValue>();

/** The class with the decorators. */
export function classOfEntity(entity: Entity): ClassValue | undefined {
  return classesOf.get(entity);
}

/** The entity of a class, an EntitySchema, or its name. */
export function entityFrom(machine: Machine, value: Abstract | undefined): Entity | undefined {
  if (value?.kind === 'class') {
    const known = classes.has(value.node) ? classes.get(value.node) : entityOfClass(machine, value);
    classes.set(value.node, known);
    if (known !== undefined) classesOf.set(known, value);
    return known;
  }
  return value === undefined ? undefined : schemas.get(value);
}

/** What the decorators of columns say beside their names. */
const kinds: Readonly<Record<string, Partial<EntityField>>> = {
  Column: {},
  PrimaryColumn: {},
  PrimaryGeneratedColumn: { isGenerated: true },
  CreateDateColumn: { isGenerated: true },
  UpdateDateColumn: { isGenerated: true, onUpdate: ['CURRENT_TIMESTAMP'] },
  DeleteDateColumn: { isDeletion: true },
  VersionColumn: { isGenerated: true, onInsert: [constant(1)] },
};

function entityOfClass(machine: Machine, type: ClassValue): Entity | undefined {
  const entity = decoratorsOf(machine, type, type.node).find(({ name }) => name === 'Entity');
  if (entity === undefined) return undefined;
  const [first] = entity.args;
  const options = new Map(entriesOf(first) ?? entriesOf(entity.args[1]) ?? []);
  const table = constantText(first) ?? constantText(options.get('name')) ?? snakeCase(type.node.name?.text ?? '');
  const fields = new Map<string, EntityField>();
  const keys: string[] = [];
  for (const owner of lineage(machine, type).toReversed())
    for (const member of owner.node.members)
      if (machine.project.ts.isPropertyDeclaration(member)) addField(machine, owner, member, fields, keys);
  return { table, fields, keys };
}

function addField(
  machine: Machine,
  owner: ClassValue,
  member: ts.PropertyDeclaration,
  fields: Map<string, EntityField>,
  keys: string[],
): void {
  const name = member.name.getText();
  const all = decoratorsOf(machine, owner, member);
  for (const decorator of all) {
    const kind = kinds[decorator.name];
    const options = new Map(decorator.args.flatMap((arg) => entriesOf(arg) ?? []));
    if (kind !== undefined) {
      if (decorator.name.startsWith('Primary')) keys.push(name);
      fields.set(name, fieldOf(machine, name, constantText(options.get('name')), kind));
    }
    const hasKey =
      decorator.name === 'ManyToOne' ||
      (decorator.name === 'OneToOne' && all.some((other) => other.name === 'JoinColumn'));
    if (hasKey) {
      const column = foreignKeyName(machine, name, all);
      // A column with a property of its own has that name.
      if (![...fields.values()].some((field) => field.column === column)) fields.set(name, { ...plainField, column });
    }
  }
}

/** The column of `@JoinColumn`, or the one that the library makes of the property. */
export function foreignKeyName(machine: Machine, property: string, all: readonly Decorator[]): string {
  const join = all.find((other) => other.name === 'JoinColumn');
  const given = constantText(optionsOf(join?.args[0]).get('name'));
  return given ?? (isSnakeCase(machine) ? `${snakeCase(property)}_id` : `${property}Id`);
}

const plainField: EntityField = { column: '', onInsert: null, onUpdate: null, isGenerated: false, isDeletion: false };

function fieldOf(machine: Machine, name: string, given: string | undefined, kind: Partial<EntityField>): EntityField {
  const column = given ?? (isSnakeCase(machine) ? snakeCase(name) : name);
  const version: Partial<EntityField> =
    kind.onInsert === undefined || kind.onInsert === null ? {} : { onUpdate: [`${column} + 1`] };
  return { ...plainField, ...kind, ...version, column };
}

/** `namingStrategy: new SnakeNamingStrategy()` */
export function isSnakeCase({ project }: Machine): boolean {
  const isSnake = snakeCases.get(project) ?? project.files.some(({ text }) => text.includes('SnakeNamingStrategy'));
  snakeCases.set(project, isSnake);
  return isSnake;
}

const snakeCases = new WeakMap<Machine['project'], boolean>();

export function defineSchema(machine: Machine, value: Abstract, definition: Abstract | undefined): void {
  const options = optionsOf(definition);
  const name = constantText(options.get('name')) ?? '';
  const keys: string[] = [];
  const fields = (entriesOf(options.get('columns')) ?? []).map(
    ([property, described]): readonly [string, EntityField] => {
      const column = optionsOf(described);
      const isOn = (option: string): boolean => constantOf(column.get(option)) === true;
      if (isOn('primary')) keys.push(property);
      const kind: Partial<EntityField> = isOn('updateDate')
        ? { isGenerated: true, onUpdate: ['CURRENT_TIMESTAMP'] }
        : isOn('version')
          ? (kinds['VersionColumn'] ?? {})
          : { isGenerated: column.has('generated') || isOn('createDate'), isDeletion: isOn('deleteDate') };
      return [property, fieldOf(machine, property, constantText(column.get('name')), kind)];
    },
  );
  schemas.set(value, {
    table: constantText(options.get('tableName')) ?? snakeCase(name),
    fields: new Map(fields),
    keys,
  });
}
