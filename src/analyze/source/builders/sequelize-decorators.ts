/** Models of sequelize-typescript: the attributes of `@Column` and its companions, and the options of `@Table`. */
import { type Abstract, type ClassValue, constant, objectOf } from '../abstract-value.ts';
import { lineage } from '../calls.ts';
import type { Machine } from '../machine.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { type Decorator, decoratorsOf } from './decorators.ts';
import { constantText } from './fragment.ts';
import { addForeignKey, defineModel } from './sequelize-models.ts';

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
