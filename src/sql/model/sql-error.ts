/**
 * An error that a statement ends with, as a server reports it. It is an answer to the client, not bad input to moirai: the conversation
 * lives on. Codes are those of the PostgreSQL manual, appendix A; the MySQL side maps them to its own numbers (mysql-error.ts).
 */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  /** SQLSTATE: five characters. */
  readonly code: string;
  readonly detail: SqlErrorDetail;

  constructor(code: string, message: string, detail: SqlErrorDetail = {}) {
    super(message);
    this.code = code;
    this.detail = detail;
  }

  /** moirai cannot do it, and the engine could: a run that met it says nothing about the engine. */
  get isUnsupported(): boolean {
    return this.detail.isUnsupported === true;
  }
}

/** What drivers and ORMs look at beside code and message. */
export interface SqlErrorDetail {
  readonly detail?: string;
  readonly hint?: string;
  /** Character offset in the statement's text, from 1. */
  readonly position?: number;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  /** Of the query, in PostgreSQL's words; `''`: the select list. */
  readonly clause?: string;
  readonly constraint?: string;
  /** PostgreSQL: the function of the server that reports it, where drivers decide by it (postgres.js prepares again). */
  readonly routine?: string;
  /** MySQL's own number where the SQLSTATE alone does not tell it, for example 1205 and 1213. */
  readonly mysqlNumber?: number;
  /** MySQL's words where `message` has PostgreSQL's. */
  readonly mysqlMessage?: string;
  /** See `SqlError.isUnsupported`. Kept here so that an error that is made anew with another position keeps it. */
  readonly isUnsupported?: true;
}

/**
 * moirai cannot do this, and the engine could: SQLSTATE 0A000 with the construct's name. PostgreSQL has refusals of that code of its own
 * (FOR UPDATE with GROUP BY); they are a plain `SqlError`.
 */
export function notSupported(construct: string, position?: number): SqlError {
  const detail = position === undefined ? {} : { position };
  return new SqlError('0A000', `${construct} is not supported by moirai`, { ...detail, isUnsupported: true });
}
