/** Drizzle's table objects: `pgTable('name', { property: integer('column') })`. */
import type ts from 'typescript';
import {
  type Abstract,
  type External,
  fromOutside,
  native,
  type Native,
  undefinedValue,
  unknown,
  type Fragment,
} from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { objectEntries } from './clauses.ts';
import { constantText } from './fragment.ts';
import { identifier, snakeCase } from './identifier.ts';

export interface DrizzleTable {
  /** With its schema, as it stands in a statement. */
  readonly name: string;
  readonly columns: ReadonlyMap<string, DrizzleColumn>;
}

export interface DrizzleColumn {
  readonly name: string;
  /** What the program fills in on INSERT; `null`: nothing. */
  readonly onInsert: Abstract | null;
  /** On UPDATE, and on INSERT where there is nothing else. */
  readonly onUpdate: Abstract | null;
  readonly isKey: boolean;
}

interface ColumnBuilder extends Omit<DrizzleColumn, 'name'> {
  readonly name: string | undefined;
}

const tables = new WeakMap<Abstract, DrizzleTable>();
const builders = new WeakMap<Abstract, ColumnBuilder>();

export function tableOf(value: Abstract | undefined): DrizzleTable | undefined {
  return value === undefined ? undefined : tables.get(value);
}

/** A call of one of the modules that declare tables: `drizzle-orm/pg-core`. */
export function declarationCall(machine: Machine, { path }: External, args: readonly Abstract[]): Abstract | undefined {
  const [name] = path;
  if (name === undefined || path.length !== 1) return undefined;
  if (/^(?:pg|mysql|sqlite|singlestore)Table$/.test(name)) return declaredTable(machine, '', args);
  if (name.endsWith('TableCreator')) {
    return native(name, ([given, ...rest], at) => {
      const full = args[0] === undefined ? undefinedValue : machine.call(args[0], [given ?? undefinedValue], at);
      return declaredTable(machine, '', [full, ...rest]);
    });
  }
  if (/^(?:pg|mysql)Schema$/.test(name)) return schemaObject(machine, constantText(args[0]) ?? '?');
  if (/^(?:pgEnum|mysqlEnum|customType)$/.test(name) && (args.length > 1 || name === 'customType'))
    return native(name, ([column]) => columnBuilder(namedColumn(column)));
  if (
    /^(?:index|uniqueIndex|primaryKey|foreignKey|unique|check|alias|union|unionAll|intersect|except|.*View|.*Policy|.*Role|.*Sequence)$/.test(
      name,
    )
  )
    return undefined;
  return columnBuilder(namedColumn(args[0]));
}

function schemaObject(machine: Machine, schema: string): Native {
  return {
    kind: 'native',
    title: 'a schema of Drizzle',
    isHandle: false,
    member: (name) =>
      native(name, (args) =>
        name === 'table'
          ? declaredTable(machine, `${identifier(schema, machine.dialect)}.`, args)
          : native(name, ([column]) => columnBuilder(namedColumn(column))),
      ),
  };
}

function namedColumn(name: Abstract | undefined): ColumnBuilder {
  return { name: constantText(name), onInsert: null, onUpdate: null, isKey: false };
}

/** `integer('n').notNull().$defaultFn(fn)` */
function columnBuilder(column: ColumnBuilder): Native {
  const builder: Native = {
    kind: 'native',
    title: 'a column of Drizzle',
    isHandle: false,
    member: (name) =>
      native(name, () => {
        const computed = fromOutside('what the column fills in');
        if (name === 'primaryKey') return columnBuilder({ ...column, isKey: true });
        if (/^\$default(?:Fn)?$/.test(name)) return columnBuilder({ ...column, onInsert: computed });
        return /^\$onUpdate(?:Fn)?$/.test(name) ? columnBuilder({ ...column, onUpdate: computed }) : builder;
      }),
  };
  builders.set(builder, column);
  return builder;
}

/** What a function of columns gets: `(t) => ({ id: t.serial() })`. */
const columnTypes: Native = {
  kind: 'native',
  title: 'column types of Drizzle',
  isHandle: false,
  member: (name) => native(name, ([column]) => columnBuilder(namedColumn(column))),
};

function declaredTable(machine: Machine, schema: string, [name, columns]: readonly Abstract[]): Abstract {
  const title = constantText(name);
  if (title === undefined) return unknown('a table whose name is not constant');
  const at = machine.project.files[0] as ts.Node;
  const object = columns?.kind === 'function' ? machine.call(columns, [columnTypes], at) : columns;
  if (object?.kind !== 'object') return unknown('a table whose columns are not known');
  const known = objectEntries(object).flatMap(([property, value]): readonly (readonly [string, DrizzleColumn])[] => {
    const column = builders.get(value);
    if (column === undefined) return [];
    const derived = isSnakeCase(machine) ? snakeCase(property) : property;
    return [[property, { ...column, name: column.name ?? derived }]];
  });
  return tableObject({ name: schema + identifier(title, machine.dialect), columns: new Map(known) }, title);
}

/** @param alias the table's name in the statement */
export function tableObject(table: DrizzleTable, alias: string, from: Fragment = [table.name]): Native {
  const columns = new Map<string, Native>();
  for (const [property, { name }] of table.columns) {
    columns.set(property, {
      kind: 'native',
      title: 'a column of Drizzle',
      isHandle: false,
      sql: () => [{ kind: 'column-part', table: alias, name }],
      member: (key) => (key === 'name' ? { kind: 'value', value: { kind: 'constant', value: name } } : undefined),
    });
  }
  const object: Native = {
    kind: 'native',
    title: 'a table of Drizzle',
    isHandle: false,
    sql: () => from,
    member: (property) => columns.get(property),
  };
  tables.set(object, table);
  aliases.set(object, alias);
  return object;
}

const aliases = new WeakMap<Abstract, string>();

export function aliasOfTable(value: Abstract | undefined): string | null {
  return value === undefined ? null : (aliases.get(value) ?? null);
}

const casings = new WeakMap<Machine['project'], boolean>();

/** `drizzle({ casing: 'snake_case' })`: of all handles, since columns are declared before one. */
function isSnakeCase({ project }: Machine): boolean {
  const known = casings.get(project) ?? project.files.some(({ text }) => /\bcasing:\s*['"]snake_case['"]/.test(text));
  casings.set(project, known);
  return known;
}
