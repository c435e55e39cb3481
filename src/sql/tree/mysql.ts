/**
 * What MySQL's statements say that PostgreSQL's grammar has no words for. A node that has such a part is PostgreSQL's node with one more
 * property: what does not know it reads a plain INSERT, UPDATE or call.
 */
import type { ColumnDef, DeleteStmt, FuncCall, InsertStmt, Node, TypeName, UpdateStmt } from '@pgsql/types';
import { nameNodes } from './expression.ts';

/** What becomes of a row that has the value of another one in any unique key. */
export type OnDuplicate =
  /** ON DUPLICATE KEY UPDATE: the row that is there is changed. `excluded` is the one that was to be inserted. */
  | { readonly kind: 'update'; readonly targetList: Node[] }
  /** INSERT IGNORE: the row is left out; other errors of values are put right. */
  | { readonly kind: 'ignore' }
  /** REPLACE: the rows in the way are deleted first. */
  | { readonly kind: 'replace' };

export interface MysqlInsert extends InsertStmt {
  onDuplicate?: OnDuplicate;
}

/** ORDER BY and LIMIT of UPDATE and DELETE: in which order rows are visited, and how many. */
export interface VisitedRows {
  readonly sortClause: Node[];
  /** `undefined`: all. */
  readonly limitCount: Node | undefined;
}

export interface RowChange {
  visited?: VisitedRows;
  /**
   * The rows of this item of FROM or USING are written to. `relation` is its table: an outer join may leave the item without a row, so it
   * stays among the others.
   */
  writtenItem?: string;
}

export type MysqlUpdate = UpdateStmt & RowChange;

export type MysqlDelete = DeleteStmt & RowChange;

/**
 * Types that PostgreSQL lacks. Modifiers: the labels of an enum, the lengths of binary and varbinary, precision and scale of decimal
 * unsigned, the width 1 of TINYINT(1), which is all that tells BOOLEAN from other numbers.
 */
export type MysqlTypeName =
  | 'tinyint'
  | 'tinyint unsigned'
  | 'smallint unsigned'
  | 'mediumint'
  | 'mediumint unsigned'
  | 'int unsigned'
  | 'bigint unsigned'
  | 'year'
  | 'float unsigned'
  | 'double unsigned'
  | 'decimal unsigned'
  | 'enum'
  | 'tinytext'
  | 'mediumtext'
  | 'longtext'
  | 'tinyblob'
  | 'blob'
  | 'mediumblob'
  | 'longblob'
  | 'varbinary'
  | 'binary';

export interface MysqlType extends TypeName {
  own?: MysqlTypeName;
}

/** Where ALTER TABLE puts a new column: before all others, or behind this one. */
export type ColumnPlace = { readonly kind: 'first' } | { readonly kind: 'after'; readonly column: string };

export interface MysqlColumn extends ColumnDef {
  /** ON UPDATE CURRENT_TIMESTAMP: the value that an UPDATE gives to it. */
  onUpdate?: Node;
  place?: ColumnPlace;
}

/** What MySQL has operators, variables or words for, as calls: `args` are the values that it is computed of. */
export type MysqlCall =
  /** `IF(condition, a, b)`. */
  | { readonly kind: 'if' }
  /** `a DIV b`. */
  | { readonly kind: 'div' }
  /** `a XOR b`. */
  | { readonly kind: 'xor' }
  /** `BINARY x`: the bytes. */
  | { readonly kind: 'binary' }
  /** Bytes as a text. */
  | { readonly kind: 'text of bytes' }
  /** `UNIX_TIMESTAMP(?)`: seconds, with their parts. */
  | { readonly kind: 'epoch' }
  /** `TRIM(side what FROM x)`: whole strings, where PostgreSQL removes any of the characters. */
  | { readonly kind: 'trim'; readonly side: 'both' | 'leading' | 'trailing' }
  /** `@@name`. */
  | { readonly kind: 'variable'; readonly name: string; readonly isGlobal: boolean }
  /** What the session begins with. */
  | { readonly kind: 'default of variable'; readonly name: string }
  /** `SET name = x`: the value. */
  | { readonly kind: 'set variable'; readonly name: string }
  /** `@name`, the name in lower case. */
  | { readonly kind: 'user variable'; readonly name: string }
  /** `@name := x`: the value. */
  | { readonly kind: 'set user variable'; readonly name: string };

export interface MysqlFuncCall extends FuncCall {
  own?: MysqlCall;
}

export function mysqlCall(own: MysqlCall, args: readonly Node[], at: number): Node {
  const call: MysqlFuncCall = {
    funcname: nameNodes([own.kind]),
    ...(args.length === 0 ? {} : { args: [...args] }),
    funcformat: 'COERCE_EXPLICIT_CALL',
    location: at,
    own,
  };
  return { FuncCall: call };
}
