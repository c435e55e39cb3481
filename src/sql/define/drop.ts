/** DROP: what depends on a thing goes with it (CASCADE) or keeps it (RESTRICT). */
import type { DropStmt, Node } from '@pgsql/types';
import { type Relation, type Table, type View } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import { notSupported, SqlError } from '../sql-error.ts';
import type { Changes } from './changes.ts';
import { checkIsNotNeeded } from './foreign-key-index.ts';
import { replaceTable } from './create-index.ts';

const kinds: Readonly<Record<string, { readonly kind: Relation['kind']; readonly word: string }>> = {
  OBJECT_TABLE: { kind: 'table', word: 'table' },
  OBJECT_VIEW: { kind: 'view', word: 'view' },
  OBJECT_MATVIEW: { kind: 'view', word: 'materialized view' },
  OBJECT_SEQUENCE: { kind: 'sequence', word: 'sequence' },
};

export function drop(statement: DropStmt, planning: Planning, changes: Changes): void {
  const { objects = [], removeType = 'OBJECT_TABLE', behavior, missing_ok: ifExists = false } = statement;
  const isCascade = behavior === 'DROP_CASCADE';
  for (const object of objects) {
    const names = namesOf(object);
    if (removeType === 'OBJECT_INDEX') dropIndex(names, ifExists, planning, changes);
    else if (removeType === 'OBJECT_SCHEMA') dropSchema(names, ifExists, isCascade, planning, changes);
    else if (removeType === 'OBJECT_TYPE') dropType(names, ifExists, isCascade, planning, changes);
    else if (removeType === 'OBJECT_EXTENSION')
      changes.notice('00000', `extension "${names.at(-1)}" does not exist, skipping`);
    else dropRelation(names, removeType, ifExists, isCascade, planning, changes);
  }
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

function dropRelation(
  names: readonly string[],
  removeType: string,
  ifExists: boolean,
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
): void {
  const wanted = kinds[removeType];
  if (wanted === undefined) throw notSupported(`DROP ${removeType.replace('OBJECT_', '').replaceAll('_', ' ')}`);
  const found = planning.findRelation(rangeOf(names));
  if (found === undefined) {
    const message = `${wanted.word} "${names.at(-1)}" does not exist`;
    if (!ifExists) throw new SqlError('42P01', message, planning.dialect === 'mysql' ? { mysqlNumber: 1051 } : {});
    changes.notice('00000', `${message}, skipping`);
    return;
  }
  if (found.kind !== wanted.kind) throw new SqlError('42809', `"${found.name}" is not a ${wanted.word}`);
  removeRelation(found, isCascade, planning, changes);
}

function removeRelation(relation: Relation, isCascade: boolean, planning: Planning, changes: Changes): void {
  const { catalog } = planning;
  for (const view of dependentViews(relation, planning)) {
    if (!isCascade) throw dependents(relation, `view ${view.name} depends on ${relation.kind} ${relation.name}`);
    changes.notice('00000', `drop cascades to view ${view.name}`);
    removeRelation(view, true, planning, changes);
  }
  if (relation.kind === 'table') dropReferences(relation, isCascade, planning, changes);
  changes.did(catalog.remove(relation));
  if (relation.kind !== 'table') return;
  for (const { sequence } of relation.columns) if (sequence !== null) changes.did(catalog.remove(sequence));
}

function dependentViews(relation: Relation, { catalog }: Planning): View[] {
  return [...catalog.relations()].filter(
    (each): each is View => each.kind === 'view' && each.reads.includes(relation.id),
  );
}

/** Foreign keys of others that refer to the table. */
function dropReferences(table: Table, isCascade: boolean, planning: Planning, changes: Changes): void {
  for (const other of planning.catalog.tables()) {
    const referring = other.foreignKeys.filter(({ parent }) => parent === table.id);
    const [first] = referring;
    if (other.id === table.id || first === undefined) continue;
    const message = `constraint ${first.name} on table ${other.name} depends on table ${table.name}`;
    if (!isCascade) throw dependents(table, message);
    changes.notice('00000', `drop cascades to constraint ${first.name} on table ${other.name}`);
    const foreignKeys = other.foreignKeys.filter((key) => !referring.includes(key));
    replaceTable(other, { ...other, foreignKeys }, planning, changes);
  }
}

export function dependents({ kind, name }: { readonly kind: string; readonly name: string }, detail: string): SqlError {
  return new SqlError('2BP01', `cannot drop ${kind} ${name} because other objects depend on it`, {
    detail,
    hint: 'Use DROP ... CASCADE to drop the dependent objects too.',
  });
}

function dropIndex(names: readonly string[], ifExists: boolean, planning: Planning, changes: Changes): void {
  const { catalog, dialect } = planning;
  const name = names.at(-1) ?? '';
  const schemas =
    dialect === 'mysql' ? catalog.schemas() : names.length > 1 ? names.slice(-2, -1) : planning.searchPath;
  const isTheTable = (table: Table): boolean => dialect !== 'mysql' || names.length < 2 || table.name === names.at(-2);
  for (const table of catalog.tables()) {
    const index =
      schemas.includes(table.schema) && isTheTable(table)
        ? table.indexes.find((each) => each.name === name)
        : undefined;
    if (index === undefined) continue;
    if (index.isConstraint && dialect === 'postgres') {
      const detail = `constraint ${name} on table ${table.name} requires index ${name}`;
      throw new SqlError(
        '2BP01',
        `cannot drop index ${name} because constraint ${name} on table ${table.name} requires it`,
        { detail },
      );
    }
    if (dialect === 'mysql') checkIsNotNeeded(table, index, planning);
    replaceTable(table, { ...table, indexes: table.indexes.filter((each) => each !== index) }, planning, changes);
    return;
  }
  if (!ifExists) throw missingToDrop('42704', `index "${name}" does not exist`, name, planning);
  changes.notice('00000', `index "${name}" does not exist, skipping`);
}

/** MySQL has one number for whatever is to be dropped and is not there. */
export function missingToDrop(code: string, message: string, name: string, { dialect }: Planning): SqlError {
  return dialect === 'mysql'
    ? new SqlError(code, `Can't DROP '${name}'; check that column/key exists`, { mysqlNumber: 1091 })
    : new SqlError(code, message);
}

function dropSchema(
  names: readonly string[],
  ifExists: boolean,
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
): void {
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
    if (catalog.relation(name, relation.name) !== undefined) removeRelation(relation, true, planning, changes);
  }
  for (const type of catalog.types()) if (type.schema === name) changes.did(catalog.removeType(type));
  changes.did(catalog.dropSchema(name));
}

function dropType(
  names: readonly string[],
  ifExists: boolean,
  isCascade: boolean,
  planning: Planning,
  changes: Changes,
): void {
  const { catalog } = planning;
  const name = names.at(-1) ?? '';
  const schemas = names.length > 1 ? names.slice(-2, -1) : planning.searchPath;
  const type = schemas.map((schema) => catalog.type(schema, name)).find((each) => each !== undefined);
  if (type === undefined) {
    if (!ifExists) throw new SqlError('42704', `type "${name}" does not exist`);
    changes.notice('00000', `type "${name}" does not exist, skipping`);
    return;
  }
  const user = catalog
    .tables()
    .flatMap((table) =>
      table.columns
        .filter(({ type: own }) => own.oid === type.type.oid || own.element?.oid === type.type.oid)
        .map((column) => ({ table, column })),
    );
  const [first] = user;
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
  changes.did(catalog.removeType(type));
}
