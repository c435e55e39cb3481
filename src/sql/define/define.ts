/** DDL: CREATE, ALTER, DROP, COMMENT. What a statement changed is undone when it fails, and when its transaction rolls back. */
import type {
  CommentStmt,
  CreateEnumStmt,
  CreateExtensionStmt,
  CreateSchemaStmt,
  CreateTableAsStmt,
  Node,
  ViewStmt,
} from '@pgsql/types';
import { assert } from '../../base/index.ts';
import {
  notSupported,
  SqlError,
  type StatementView,
  type Waiting,
  arrayOf,
  type SqlType,
  types,
  type SqlValue,
} from '../model/index.ts';

import type { Planning } from '../plan/planning.ts';
import { newFrame } from '../plan/query.ts';
import { planSelect } from '../plan/root.ts';
import { stringsOf } from '../plan/tree.ts';
import type { DdlStatement } from '../statement.ts';
import type { Table } from '../catalog/relation.ts';
import { alterTable } from './alter-table.ts';
import { alterEnum, alterSequence } from './alter-type.ts';
import { Changes, type Purpose } from './changes.ts';
import { createDomain } from './create-domain.ts';
import { createIndex } from './create-index.ts';
import { createTable, createTableFor, ownSchema } from './create-table.ts';
import { ddlLocks, queryLocks } from './ddl-locks.ts';
import { ddlNames } from './ddl-names.ts';
import { drop, rangeOf } from './drop.ts';
import { lockInSteps } from './metadata-steps.ts';
import { isRelationTaken } from './names.ts';
import { rename } from './rename.ts';
import { createSequence } from './sequence.ts';
import { type Execution, running } from '../execution.ts';

/** Plans anew when it runs: the catalog may have changed since it was prepared. */
export type NewPlanning = () => Planning;

/** `undefined`: the tree is not DDL. */
export function defineStatement(node: Node, newPlanning: NewPlanning): DdlStatement | undefined {
  const selectInto =
    'SelectStmt' in node && node.SelectStmt.intoClause !== undefined ? node.SelectStmt.intoClause : undefined;
  if (selectInto !== undefined && 'SelectStmt' in node) {
    const { intoClause: _into, ...query } = node.SelectStmt;
    return createTableAs(
      { query: { SelectStmt: query }, into: selectInto, objtype: 'OBJECT_TABLE' },
      'SELECT INTO',
      newPlanning,
    );
  }
  if ('CreateTableAsStmt' in node) return createTableAs(node.CreateTableAsStmt, 'CREATE TABLE AS', newPlanning);
  const made = definitionOf(node);
  return made === undefined ? undefined : ddl(node, made.command, newPlanning, made.apply);
}

/** What cannot be one of several statements of a transaction. */
function outsideBlocks(node: Node, command: string): string | null {
  const isConcurrent =
    ('IndexStmt' in node && node.IndexStmt.concurrent === true) ||
    ('DropStmt' in node && node.DropStmt.concurrent === true);
  if (isConcurrent) return `${command} CONCURRENTLY`;
  return 'VacuumStmt' in node && node.VacuumStmt.is_vacuumcmd === true ? command : null;
}

function isOfTemporary(node: Node): boolean {
  if ('CreateStmt' in node) return node.CreateStmt.relation?.relpersistence === 't';
  if (!('DropStmt' in node) || node.DropStmt.removeType !== 'OBJECT_TABLE') return false;
  const { objects = [] } = node.DropStmt;
  return objects.every((object) => 'List' in object && stringsOf(object.List.items).at(-2) === 'pg_temp');
}

type Apply = (
  planning: Planning,
  changes: Changes,
  execution: Execution,
  view: StatementView,
) => Waiting<void> | undefined;

function ddl(node: Node, command: string, newPlanning: NewPlanning, apply: Apply): DdlStatement {
  const isTemporary = isOfTemporary(node);
  return {
    kind: 'ddl',
    command,
    isTemporary,
    outsideBlocks: outsideBlocks(node, command),
    locks: () => ddlLocks(node, newPlanning()),
    names: () => (isTemporary ? [] : ddlNames(node, newPlanning())),
    makesNamesFirst: 'CreateStmt' in node,
    *run(execution, view) {
      const attempt = (purpose: Purpose): void => {
        const tried = new Changes(purpose);
        try {
          const steps = apply(newPlanning(), tried, execution, view);
          // What it would wait for it waits for when the changes are to stay.
          if (steps?.next().done === false) steps.return();
        } finally {
          tried.undo();
        }
      };
      if (view.metadata !== undefined) yield* lockInSteps(node, view.metadata, newPlanning, attempt);
      const changes = new Changes('to stay');
      try {
        const steps = apply(newPlanning(), changes, execution, view);
        if (steps !== undefined) yield* steps;
      } catch (error) {
        changes.undo();
        throw error;
      }
      return { undo: changes.undo, rowCount: 0, notices: changes.notices };
    },
  };
}

interface Definition {
  readonly command: string;
  readonly apply: (
    planning: Planning,
    changes: Changes,
    execution: Execution,
    view: StatementView,
  ) => Waiting<void> | undefined;
}

