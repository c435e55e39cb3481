import type { Node, SelectStmt } from '@pgsql/types';
import type { Statement } from '../statement.ts';

/** What a statement of MySQL's is. */
export type Parsed =
  | { readonly kind: 'tree'; readonly tree: Node }
  /** A SELECT for its effect (SET, DO): its rows are not sent. */
  | { readonly kind: 'effects'; readonly query: SelectStmt }
  /** A SELECT whose row goes into user variables. */
  | { readonly kind: 'into'; readonly query: SelectStmt; readonly variables: readonly string[] }
  | { readonly kind: 'statement'; readonly statement: Statement }
  /** Run in order as one statement: when one fails, those before it are undone. */
  | {
      readonly kind: 'several';
      readonly command: 'ALTER TABLE' | 'CREATE TABLE' | 'RENAME TABLE';
      readonly isTemporary: boolean;
      readonly parts: readonly Node[];
    };

export function parsedTree(tree: Node): Parsed {
  return { kind: 'tree', tree };
}

export function parsedQuery(query: SelectStmt): Parsed {
  return parsedTree({ SelectStmt: query });
}
