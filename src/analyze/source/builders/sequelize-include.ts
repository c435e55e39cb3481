/**
 * `include` of Sequelize: the joins that it sends, nested ones under the path of their names (`posts->comments`), and the rows of the result, whose
 * columns have that path (`posts.comments.id`).
 */
import { type Abstract, arrayOf, constant, type Fragment } from '../abstract-value.ts';
import { constantOf, isNothing } from '../value-arithmetic.ts';
import { entriesOf, optionsOf } from './clauses.ts';
import { column, deletionField, type Entity, type EntityContext } from './entity.ts';
import { constantText, join, notRead, parenthesized, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { associationWith, isToMany, keyOfModel, linkOf } from './sequelize-associations.ts';
import { type Association, associationsOf, entityOf } from './sequelize-models.ts';
import { chosenColumns, whereFragment } from './sequelize-where.ts';

export interface IncludedRows {
  readonly association: Association;
  readonly nested: readonly IncludedRows[];
  readonly options: ReadonlyMap<string, Abstract>;
  /** A row without such rows is left out. */
  readonly isRequired: boolean;
}

export interface Joins {
  readonly joins: readonly Fragment[];
  readonly columns: readonly Fragment[];
}

/** Options of the library; it ignores other names. */
const notKnown = /^(?:on|or|logging|searchPath|indexHints|group|having)$/;

/** What the option says; text where it is not read. */
export function includedRows(
  { machine }: EntityContext,
  key: object,
  include: Abstract | undefined,
): readonly IncludedRows[] | string {
  if (include === undefined || isNothing(include)) return [];
  const list = include.kind === 'array' ? include.elements.value : [include];
  const found: IncludedRows[] = [];
  for (const one of list) {
    if (isNothing(one)) continue;
    const rows = includedOne({ machine }, key, one);
    if (typeof rows === 'string') return rows;
    found.push(...rows);
  }
  return found;
}

type Context = Pick<EntityContext, 'machine'>;

function includedOne({ machine }: Context, key: object, given: Abstract): readonly IncludedRows[] | string {
  const options = given.kind === 'object' ? optionsOf(given) : new Map<string, Abstract>();
  if (given.kind === 'object' && entriesOf(given) === null) return 'an included model has options that are not known';
  if (options.has('all'))
    return associationsOf(key).map((association) => ({
      association,
      nested: [],
      options: new Map(),
      isRequired: false,
    }));
  const unread = [...options.keys()].find((name) => notKnown.test(name));
  if (unread !== undefined) return `\`${unread}\` of an included model is not read`;
  if (entriesOf(optionsOf(options.get('through')).get('where')) !== null)
    return '`through.where` of an included model is not read';
  const subject = options.get('association') ?? options.get('model') ?? (given.kind === 'object' ? undefined : given);
  const name = constantText(options.get('as')) ?? constantText(subject);
  const association = associationWith(key, keyOfModel(machine, subject), name);
  const target = association?.target();
  if (association === undefined || target === undefined || entityOf(target) === undefined)
    return `an included model is ${isOpen(subject) ? whyNotConstant(subject) : 'no association that the sources say'}`;
  const nested = includedRows({ machine } as EntityContext, target, options.get('include'));
  if (typeof nested === 'string') return nested;
  const required = constantOf(options.get('required'));
  const isRequired =
    typeof required === 'boolean' ? required : options.has('where') || nested.some((inner) => inner.isRequired);
  return [{ association, nested, options, isRequired }];
}

function isOpen(subject: Abstract | undefined): boolean {
  return subject?.kind === 'value' && constantText(subject) === undefined;
}

/** With the key, by which the library tells rows apart: always, unless no column is asked for. */
export function withKey({ entity }: EntityContext, attributes: Abstract | undefined): Abstract | undefined {
  if (attributes?.kind !== 'array' || attributes.elements.value.length === 0) return attributes;
  const { value: given } = attributes.elements;
  const names = new Set(given.map(constantText));
  return arrayOf([...entity.keys.filter((key) => !names.has(key)).map((key) => constant(key)), ...given]);
}

export function hasMany(rows: readonly IncludedRows[]): boolean {
  return rows.some(({ association, nested }) => isToMany(association) || hasMany(nested));
}

/** @param at The name of the joined table, and that of its columns in the result; the statement's own table has no path. */
export function joinsOf(
  context: EntityContext,
  key: object,
  rows: readonly IncludedRows[],
  at: { readonly table: string; readonly path: readonly string[] },
): Joins {
  const all = rows.map((one) => joinsOfOne(context, key, one, at));
  return { joins: all.flatMap(({ joins }) => joins), columns: all.flatMap(({ columns }) => columns) };
}

function joinsOfOne(
  context: EntityContext,
  key: object,
  { association, nested, options, isRequired }: IncludedRows,
  at: { readonly table: string; readonly path: readonly string[] },
): Joins {
  const { machine } = context;
  const { dialect } = machine;
  const target = association.target() ?? {};
  const link = linkOf(key, association);
  const entity = entityOf(target);
  if (link === undefined || entity === undefined)
    return { joins: [notRead(`no file says the columns of the association ${association.name}`)], columns: [] };
  const path = [...at.path, association.name];
  const alias = path.join('->');
  const joined: Entity = { ...entity, table: alias };
  const inside = { ...context, entity: joined };
  const own = entityOf(key);
  const ownColumn = part(at.table, own?.fields.get(link.own)?.column ?? link.own);
  const verb = isRequired ? 'JOIN ' : 'LEFT JOIN ';
  const between = `${alias}->through`;
  const tables: Fragment[] = [];
  if (link.through !== null)
    tables.push([
      `${verb}${identifier(link.through.table, dialect)} AS ${identifier(between, dialect)} ON `,
      ...ownColumn,
      ' = ',
      ...part(between, link.through.own),
    ]);
  const outer = link.through === null ? ownColumn : part(between, link.through.other);
  const tests = [[...outer, ' = ', ...column(joined, link.other)], ...conditionsOf(inside, options)];
  tables.push([
    `${verb}${identifier(entity.table, dialect)} AS ${identifier(alias, dialect)} ON `,
    ...join(tests, ' AND '),
  ]);
  const shown = (field: string): Fragment => [
    ...column(joined, field),
    ` AS ${identifier([...path, field].join('.'), dialect)}`,
  ];
  const inner = joinsOf(context, target, nested, { table: alias, path });
  return {
    joins: [...tables, ...inner.joins],
    columns: [...chosenColumns(inside, withKey(inside, options.get('attributes')), shown), ...inner.columns],
  };
}

function part(table: string, name: string): Fragment {
  return [{ kind: 'column-part', table, name }];
}

/** Of the associated rows: `where`, and that they are not deleted. */
function conditionsOf(context: EntityContext, options: ReadonlyMap<string, Abstract>): readonly Fragment[] {
  const where = whereFragment(context, options.get('where'));
  const deletion = deletionField(context.entity);
  const isAlive = deletion !== undefined && constantOf(options.get('paranoid')) !== false;
  return [
    ...(isAlive ? [[...column(context.entity, deletion), ' IS NULL']] : []),
    ...(where.length === 0 ? [] : [parenthesized(where)]),
  ];
}

/** With a limit, Sequelize asks for the rows that have the required ones. */
export function requiredConditions(
  context: EntityContext,
  key: object,
  rows: readonly IncludedRows[],
  table: string,
): readonly Fragment[] {
  return rows
    .filter(({ isRequired }) => isRequired)
    .map((one) => {
      const inner = { ...one, nested: [], isRequired: true };
      const { joins } = joinsOfOne(context, key, inner, { table, path: [] });
      // The own table's row is the outer statement's: its first join becomes the table, and its condition the test.
      const [first = [], ...others] = joins;
      const text = first[0];
      const [head = '', rest = ''] = typeof text === 'string' ? text.split(/ ON $/) : [];
      const tests: Fragment = [rest, ...first.slice(1)];
      const from = head.replace(/^(?:LEFT )?JOIN /, '');
      return [
        'EXISTS (SELECT 1 FROM ',
        from,
        ...others.flatMap((other): Fragment => [' ', ...other]),
        ' WHERE ',
        ...tests,
        ')',
      ];
    });
}

/** The options of a scope and those of the call, as one: the call's win, conditions and included models add up. */
export function mergedOptions(all: readonly ReadonlyMap<string, Abstract>[]): ReadonlyMap<string, Abstract> {
  const merged = new Map<string, Abstract>();
  for (const options of all) {
    for (const [name, value] of options) {
      const before = merged.get(name);
      const adds = before !== undefined && /^(?:where|include)$/.test(name);
      merged.set(name, adds ? arrayOf([...listOf(before), ...listOf(value)]) : value);
    }
  }
  return merged;
}

function listOf(value: Abstract): readonly Abstract[] {
  return value.kind === 'array' ? value.elements.value : value.kind === 'undefined' ? [] : [value];
}
