/** Errors of constraints as the two servers word them: drivers and ORMs read code, constraint and detail. */
import { indexPartText } from '../catalog/system/pg-names.ts';
import { columnAtCell, type ForeignKey, type Index, type Table } from '../catalog/relation.ts';
import { type Dialect, SqlError, formatText, types, type SqlValue } from '../model/index.ts';

type Values = readonly SqlValue[];

export interface KeyReference {
  readonly key: ForeignKey;
  readonly child: Table;
  readonly parent: Table;
}

export interface ConstraintErrors {
  /** @param key the values of the index's parts */
  readonly duplicateKey: (table: Table, index: Index, key: Values) => SqlError;
  readonly notNull: (table: Table, column: string, values: Values) => SqlError;
  readonly checkFailed: (table: Table, constraint: string, values: Values) => SqlError;
  /** Of a child row without a parent. */
  readonly missingParent: (key: KeyReference, values: Values) => SqlError;
  /** Of a parent row that has children. */
  readonly stillReferenced: (key: KeyReference, values: Values) => SqlError;
}

const shownCharactersMax = 64;

export const constraintErrors: Readonly<Record<Dialect, ConstraintErrors>> = {
  postgres: {
    duplicateKey(table, index, key) {
      const names = index.parts.map((_part, i) => partText(table, index, i));
      const texts = keyTexts(index, key, 'postgres');
      const detail = `Key (${names.join(', ')})=(${texts.join(', ')}) already exists.`;
      const message = `duplicate key value violates unique constraint "${index.name}"`;
      return new SqlError('23505', message, { ...placeOf(table), constraint: index.name, detail });
    },
    notNull(table, column, values) {
      const message = `null value in column "${column}" of relation "${table.name}" violates not-null constraint`;
      return new SqlError('23502', message, { ...placeOf(table), column, detail: failingRow(table, values) });
    },
    checkFailed(table, constraint, values) {
      const message = `new row for relation "${table.name}" violates check constraint "${constraint}"`;
      return new SqlError('23514', message, { ...placeOf(table), constraint, detail: failingRow(table, values) });
    },
    missingParent({ child, parent, key: { cells, name: constraint } }, values) {
      const detail = `Key ${described(child, cells, values)} is not present in table "${parent.name}".`;
      const message = `insert or update on table "${child.name}" violates foreign key constraint "${constraint}"`;
      return new SqlError('23503', message, { ...placeOf(child), constraint, detail });
    },
    stillReferenced({ child, parent, key: { parentCells, name: constraint } }, values) {
      const detail = `Key ${described(parent, parentCells, values)} is still referenced from table "${child.name}".`;
      const message = `update or delete on table "${parent.name}" violates foreign key constraint "${constraint}" on table "${child.name}"`;
      return new SqlError('23503', message, { ...placeOf(child), constraint, detail });
    },
  },
  mysql: {
    duplicateKey(table, index, key) {
      const name = `${table.name}.${index.isPrimary ? 'PRIMARY' : index.name}`;
      const message = `Duplicate entry '${keyTexts(index, key, 'mysql').join('-')}' for key '${name}'`;
      return new SqlError('23505', message, { ...placeOf(table), constraint: index.name, mysqlNumber: 1062 });
    },
    notNull: ({ name: table }, column) =>
      new SqlError('23502', `Column '${column}' cannot be null`, { mysqlNumber: 1048, column, table }),
    checkFailed: (_table, constraint) =>
      new SqlError('23514', `Check constraint '${constraint}' is violated.`, { mysqlNumber: 3819, constraint }),
    missingParent: (reference) => brokenReference('Cannot add or update a child row', reference, 1452),
    stillReferenced: (reference) => brokenReference('Cannot delete or update a parent row', reference, 1451),
  },
};

/** In MySQL's words, without its actions. */
export function mysqlKeyText({ child, parent, key }: KeyReference): string {
  const names = (table: Table, cells: readonly number[]): string =>
    cells.map((cell) => `\`${columnAtCell(table, cell)?.name ?? ''}\``).join(', ');
  const columns = `FOREIGN KEY (${names(child, key.cells)}) REFERENCES \`${parent.name}\` (${names(parent, key.parentCells)})`;
  return `\`${child.name}\`, CONSTRAINT \`${key.name}\` ${columns}`;
}

/** With the whole key, as `SHOW CREATE TABLE` has it: ORMs read its columns and tables. The server puts the name of the database before the child's. */
function brokenReference(what: string, reference: KeyReference, mysqlNumber: 1451 | 1452): SqlError {
  const { child, key } = reference;
  const actions = `${actionText('DELETE', key.onDelete)}${actionText('UPDATE', key.onUpdate)}`;
  const message = `${what}: a foreign key constraint fails (${mysqlKeyText(reference)}${actions})`;
  return new SqlError('23503', message, { ...placeOf(child), constraint: key.name, mysqlNumber });
}

/** RESTRICT is not shown; NO ACTION is the same here. */
function actionText(event: 'DELETE' | 'UPDATE', action: ForeignKey['onDelete']): string {
  return action === 'restrict' || action === 'no action' ? '' : ` ON ${event} ${action.toUpperCase()}`;
}

function placeOf({ schema, name }: Table): { readonly schema: string; readonly table: string } {
  return { schema, table: name };
}

function described(table: Table, cells: readonly number[], values: Values): string {
  const names = cells.map((cell) => columnAtCell(table, cell)?.name ?? '');
  const texts = cells.map((cell) => shown(values[cell] ?? null, columnAtCell(table, cell)?.type));
  return `(${names.join(', ')})=(${texts.join(', ')})`;
}

function keyTexts({ parts }: Index, key: Values, dialect: Dialect): string[] {
  return parts.map(({ type }, i) => {
    const value = key[i] ?? null;
    return value === null ? 'null' : formatText(value, type, dialect);
  });
}

/** `BuildIndexValueDescription` in genam.c. An expression that the catalog cannot write is called so. */
function partText(table: Table, index: Index, i: number): string {
  try {
    return indexPartText(table, index, i, true);
  } catch (error) {
    if (error instanceof SqlError) return 'expression';
    throw error;
  }
}

function failingRow(table: Table, values: Values): string {
  const texts = table.columns.map(({ cell, type }) => shown(values[cell] ?? null, type));
  return `Failing row contains (${texts.join(', ')}).`;
}

function shown(value: SqlValue, type = types.text): string {
  if (value === null) return 'null';
  const text = formatText(value, type, 'postgres');
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text;
}
