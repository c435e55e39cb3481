/** Errors and notices as fields of ErrorResponse and NoticeResponse. */
import type { Notice } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { WireError } from '../../wire/index.ts';
import type { ErrorFields } from '../../wire/postgres/index.ts';

/** FATAL: the connection ends with it. */
export type Severity = 'ERROR' | 'FATAL';

/** A WireError is the client's mistake; anything that is no SqlError is a bug of ours, of which the client learns no more than that. */
export function errorFields(error: unknown, severity: Severity): ErrorFields {
  if (error instanceof SqlError) return sqlErrorFields(error, severity);
  if (error instanceof WireError) return fields(severity, wireCodes[error.code], error.message);
  return fields(severity, 'XX000', 'internal error');
}

export function noticeFields(notice: Notice): ErrorFields {
  return fields(notice.severity, notice.code, notice.message);
}

/** 57P..: the server ended the session, not only the statement. */
export function endsSession(error: unknown): boolean {
  return error instanceof SqlError && error.code.startsWith('57P');
}

/** Protocol violation, program limit exceeded, character not in repertoire. */
const wireCodes = { malformed: '08P01', limit: '54000', encoding: '22021' } as const;

function sqlErrorFields(error: SqlError, severity: Severity): ErrorFields {
  const { detail, hint, position, schema, table, column, constraint, routine } = error.detail;
  return {
    ...fields(severity, error.code, error.message),
    ...(detail === undefined ? {} : { detail: sendable(detail) }),
    ...(hint === undefined ? {} : { hint: sendable(hint) }),
    ...(position === undefined ? {} : { position: String(position) }),
    ...(schema === undefined ? {} : { schema: sendable(schema) }),
    ...(table === undefined ? {} : { table: sendable(table) }),
    ...(column === undefined ? {} : { column: sendable(column) }),
    ...(constraint === undefined ? {} : { constraint: sendable(constraint) }),
    ...(routine === undefined ? {} : { routine }),
  };
}

function fields(severity: string, code: string, message: string): ErrorFields {
  return { severity, severityName: severity, code, message: sendable(message) };
}

/** Text in messages ends with a zero byte, so it cannot contain one. */
function sendable(text: string): string {
  return text.replaceAll('\0', '');
}
