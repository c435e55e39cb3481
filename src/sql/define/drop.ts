/** DROP: what depends on a thing goes with it (CASCADE) or keeps it (RESTRICT). */
import type { DropStmt, Node } from '@pgsql/types';
import { engineRules, notSupported, numberOfType, SqlError, type SqlType } from '../model/index.ts';
import { type ForeignKey, type Index, type Relation, type Table, type View } from '../catalog/relation.ts';
import type { UserType } from '../catalog/catalog.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import type { Changes } from './changes.ts';
import { checkIsNotNeeded } from './foreign-key-index.ts';
import { replaceTable } from './create-index.ts';
import { refusePendingChecks } from './pending-checks.ts';
import { replaceOwned } from './sequence-owner.ts';
import type { Execution } from '../execution.ts';

const kinds: Readonly<Record<string, { readonly kind: Relation['kind']; readonly word: string }>> = {
  OBJECT_TABLE: { kind: 'table', word: 'table' },
  OBJECT_VIEW: { kind: 'view', word: 'view' },
  OBJECT_MATVIEW: { kind: 'view', word: 'materialized view' },
  OBJECT_SEQUENCE: { kind: 'sequence', word: 'sequence' },
};

export function drop(statement: DropStmt, planning: Planning, changes: Changes, execution: Execution): void {
  const { objects = [], removeType = 'OBJECT_TABLE', behavior, missing_ok: ifExists = false } = statement;
  const isCascade = behavior === 'DROP_CASCADE';
  const relations: Relation[] = [];
  for (const object of objects) {
    const names = namesOf(object);
    if (removeType === 'OBJECT_INDEX') dropIndex(names, ifExists, planning, changes);
    else if (removeType === 'OBJECT_SCHEMA') dropSchema(names, ifExists, isCascade, planning, changes);
    else if (removeType === 'OBJECT_TYPE') dropType(names, ifExists, isCascade, planning, changes);
    else if (removeType === 'OBJECT_DOMAIN') dropDomain(names, ifExists, isCascade, planning, changes);
    else if (removeType === 'OBJECT_EXTENSION') dropExtension(names.at(-1) ?? '', ifExists, planning, changes);
    else {
      const found = relationToDrop(names, removeType, ifExists, planning, changes);
      if (found !== null) relations.push(found);
    }
  }
  dropRelations(relations, isCascade, planning, changes, execution);
}

function namesOf(node: Node): string[] {
  if ('List' in node) return stringsOf(node.List.items);
  if ('TypeName' in node) return stringsOf(node.TypeName.names);
  return stringsOf([node]);
}

export function rangeOf(names: readonly string[]): { relname: string; schemaname?: string } {
  const schemaname = names.at(-2);
  const relname = names.at(-1) ?? '';
  return schemaname === undefined ? { relname } : { relname, schemaname };
}

/** `null`: there is none, and IF EXISTS was said. @throws SqlError 42P01, 42809 */
function relationToDrop(
  names: readonly string[],
  removeType: string,
  ifExists: boolean,
  planning: Planning,
  changes: Changes,
): Relation | null {
  const wanted = kinds[removeType];
  if (wanted === undefined) throw notSupported(`DROP ${removeType.replace('OBJECT_', '').replaceAll('_', ' ')}`);
  const found = planning.findRelation(rangeOf(names));
  if (found === undefined) {
    const message = `${wanted.word} "${names.at(-1)}" does not exist`;
    if (!ifExists) throw new SqlError('42P01', message);
    changes.notice('00000', `${message}, skipping`);
    return null;
  }
  if (found.kind !== wanted.kind) throw new SqlError('42809', `"${found.name}" is not a ${wanted.word}`);
  return found;
}

/** What depends only on others that go is no reason to keep them. @throws SqlError 2BP01, 55006 */
function dropRelations(
  relations: readonly Relation[],
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
  { surroundings }: Execution,
): void {
  const going = new Set(engineRules[planning.dialect].dropsTogether ? relations.map(({ id }) => id) : []);
  try {
    for (const relation of relations) {
      refusePendingChecks('DROP TABLE', relation, surroundings);
      if (planning.catalog.relation(relation.schema, relation.name) !== undefined)
        removeRelation(relation, isCascade, planning, changes, going);
    }
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '2BP01' || relations.length < 2) throw error;
    throw new SqlError('2BP01', 'cannot drop desired object(s) because other objects depend on them', error.detail);
  }
}