function definitionOf(node: Node): Definition | undefined {
  const simple = (
    command: string,
    apply: (planning: Planning, changes: Changes, execution: Execution) => unknown,
  ): Definition => ({
    command,
    apply: (planning, changes, execution) => void apply(planning, changes, execution),
  });
  if ('CreateStmt' in node) return simple('CREATE TABLE', (p, c, e) => createTable(node.CreateStmt, p, c, e));
  if ('IndexStmt' in node) return simple('CREATE INDEX', (p, c, e) => createIndex(node.IndexStmt, p, c, e));
  if ('CreateSeqStmt' in node) return simple('CREATE SEQUENCE', (p, c) => createSequence(node.CreateSeqStmt, p, c));
  if ('CreateEnumStmt' in node) return simple('CREATE TYPE', (p, c) => createEnum(node.CreateEnumStmt, p, c));
  if ('CreateDomainStmt' in node) return simple('CREATE DOMAIN', (p, c) => createDomain(node.CreateDomainStmt, p, c));
  if ('CreateExtensionStmt' in node)
    return simple('CREATE EXTENSION', (p, c) => createExtension(node.CreateExtensionStmt, p, c));
  if ('CreateSchemaStmt' in node) return simple('CREATE SCHEMA', (p, c) => createSchema(node.CreateSchemaStmt, p, c));
  if ('ViewStmt' in node) return simple('CREATE VIEW', (p, c, e) => createView(node.ViewStmt, p, c, e));
  if ('DropStmt' in node)
    return simple(dropCommand(node.DropStmt.removeType), (p, c, e) => drop(node.DropStmt, p, c, e));
  if ('RenameStmt' in node) return simple('ALTER TABLE', (p, c) => rename(node.RenameStmt, p, c));
  if ('AlterEnumStmt' in node) return simple('ALTER TYPE', (p, c) => alterEnum(node.AlterEnumStmt, p, c));
  if ('AlterSeqStmt' in node) return simple('ALTER SEQUENCE', (p, c) => alterSequence(node.AlterSeqStmt, p, c));
  if ('CommentStmt' in node) return simple('COMMENT', (p, c) => comment(node.CommentStmt, p, c));
  if ('AlterTableStmt' in node) {
    return {
      command: 'ALTER TABLE',
      apply: (p, c, execution, view) => alterTable(node.AlterTableStmt, p, c, execution, view),
    };
  }
  const accepted = acceptedCommand(node);
  return accepted === undefined ? undefined : simple(accepted, () => undefined);
}

/** Nothing depends on them here: one user, who may do everything. */
function acceptedCommand(node: Node): string | undefined {
  if ('GrantStmt' in node) return node.GrantStmt.is_grant === true ? 'GRANT' : 'REVOKE';
  if ('AlterOwnerStmt' in node) return 'ALTER TABLE';
  if ('VacuumStmt' in node) return node.VacuumStmt.is_vacuumcmd === true ? 'VACUUM' : 'ANALYZE';
  if ('ReindexStmt' in node) return 'REINDEX';
  return undefined;
}

function dropCommand(kind: string | undefined): string {
  return `DROP ${(kind ?? '').replace('OBJECT_', '').replace('MATVIEW', 'MATERIALIZED VIEW').replaceAll('_', ' ')}`;
}

function createEnum({ typeName, vals }: CreateEnumStmt, planning: Planning, changes: Changes): void {
  const names = stringsOf(typeName);
  const name = names.at(-1) ?? '';
  const schema = planning.creationSchema(names.at(-2));
  if (planning.catalog.type(schema, name) !== undefined) throw new SqlError('42710', `type "${name}" already exists`);
  const labels = stringsOf(vals);
  const twice = labels.find((label, i) => labels.indexOf(label) !== i);
  if (twice !== undefined)
    throw new SqlError('23505', 'duplicate key value violates unique constraint "pg_enum_typid_label_index"');
  const type: SqlType = { name: 'enum', oid: planning.catalog.newId(), labels, title: name };
  // The array type has the number after it.
  planning.catalog.newId();
  changes.did(planning.catalog.putType({ schema, name, type, arrayType: arrayOf(type) }));
}

/** What it brings is there without it. */
function createExtension(
  { extname: name = '', if_not_exists: ifNotExists = false }: CreateExtensionStmt,
  { catalog }: Planning,
  changes: Changes,
): void {
  if (!catalog.hasExtension(name)) {
    changes.did(catalog.createExtension(name));
    return;
  }
  if (!ifNotExists) throw new SqlError('42710', `extension "${name}" already exists`);
  changes.notice('42710', `extension "${name}" already exists, skipping`);
}

function createSchema(
  { schemaname = '', if_not_exists: ifNotExists = false, schemaElts }: CreateSchemaStmt,
  planning: Planning,
  changes: Changes,
): void {
  if (schemaElts !== undefined) throw notSupported('elements of CREATE SCHEMA');
  if (!planning.catalog.hasSchema(schemaname)) {
    changes.did(planning.catalog.createSchema(schemaname));
    return;
  }
  if (!ifNotExists) throw new SqlError('42P06', `schema "${schemaname}" already exists`);
  changes.notice('42P06', `schema "${schemaname}" already exists, skipping`);
}

