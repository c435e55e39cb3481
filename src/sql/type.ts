/** The types of SQL, with what both protocols need to name them. */

/** Names are PostgreSQL's internal ones (`int4`, `timestamptz`); MySQL's map onto them or stand beside them. */
export interface SqlType {
  readonly name: TypeName;
  /** PostgreSQL's object number. */
  readonly oid: number;
  /** Arrays: the type of the elements. */
  readonly element?: SqlType;
  /** Enums: the labels in order. */
  readonly labels?: readonly string[];
}

export type TypeName =
  | 'bool'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'uint8' // MySQL: bigint unsigned
  | 'numeric'
  | 'float4'
  | 'float8'
  | 'text'
  | 'varchar'
  | 'bpchar'
  | 'name'
  | 'oid'
  | 'bytea'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'interval'
  | 'uuid'
  | 'json'
  | 'jsonb'
  | 'array'
  | 'enum'
  | 'unknown'
  | 'void';