function removeRelation(
  relation: Relation,
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
  going: ReadonlySet<number>,
): void {
  const { catalog } = planning;
  const views = dependentViews(relation, planning).filter(({ id }) => !going.has(id));
  const references = referencesTo(relation, planning).filter(({ child }) => !going.has(child.id));
  if (!isCascade && views.length + references.length > 0)
    throw dependents(relation, dependentsText(relation, views, references));
  for (const view of views) {
    changes.notice('00000', `drop cascades to view ${view.name}`);
    removeRelation(view, true, planning, changes, going);
  }
  for (const { child, key, title } of references) {
    changes.notice('00000', `drop cascades to ${title}`);
    const now = catalog.tableById(child.id) ?? child;
    replaceTable(now, { ...now, foreignKeys: now.foreignKeys.filter((each) => each !== key) }, planning, changes);
  }
  if (relation.kind === 'sequence') replaceOwned(relation, null, planning, changes);
  changes.did(catalog.remove(relation));
  if (relation.kind !== 'table') return;
  for (const { sequence } of relation.columns) if (sequence !== null) changes.did(catalog.remove(sequence));
}

/** In the order in which they were made, as far as tables and views tell it. */
function dependentsText(relation: Relation, views: readonly View[], references: readonly Reference[]): string {
  const lines = [
    ...references.map(({ child, title }) => ({ id: child.id, title })),
    ...views.map(({ id, name }) => ({ id, title: `view ${name}` })),
  ];
  return lines
    .toSorted((a, b) => a.id - b.id)
    .map(({ title }) => `${title} depends on ${relation.kind} ${relation.name}`)
    .join('\n');
}

function dependentViews(relation: Relation, { catalog }: Planning): View[] {
  return [...catalog.relations()].filter(
    (each): each is View => each.kind === 'view' && each.reads.includes(relation.id),
  );
}

/** A foreign key of another table. */
interface Reference {
  readonly child: Table;
  readonly key: ForeignKey;
  /** As messages name it. */
  readonly title: string;
}

function referencesTo(table: Relation, { catalog }: Planning): Reference[] {
  return catalog
    .tables()
    .filter(({ id }) => id !== table.id)
    .flatMap((child) =>
      child.foreignKeys
        .filter(({ parent }) => parent === table.id)
        .map((key) => ({ child, key, title: `constraint ${key.name} on table ${child.name}` })),
    );
}

/** @param inMysql its number and words */
export function dependents(
  { kind, name }: { readonly kind: string; readonly name: string },
  detail: string,
  inMysql: { readonly mysqlNumber?: number; readonly mysqlMessage?: string } = {},
): SqlError {
  return new SqlError('2BP01', `cannot drop ${kind} ${name} because other objects depend on it`, {
    ...inMysql,
    detail,
    hint: 'Use DROP ... CASCADE to drop the dependent objects too.',
  });
}

function dropIndex(names: readonly string[], ifExists: boolean, planning: Planning, changes: Changes): void {
  const { catalog } = planning;
  const { indexesAreRelations } = engineRules[planning.dialect];
  const name = names.at(-1) ?? '';
  const schemas = !indexesAreRelations
    ? catalog.schemas()
    : names.length > 1
      ? names.slice(-2, -1)
      : planning.searchPath;
  const isTheTable = (table: Table): boolean => indexesAreRelations || names.length < 2 || table.name === names.at(-2);
  for (const table of catalog.tables()) {
    const index =
      schemas.includes(table.schema) && isTheTable(table)
        ? table.indexes.find((each) => each.name === name)
        : undefined;
    if (index === undefined) continue;
    if (index.isConstraint && indexesAreRelations) {
      const detail = `constraint ${name} on table ${table.name} requires index ${name}`;
      throw new SqlError(
        '2BP01',
        `cannot drop index ${name} because constraint ${name} on table ${table.name} requires it`,
        { detail },
      );
    }
    const [reference] = referencesBy(table, index, planning);
    if (reference !== undefined && indexesAreRelations)
      throw dependents({ kind: 'index', name }, `${reference.title} depends on index ${name}`);
    if (!indexesAreRelations) checkIsNotNeeded(table, index, planning);
    replaceTable(table, { ...table, indexes: table.indexes.filter((each) => each !== index) }, planning, changes);
    return;
  }
  if (!ifExists) throw missingToDrop('42704', `index "${name}" does not exist`, 'INDEX', name);
  changes.notice('00000', `index "${name}" does not exist, skipping`);
}

