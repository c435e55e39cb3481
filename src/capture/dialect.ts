/** What the statements and sessions of the two servers do differently, as far as a recorder has to know. */
import type { Dialect } from '../sql/model/index.ts';
import { splitMysql, splitPostgres } from '../sql/index.ts';

export interface CaptureRules {
  readonly split: (sql: string) => readonly string[];
  readonly quote: string;
  /** @param number from 1 */
  readonly placeholder: (number: number) => string;
  /** Where these are in a text, there may be a comment. */
  readonly commentMarks: readonly string[];
  /** RETURNING. */
  readonly returnsRows: boolean;
  /** Statements that come together outside a transaction are one transaction, unless they begin one. Otherwise each is one. */
  readonly joinsStatements: boolean;
  /** BEGIN commits the open transaction. Otherwise it is a warning there. */
  readonly beginCommits: boolean;
  /** DDL commits what is open, whether or not it succeeds. */
  readonly ddlCommits: boolean;
  /** SET autocommit = 0: a savepoint begins a transaction. */
  readonly hasAutocommit: boolean;
  /** The transaction refuses statements after an error. Otherwise the error may roll it back. */
  readonly errorsAbort: boolean;
  /** The key under which the server finds a savepoint: where its parser does not fold names, they are compared without case. */
  readonly savepointKey: (name: string) => string;
  /** What a query with groups shows is one of their rows, and need not be a value that they have in common. */
  readonly showsAnyOfGroup: boolean;
}

export const captureRules: Readonly<Record<Dialect, CaptureRules>> = {
  postgres: {
    split: splitPostgres,
    quote: '"',
    placeholder: (number) => `$${number}`,
    commentMarks: ['--', '/*'],
    returnsRows: true,
    joinsStatements: true,
    beginCommits: false,
    ddlCommits: false,
    hasAutocommit: false,
    errorsAbort: true,
    savepointKey: (name) => name,
    showsAnyOfGroup: false,
  },
  mysql: {
    split: splitMysql,
    quote: '`',
    placeholder: () => '?',
    commentMarks: ['--', '/*', '#'],
    returnsRows: false,
    joinsStatements: false,
    beginCommits: true,
    ddlCommits: true,
    hasAutocommit: true,
    errorsAbort: false,
    savepointKey: (name) => name.toLowerCase(),
    showsAnyOfGroup: true,
  },
};
