/**
 * The names that a DDL statement makes. Two that make the same one at a time conflict in a unique index of PostgreSQL's catalog: the later one waits for the
 * other's transaction, and then fails with 23505, IF NOT EXISTS or not.
 */
import type { ColumnDef, CreateStmt, Node } from '@pgsql/types';
import { engineRules } from '../model/index.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import type { NewName } from '../statement.ts';

const classIndex = 'pg_class_relname_nsp_index';
const typeIndex = 'pg_type_typname_nsp_index';

/** In the order in which PostgreSQL enters them. */
export function ddlNames(node: Node, planning: Planning): NewName[] {
  if (!engineRules[planning.dialect].entersNames) return [];
  const relation = (schema: string | undefined, name = '', index = classIndex): NewName => {
    const place = planning.creationSchema(schema);
    return { name: `${place}.${name}`, index, isTaken: () => planning.catalog.isTaken(place, name) };
  };
  if ('CreateStmt' in node) {
    const { schemaname, relname } = node.CreateStmt.relation ?? {};
    const sequences = sequenceColumns(node.CreateStmt).map((column) =>
      relation(schemaname, `${relname}_${column}_seq`),
    );
    return [...sequences, relation(schemaname, relname, typeIndex)];
  }
  if ('CreateTableAsStmt' in node) {
    const { schemaname, relname } = node.CreateTableAsStmt.into?.rel ?? {};
    return [relation(schemaname, relname, typeIndex)];
  }
  if ('ViewStmt' in node) return [relation(node.ViewStmt.view?.schemaname, node.ViewStmt.view?.relname, typeIndex)];
  if ('CreateSeqStmt' in node)
    return [relation(node.CreateSeqStmt.sequence?.schemaname, node.CreateSeqStmt.sequence?.relname)];
  if ('IndexStmt' in node && node.IndexStmt.idxname !== undefined)
    return [relation(node.IndexStmt.relation?.schemaname, node.IndexStmt.idxname)];
  if ('CreateEnumStmt' in node) {
    const names = stringsOf(node.CreateEnumStmt.typeName);
    const place = planning.creationSchema(names.at(-2));
    const name = names.at(-1) ?? '';
    const isTaken = (): boolean => planning.catalog.type(place, name) !== undefined;
    return [{ name: `${place}.${name}`, index: typeIndex, isTaken }];
  }
  if ('CreateSchemaStmt' in node) {
    const { schemaname = '' } = node.CreateSchemaStmt;
    const isTaken = (): boolean => planning.catalog.hasSchema(schemaname);
    return [{ name: `schema ${schemaname}`, index: 'pg_namespace_nspname_index', isTaken }];
  }
  return [];
}

function sequenceColumns({ tableElts = [] }: CreateStmt): string[] {
  return tableElts.flatMap((element) =>
    'ColumnDef' in element && hasSequence(element.ColumnDef) ? [element.ColumnDef.colname ?? ''] : [],
  );
}

function hasSequence({ typeName, constraints = [] }: ColumnDef): boolean {
  const type = stringsOf(typeName?.names).at(-1) ?? '';
  const isIdentity = constraints.some((each) => 'Constraint' in each && each.Constraint.contype === 'CONSTR_IDENTITY');
  return isIdentity || /^(?:small|big)?serial[248]?$/.test(type);
}