/** Foreign keys that use the index: the first of those over the columns that they name. */
export function referencesBy(table: Table, index: Index, { catalog }: Planning): Reference[] {
  const isOver = ({ isUnique, deferral, predicate, parts }: Index, { parentCells }: ForeignKey): boolean =>
    isUnique &&
    deferral === 'never' &&
    predicate === null &&
    parts.length === parentCells.length &&
    parts.every(({ cell }) => parentCells.includes(cell));
  return catalog
    .tables()
    .flatMap((child) =>
      child.foreignKeys
        .filter((key) => key.parent === table.id && table.indexes.find((each) => isOver(each, key)) === index)
        .map((key) => ({ child, key, title: `constraint ${key.name} on table ${child.name}` })),
    );
}

/** @param kind in MariaDB's words: `COLUMN`, `INDEX`, `FOREIGN KEY`, `CONSTRAINT` */
export function missingToDrop(code: string, message: string, kind: string, name: string): SqlError {
  // One number for all that is to be dropped and is not there.
  return new SqlError(code, message, {
    mysqlNumber: 1091,
    mysqlMessage: `Can't DROP ${kind} \`${name}\`; check that it exists`,
  });
}

type Drop = (
  names: readonly string[],
  ifExists: boolean,
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
) => void;

const dropSchema: Drop = (names, ifExists, isCascade, planning, changes) => {
  const { catalog } = planning;
  const name = names.at(-1) ?? '';
  if (!catalog.hasSchema(name)) {
    if (!ifExists) throw new SqlError('3F000', `schema "${name}" does not exist`);
    changes.notice('00000', `schema "${name}" does not exist, skipping`);
    return;
  }
  const inside = [...catalog.relations()].filter(({ schema }) => schema === name);
  const [first] = inside;
  if (first !== undefined && !isCascade)
    throw dependents({ kind: 'schema', name }, `${first.kind} ${name}.${first.name} depends on schema ${name}`);
  for (const relation of inside) {
    if (catalog.relation(name, relation.name) !== undefined)
      removeRelation(relation, true, planning, changes, new Set());
  }
  for (const type of catalog.types()) if (type.schema === name) changes.did(catalog.removeType(type));
  changes.did(catalog.dropSchema(name));
};

function dropExtension(name: string, ifExists: boolean, { catalog }: Planning, changes: Changes): void {
  if (catalog.hasExtension(name)) changes.did(catalog.dropExtension(name));
  else if (ifExists) changes.notice('00000', `extension "${name}" does not exist, skipping`);
  else throw new SqlError('42704', `extension "${name}" does not exist`);
}

const dropType: Drop = (names, ifExists, isCascade, planning, changes) => {
  const { catalog } = planning;
  const name = names.at(-1) ?? '';
  const type = typeToDrop(names, planning);
  if (type === undefined) {
    if (!ifExists) throw new SqlError('42704', `type "${name}" does not exist`);
    changes.notice('00000', `type "${name}" does not exist, skipping`);
    return;
  }
  const user = catalog
    .tables()
    .flatMap((table) =>
      table.columns.filter(({ type: own }) => uses(own, type.type)).map((column) => ({ table, column })),
    );
  const above = catalog.types().filter((each) => each !== type && uses(each.type, type.type));
  const [first] = user;
  const [firstAbove] = above;
  if (firstAbove !== undefined && !isCascade)
    throw dependents({ kind: 'type', name }, `type ${firstAbove.name} depends on type ${name}`);
  if (first !== undefined && !isCascade) {
    throw dependents(
      { kind: 'type', name },
      `column ${first.column.name} of table ${first.table.name} depends on type ${name}`,
    );
  }
  for (const { table, column } of user) {
    const current = catalog.tableById(table.id) ?? table;
    const columns = current.columns.filter(({ cell }) => cell !== column.cell);
    replaceTable(current, { ...current, columns }, planning, changes);
  }
  for (const each of above) changes.did(catalog.removeType(each));
  changes.did(catalog.removeType(type));
};

const dropDomain: Drop = (names, ifExists, isCascade, planning, changes) => {
  const name = names.at(-1) ?? '';
  const type = typeToDrop(names, planning);
  if (type !== undefined && type.type.domain === undefined) throw new SqlError('42809', `"${name}" is not a domain`);
  dropType(names, ifExists, isCascade, planning, changes);
};

function typeToDrop(names: readonly string[], { catalog, searchPath }: Planning): UserType | undefined {
  const name = names.at(-1) ?? '';
  const schemas = names.length > 1 ? names.slice(-2, -1) : searchPath;
  return schemas.map((schema) => catalog.type(schema, name)).find((each) => each !== undefined);
}

/** Is it this type, an array of it, or a domain over it? */
function uses(own: SqlType, type: SqlType): boolean {
  const number = numberOfType(type);
  return (
    numberOfType(own) === number ||
    own.oid === number ||
    own.element?.oid === number ||
    own.domain?.over.includes(number) === true
  );
}
