/** One column of CREATE TABLE or ALTER TABLE. */
import type { Constraint, Node } from '@pgsql/types';

import type { Column } from '../catalog/relation.ts';
import { Sequence, sequenceOptions } from '../catalog/sequence.ts';
import { typeOfNode } from '../expressions/index.ts';
import { mysqlColumnTypes } from '../mysql/column-types.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import { sequenceName } from '../run/sequence-name.ts';
import { notSupported, SqlError, type SqlType, types, modifierOf } from '../model/index.ts';
import type { MysqlColumn, MysqlType, MysqlTypeName } from '../tree/mysql.ts';
import type { Changes } from './changes.ts';
import { withDeferral } from './deferral.ts';
import { chooseName, isTakenIn } from './names.ts';
import { givenSequenceOptions } from './sequence.ts';

export interface ColumnDefinition {
  readonly column: Column;
  /** Those that are the table's business: keys, checks. */
  readonly constraints: readonly Constraint[];
}

export interface ColumnPlace {
  readonly schema: string;
  readonly table: string;
  readonly cell: number;
}

const serialTypes: ReadonlyMap<string, 'int2' | 'int4' | 'int8'> = new Map([
  ['smallserial', 'int2'],
  ['serial2', 'int2'],
  ['serial', 'int4'],
  ['serial4', 'int4'],
  ['bigserial', 'int8'],
  ['serial8', 'int8'],
]);

export function defineColumn(
  definition: MysqlColumn,
  place: ColumnPlace,
  planning: Planning,
  changes: Changes,
): ColumnDefinition {
  const { colname: name = '', typeName } = definition;
  if (typeName === undefined) throw notSupported(`the column ${name} without a type`);
  const serial = serialTypes.get(stringsOf(typeName.names).at(-1) ?? '');
  const { type, modifier, mysqlType } = columnType(typeName, planning, serial);
  const constraints = withDeferral(
    (definition.constraints ?? []).flatMap((node) => ('Constraint' in node ? [node.Constraint] : [])),
  );
  const identity = constraints.find(({ contype }) => contype === 'CONSTR_IDENTITY');
  const sequence =
    serial !== undefined || identity !== undefined
      ? ownSequence(name, type, identity?.options, place, planning, changes)
      : null;
  const isPrimary = constraints.some(({ contype }) => contype === 'CONSTR_PRIMARY');
  const defaultOf = constraints.find(({ contype }) => contype === 'CONSTR_DEFAULT')?.raw_expr ?? null;
  const column: Column = {
    name,
    type,
    modifier,
    cell: place.cell,
    isNotNull: isPrimary || sequence !== null || constraints.some(({ contype }) => contype === 'CONSTR_NOTNULL'),
    default:
      serial !== undefined && sequence !== null
        ? nextValueNode(sequence)
        : isNullConstant(defaultOf)
          ? null
          : defaultOf,
    generated: constraints.find(({ contype }) => contype === 'CONSTR_GENERATED')?.raw_expr ?? null,
    identity: identity === undefined ? null : identity.generated_when === 'a' ? 'always' : 'by default',
    sequence,
    mysqlType,
    onUpdate: definition.onUpdate ?? null,
  };
  return {
    column,
    constraints: constraints.filter(isTableConstraint),
  };
}

function isTableConstraint({ contype }: Constraint): boolean {
  return (
    contype === 'CONSTR_PRIMARY' ||
    contype === 'CONSTR_UNIQUE' ||
    contype === 'CONSTR_CHECK' ||
    contype === 'CONSTR_FOREIGN'
  );
}

export function columnType(
  typeName: MysqlType,
  planning: Planning,
  serial?: 'int2' | 'int4' | 'int8',
): { readonly type: SqlType; readonly modifier: number; readonly mysqlType: MysqlTypeName | null } {
  if (serial !== undefined) return { type: types[serial], modifier: -1, mysqlType: null };
  const { own: name } = typeName;
  if (name === undefined) {
    const scope = { type: (named: string, position: number) => planning.type(named, position) };
    return { ...typeOfNode(typeName, scope), mysqlType: null };
  }
  const own = mysqlColumnTypes[name];
  const constants = (typeName.typmods ?? []).flatMap((node) => ('A_Const' in node ? [node.A_Const] : []));
  if (own.storage === 'enum') {
    const labels = constants.map(({ sval }) => sval?.sval ?? '');
    return {
      type: { name: 'enum', oid: planning.catalog.newId(), labels, title: 'enum' },
      modifier: -1,
      mysqlType: name,
    };
  }
  const type = own.storage === 'array' ? types.text : types[own.storage];
  const numbers = constants.map(({ ival }) => ival?.ival ?? 0);
  const hasLength = own.storage === 'numeric' && numbers.length > 0;
  const hasWidth = name === 'tinyint' || name === 'varbinary' || name === 'binary';
  const width = hasWidth ? (numbers[0] ?? -1) : -1;
  return { type, modifier: hasLength ? modifierOf(type, numbers) : width, mysqlType: name };
}

export function ownSequence(
  column: string,
  type: SqlType,
  options: readonly Node[] | undefined,
  { schema, table }: ColumnPlace,
  planning: Planning,
  changes: Changes,
): Sequence {
  const { catalog } = planning;
  const name = chooseName(table, [column], 'seq', isTakenIn(catalog, schema));
  const size = type.name === 'int2' || type.name === 'int8' ? type.name : 'int4';
  if (!['int2', 'int4', 'int8', 'uint8'].includes(type.name)) {
    throw new SqlError('22023', 'identity column type must be smallint, integer, or bigint');
  }
  const sequence = new Sequence(catalog.newId(), schema, name, sequenceOptions(size, givenSequenceOptions(options)));
  changes.did(catalog.put(sequence));
  return sequence;
}

/** `nextval('t_id_seq')`. */
function nextValueNode(sequence: Sequence): Node {
  return {
    FuncCall: {
      funcname: [{ String: { sval: 'nextval' } }],
      args: [{ A_Const: { sval: { sval: sequenceName(sequence) } } }],
      funcformat: 'COERCE_EXPLICIT_CALL',
    },
  };
}

function isNullConstant(node: Node | null): boolean {
  return node !== null && 'A_Const' in node && node.A_Const.isnull === true;
}