function createView(
  { view = {}, query, aliases, replace = false }: ViewStmt,
  planning: Planning,
  changes: Changes,
  execution: Execution,
): void {
  assert(query !== undefined && 'SelectStmt' in query, 'a view has a query');
  const planned = planSelect(query.SelectStmt, planning);
  const name = view.relname ?? '';
  const isDeclared = view.relpersistence === 't' || view.schemaname === 'pg_temp';
  const isOwn = isDeclared || planning.readsTemporary;
  if (isOwn && !isDeclared) changes.notice('00000', `view "${name}" will be a temporary view`);
  const schema = isOwn ? ownSchema(planning, changes, execution) : planning.creationSchema(view.schemaname);
  const before = planning.catalog.relation(schema, name);
  if (isRelationTaken(planning, schema, name) && !(replace && before?.kind === 'view')) {
    throw new SqlError('42P07', `relation "${name}" already exists`);
  }
  const names = stringsOf(aliases);
  const columnNames = planned.columns.map((column, i) => names[i] ?? column.name);
  const twice = columnNames.find((each, i) => columnNames.indexOf(each) !== i);
  if (twice !== undefined) throw new SqlError('42701', `column "${twice}" specified more than once`);
  const id = before?.id ?? planning.catalog.newId();
  const reads = [...planning.relationsRead];
  const columns = planned.columns.map(({ type, modifier }, i) => ({
    name: columnNames[i] ?? '',
    type: type.name === 'unknown' ? types.text : type,
    modifier,
  }));
  changes.did(planning.catalog.put({ kind: 'view', id, schema, name, columnNames, columns, query, text: '', reads }));
}

/** Under the names that the catalog's views look for: `table public.t`, `column public.t.a`. */
function comment({ objtype, object, comment: text }: CommentStmt, planning: Planning, changes: Changes): void {
  const names = object === undefined ? [] : 'List' in object ? stringsOf(object.List.items) : stringsOf([object]);
  const kind = (objtype ?? '').replace('OBJECT_', '').toLowerCase();
  const indexed = kind === 'index' ? tableOfIndex(names, planning) : undefined;
  const isRelation = ['table', 'view', 'sequence', 'column'].includes(kind);
  const own = kind === 'column' ? names.slice(0, -1) : names;
  const relation = isRelation ? planning.relation(rangeOf(own)) : undefined;
  const full =
    indexed !== undefined
      ? [indexed.schema, names.at(-1) ?? '']
      : relation === undefined
        ? names
        : [relation.schema, relation.name, ...names.slice(own.length)];
  changes.did(
    planning.catalog.putComment(`${kind} ${full.join('.')}`, text === undefined || text === '' ? undefined : text),
  );
}

/** @throws SqlError 42704 */
function tableOfIndex(names: readonly string[], { catalog, searchPath }: Planning): Table {
  const [name = '', schema] = names.toReversed();
  for (const each of schema === undefined ? searchPath : [schema]) {
    const table = catalog.tables().find((own) => own.schema === each && own.indexes.some((one) => one.name === name));
    if (table !== undefined) return table;
  }
  throw new SqlError('42P01', `relation "${names.join('.')}" does not exist`);
}

function createTableAs(statement: CreateTableAsStmt, command: string, newPlanning: NewPlanning): DdlStatement {
  const { query, into, if_not_exists: ifNotExists = false, objtype } = statement;
  if (query === undefined || !('SelectStmt' in query) || into?.rel === undefined)
    throw notSupported('this CREATE TABLE AS');
  if (objtype === 'OBJECT_MATVIEW') throw notSupported('a materialized view');
  return {
    kind: 'ddl',
    command,
    outsideBlocks: null,
    isTemporary: into.rel.relpersistence === 't',
    locks: () => queryLocks(query.SelectStmt, newPlanning()),
    names: () => (into.rel?.relpersistence === 't' ? [] : ddlNames({ CreateTableAsStmt: statement }, newPlanning())),
    makesNamesFirst: false,
    *run(execution, view) {
      const changes = new Changes('to stay');
      const planning = newPlanning();
      try {
        const planned = planSelect(query.SelectStmt, planning);
        const table = createTableFor(
          into,
          stringsOf(into.colNames),
          planned.columns,
          ifNotExists,
          planning,
          changes,
          execution,
        );
        const run = running(execution, view);
        const rows = table === null || into.skipData === true ? [] : planned.rows(newFrame(0, run, null), run);
        let rowCount = 0;
        for (const row of rows) {
          assert(table !== null, 'rows have a table to go to');
          yield* view.insert(table.id, [...row] as SqlValue[], 'share');
          rowCount++;
        }
        const isFilled = table !== null && into.skipData !== true;
        return { undo: changes.undo, rowCount, notices: changes.notices, ...(isFilled ? { tag: 'SELECT' } : {}) };
      } catch (error) {
        changes.undo();
        throw error;
      }
    },
  };
}
