/** pg_constraint: primary and unique keys, foreign keys, checks; and their text. */
import type { Node } from '@pgsql/types';
import { someNode, stringsOf } from '../../plan/tree.ts';
import type { SqlArray } from '../../model/index.ts';
import type { Catalog } from '../catalog.ts';
import { quoteName } from '../name.ts';
import { type Column, columnAtCell, type Deferral, type ForeignKey, type Index, type Table } from '../relation.ts';
import { expressionText, prettyText } from './expression-text.ts';
import { indexId, schemaId } from './pg-names.ts';
import type { VirtualRow } from './virtual.ts';

/** Positions from 1 of the columns with these cells; 0 for expressions. */
export function positions(table: Table | undefined, cells: readonly number[]): SqlArray {
  const elements = cells.map((cell) => (table?.columns.findIndex((column) => column.cell === cell) ?? -1) + 1);
  return { kind: 'array', elements };
}

function mentioned(table: Table, expression: Node): SqlArray {
  const isMentioned = ({ name }: Column): boolean =>
    someNode(expression, (node) => 'ColumnRef' in node && stringsOf(node.ColumnRef.fields).at(-1) === name);
  return positions(
    table,
    table.columns.filter(isMentioned).map(({ cell }) => cell),
  );
}

const actionLetters = { 'no action': 'a', restrict: 'r', cascade: 'c', 'set null': 'n', 'set default': 'd' } as const;

/** Rows of pg_constraint. */
export function* constraintRows(table: Table, catalog: Catalog): Iterable<VirtualRow> {
  const base = {
    connamespace: schemaId(table.schema),
    ...deferralRow('never'),
    convalidated: true,
    conrelid: table.id,
    contypid: 0,
    conindid: 0,
    conparentid: 0,
    confrelid: 0,
    confupdtype: ' ',
    confdeltype: ' ',
    confmatchtype: ' ',
    conislocal: true,
  };
  for (const index of table.indexes.filter(({ isConstraint }) => isConstraint)) {
    const conkey = positions(
      table,
      index.parts.map(({ cell }) => cell),
    );
    yield {
      ...base,
      oid: indexConstraintId(index),
      conname: index.name,
      contype: index.isPrimary ? 'p' : 'u',
      conindid: indexId(index),
      ...deferralRow(index.deferral),
      conkey,
    };
  }
  for (const [i, key] of table.foreignKeys.entries()) yield { ...base, ...foreignKeyRow(table, key, i, catalog) };
  for (const [i, { name, expression, isValidated }] of table.checks.entries()) {
    yield {
      ...base,
      oid: checkId(table, i),
      conname: name,
      contype: 'c',
      convalidated: isValidated,
      conkey: mentioned(table, expression),
      conbin: expressionText(expression, undefined, table),
    };
  }
}

function deferralRow(deferral: Deferral): { condeferrable: boolean; condeferred: boolean } {
  return { condeferrable: deferral !== 'never', condeferred: deferral === 'initially deferred' };
}

function foreignKeyRow(table: Table, key: ForeignKey, i: number, catalog: Catalog): VirtualRow {
  const parent = catalog.tableById(key.parent);
  return {
    oid: foreignKeyId(table, i),
    conname: key.name,
    contype: 'f',
    ...deferralRow(key.deferral),
    convalidated: key.isValidated,
    confrelid: key.parent,
    confupdtype: actionLetters[key.onUpdate],
    confdeltype: actionLetters[key.onDelete],
    confmatchtype: 's',
    conkey: positions(table, key.cells),
    confkey: positions(parent, key.parentCells),
  };
}

/** As `pg_get_constraintdef` prints it; `undefined`: there is none with this number. */
export function constraintDefinition(catalog: Catalog, oid: number, isPretty: boolean): string | undefined {
  for (const table of catalog.tables()) {
    const index = table.indexes.find((each) => each.isConstraint && indexConstraintId(each) === oid);
    if (index !== undefined) {
      const nulls = index.nullsAreEqual ? ' NULLS NOT DISTINCT' : '';
      const cells = index.parts.map(({ cell }) => cell);
      const kind = index.isPrimary ? 'PRIMARY KEY' : `UNIQUE${nulls}`;
      return `${kind} (${columnNames(table, cells)})${deferralTexts[index.deferral]}`;
    }
    const key = table.foreignKeys.find((_, i) => foreignKeyId(table, i) === oid);
    if (key !== undefined) return foreignKeyDefinition(table, key, catalog);
    const check = table.checks.find((_, i) => checkId(table, i) === oid);
    if (check === undefined) continue;
    const text = expressionText(check.expression, undefined, table) ?? '';
    return `CHECK (${isPretty ? prettyText(text) : text})${check.isValidated ? '' : ' NOT VALID'}`;
  }
  return undefined;
}

function foreignKeyDefinition(table: Table, key: ForeignKey, catalog: Catalog): string {
  const parent = catalog.tableById(key.parent);
  if (parent === undefined) return '';
  const schema = parent.schema === 'public' ? '' : `${quoteName(parent.schema)}.`;
  const references = `${schema}${quoteName(parent.name)}(${columnNames(parent, key.parentCells)})`;
  const actions =
    (key.onUpdate === 'no action' ? '' : ` ON UPDATE ${key.onUpdate.toUpperCase()}`) +
    (key.onDelete === 'no action' ? '' : ` ON DELETE ${key.onDelete.toUpperCase()}`);
  const after = `${deferralTexts[key.deferral]}${key.isValidated ? '' : ' NOT VALID'}`;
  return `FOREIGN KEY (${columnNames(table, key.cells)}) REFERENCES ${references}${actions}${after}`;
}

const deferralTexts: Readonly<Record<Deferral, string>> = {
  never: '',
  'initially immediate': ' DEFERRABLE',
  'initially deferred': ' DEFERRABLE INITIALLY DEFERRED',
};

function columnNames(table: Table, cells: readonly number[]): string {
  return cells.map((cell) => quoteName(columnAtCell(table, cell)?.name ?? '')).join(', ');
}

function indexConstraintId(index: Index): number {
  return indexId(index) + 500_000;
}

function checkId(table: Table, i: number): number {
  return table.id * 1000 + i;
}

function foreignKeyId(table: Table, i: number): number {
  return table.id * 1000 + 500 + i;
}
