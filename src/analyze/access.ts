/** What a statement does to the rows of tables, in the words of the schema. */
import type { Table } from '../sql/index.ts';
import type { Value } from './application.ts';

/** The pseudo-column of a row that is there: INSERT and DELETE write it, everything that looks for a row reads it. */
export const existence = '(exists)';

export interface Access {
  readonly table: Table;
  readonly row: AccessedRow;
  /** Names of columns, and `existence`. */
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  /** Does it lock the row until the transaction ends without writing it? FOR UPDATE, FOR NO KEY UPDATE. */
  readonly locks: boolean;
  /** Is there a condition beside the key, so that it may find nothing although the row is there? */
  readonly mayMiss: boolean;
  readonly inserts: boolean;
  /** Of the rows that a statement itself names: columns that its conditions say to equal a value, where equal values are the same value. */
  readonly equals?: ReadonlyMap<string, Value>;
  /** Columns that have a value in all rows that it is of: conditions say so, or the INSERT gives it. Equal values are the same value. */
  readonly having?: ReadonlyMap<string, Value>;
  /** Columns that an UPDATE sets to more than the row has in them: `version = version + 1`. */
  readonly increases?: ReadonlySet<string>;
  /** Does an INSERT write the row of its key where there is one? ON CONFLICT DO UPDATE, REPLACE. */
  readonly overwrites?: boolean;
  /** Does an INSERT fail where a row has its key? */
  readonly creates?: boolean;
}

export type AccessedRow =
  /** The row that has these values in the columns of a unique index. */
  | {
      readonly kind: 'key';
      readonly index: string;
      readonly isPrimary: boolean;
      readonly values: readonly Value[];
      /** Where all are constants: equal for one row, other for another; `null`: it may be any row. */
      readonly constant: string | null;
      /** Is the key that of a sequence or a default, which the INSERT returns? Another INSERT has another. */
      readonly isGenerated?: true;
      /** Is it the one that the statement itself takes? Without it, the statement looks for none. */
      readonly isTaken?: true;
    }
  /** Whatever rows a condition finds: it reads all of the table. */
  | { readonly kind: 'condition' }
  /** Some rows that a condition finds, any of them: SKIP LOCKED. */
  | { readonly kind: 'taken' }
  /** One that is new, with a key that the statement does not say: a sequence, a default. */
  | { readonly kind: 'new' };

/** A row with a key of its own. */
export function isNewRow({ row, inserts }: Access): boolean {
  return row.kind === 'new' || (inserts && row.kind === 'key' && row.isGenerated === true);
}

/** A statement's accesses by moments: those of one moment see one state of the database, also at read committed. */
export type Moments = readonly (readonly Access[])[];

const placeOf = { new: '[new]', taken: '[some]', condition: '[*]' } as const;

/** `read accounts[id = from] {balance}`: for tests and people. Columns are sorted; the pseudo-column is left out unless it is written. */
export function formatAccess(
  { table, row, reads, writes, locks }: Access,
  valueText: (value: Value) => string,
): string {
  const names = (columns: ReadonlySet<string>): string =>
    `{${[...columns]
      .filter((name) => name !== existence)
      .toSorted()
      .join(' ')}}`;
  const verb = writes.size > 0 ? (reads.size > 0 ? 'update' : 'write') : locks ? 'lock' : 'read';
  const place = row.kind === 'key' ? `[${row.values.map(valueText).join(', ')}]` : placeOf[row.kind];
  const written = writes.size === 0 ? '' : ` -> ${writes.has(existence) ? '+' : ''}${names(writes)}`;
  return `${verb} ${table.name}${place} ${names(reads)}${written}`;
}
