/**
 * The names that a DDL statement enters into unique indexes of PostgreSQL's catalog. Of two that enter the same one at a time the later one waits for the
 * other's transaction, and then fails with 23505, IF NOT EXISTS or not. Where it looks again in between and the other is committed by then, it fails with
 * another code: `transformCreateStmt`, `heap_create_with_catalog`, `TypeCreate`, `ChooseRelationName`.
 */
import type { ColumnDef, CreateStmt, Node, RangeVar, RenameStmt } from '@pgsql/types';
import { engineRules, SqlError } from '../model/index.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import type { NameLook, NewName } from '../statement.ts';

/** In the order in which PostgreSQL enters them. None where the statement finds its name taken: it says so, or skips it. */
export function ddlNames(node: Node, planning: Planning): NewName[] {
  if (!engineRules[planning.dialect].entersNames) return [];
  if ('CreateStmt' in node) {
    const { relation, if_not_exists: ifNotExists = false } = node.CreateStmt;
    const own = rowTypeNames(relation, ifNotExists, planning);
    return own.length === 0 ? [] : [...sequenceNames(node.CreateStmt, planning), ...own];
  }
  if ('CreateTableAsStmt' in node) {
    const { into, if_not_exists: ifNotExists = false } = node.CreateTableAsStmt;
    return rowTypeNames(into?.rel, ifNotExists, planning);
  }
  if ('ViewStmt' in node) return rowTypeNames(node.ViewStmt.view, node.ViewStmt.replace === true, planning);
  if ('CreateSeqStmt' in node) {
    const { sequence, if_not_exists: ifNotExists = false } = node.CreateSeqStmt;
    const { schema, name, isTaken } = relationPlace(sequence, planning);
    return isTaken() ? [] : [relationName(schema, name, ifNotExists, planning)];
  }
  if ('IndexStmt' in node && node.IndexStmt.idxname !== undefined) {
    const { relation = {}, idxname } = node.IndexStmt;
    const { schema, name, isTaken } = relationPlace({ ...relation, relname: idxname }, planning);
    return isTaken() ? [] : [relationName(schema, name, false, planning)];
  }
  if ('RenameStmt' in node && renamesRelation(node.RenameStmt)) {
    const { relation, newname } = node.RenameStmt;
    return newRelationName(relation, newname, planning);
  }
  if ('AlterTableStmt' in node) {
    const { relation, cmds = [] } = node.AlterTableStmt;
    return cmds.flatMap((command) => newRelationName(relation, indexOfConstraint(command), planning));
  }
  if ('CreateEnumStmt' in node || 'CreateDomainStmt' in node) {
    const names = stringsOf('CreateEnumStmt' in node ? node.CreateEnumStmt.typeName : node.CreateDomainStmt.domainname);
    const schema = planning.creationSchema(names.at(-2));
    const name = names.at(-1) ?? '';
    return isTypeTaken(schema, name, planning) ? [] : [typeName(schema, name, planning)];
  }
  if ('CreateSchemaStmt' in node) {
    const { schemaname: name = '' } = node.CreateSchemaStmt;
    const isTaken = (): boolean => planning.catalog.hasSchema(name);
    const entry = { name: `schema ${name}`, index: 'pg_namespace_nspname_index', isTaken };
    return isTaken() ? [] : [{ ...entry, looks: [], ifEntered: 'wait' }];
  }
  if ('CreateExtensionStmt' in node) {
    const { extname: name = '' } = node.CreateExtensionStmt;
    const isTaken = (): boolean => planning.catalog.hasExtension(name);
    const entry = { name: `extension ${name}`, index: 'pg_extension_name_index', isTaken };
    return isTaken() ? [] : [{ ...entry, looks: [], ifEntered: 'wait' }];
  }
  return [];
}

function renamesRelation({ renameType = 'OBJECT_COLUMN' }: RenameStmt): boolean {
  return ['OBJECT_TABLE', 'OBJECT_VIEW', 'OBJECT_SEQUENCE', 'OBJECT_INDEX'].includes(renameType);
}

/** The name that ADD CONSTRAINT gives to the index of a key. */
function indexOfConstraint(node: Node): string | undefined {
  if (!('AlterTableCmd' in node) || node.AlterTableCmd.subtype !== 'AT_AddConstraint') return undefined;
  const { def } = node.AlterTableCmd;
  if (def === undefined || !('Constraint' in def)) return undefined;
  const { contype = 'CONSTR_CHECK', conname } = def.Constraint;
  return contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_PRIMARY' ? conname : undefined;
}

/** In the schema of the relation that is altered. */
function newRelationName(relation: RangeVar | undefined, newName: string | undefined, planning: Planning): NewName[] {
  if (newName === undefined) return [];
  const { schema, name, isTaken } = relationPlace({ ...relation, relname: newName }, planning);
  return isTaken() ? [] : [relationName(schema, name, false, planning)];
}

/** Of a relation that has a type of its rows: its name is looked for among relations, then among types. */
function rowTypeNames(range: RangeVar | undefined, mayExist: boolean, planning: Planning): NewName[] {
  const { schema, name, isTaken } = relationPlace(range, planning);
  if (isTaken()) return [];
  const relation = relationName(schema, name, mayExist, planning);
  const type = typeName(schema, name, planning);
  const look: NameLook = { isTaken: type.isTaken, error: () => new SqlError('42710', `type "${name}" already exists`) };
  return [{ ...type, looks: [...relation.looks, look] }, relation];
}

interface RelationPlace {
  readonly schema: string;
  readonly name: string;
  readonly isTaken: () => boolean;
}

function relationPlace({ schemaname, relname: name = '' }: RangeVar = {}, planning: Planning): RelationPlace {
  const schema = planning.creationSchema(schemaname);
  return { schema, name, isTaken: () => planning.catalog.isTaken(schema, name) };
}

/** @param mayExist the first look takes a name that is there; the second refuses it, as both do otherwise */
function relationName(schema: string, name: string, mayExist: boolean, planning: Planning): NewName {
  const isTaken = (): boolean => planning.catalog.isTaken(schema, name);
  const look: NameLook = { isTaken, error: () => new SqlError('42P07', `relation "${name}" already exists`) };
  return {
    name: `relation ${schema}.${name}`,
    index: 'pg_class_relname_nsp_index',
    isTaken,
    looks: mayExist ? [look] : [],
    ifEntered: 'wait',
  };
}

function typeName(schema: string, name: string, planning: Planning): NewName {
  return {
    name: `type ${schema}.${name}`,
    index: 'pg_type_typname_nsp_index',
    isTaken: () => isTypeTaken(schema, name, planning),
    looks: [],
    ifEntered: 'wait',
  };
}

function isTypeTaken(schema: string, name: string, { catalog }: Planning): boolean {
  const kind = catalog.relation(schema, name)?.kind;
  return kind === 'table' || kind === 'view' || catalog.type(schema, name) !== undefined;
}

/** `ChooseRelationName` passes over names that other transactions have entered, unless it looks before they do. */
function sequenceNames({ relation, tableElts = [] }: CreateStmt, planning: Planning): NewName[] {
  const schema = planning.creationSchema(relation?.schemaname);
  return tableElts.flatMap((element) => {
    if (!('ColumnDef' in element) || !hasSequence(element.ColumnDef)) return [];
    const name = `${relation?.relname}_${element.ColumnDef.colname}_seq`;
    if (planning.catalog.isTaken(schema, name)) return [];
    return [{ ...relationName(schema, name, true, planning), ifEntered: 'choose another' as const }];
  });
}

function hasSequence({ typeName: { names } = {}, constraints = [] }: ColumnDef): boolean {
  const type = stringsOf(names).at(-1) ?? '';
  const isIdentity = constraints.some((each) => 'Constraint' in each && each.Constraint.contype === 'CONSTR_IDENTITY');
  return isIdentity || /^(?:small|big)?serial[248]?$/.test(type);
}
