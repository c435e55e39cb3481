/** Lines of a trace (`*.trace.jsonl`), as a recorder writes them: an operation a line, docs/record.md. */
import type { StatementRows } from './statement-rows.ts';

export type RecordedKind = 'begin' | 'read' | 'write' | 'commit' | 'abort' | 'end';

export interface RecordedOperation {
  readonly kind: RecordedKind;
  readonly transaction: string;
  readonly rows: StatementRows | null;
  /** The database's code where it answered with an error. */
  readonly code: string | null;
  /** Nanoseconds of a monotonic clock. `end` is `null` where no answer came. */
  readonly start: number;
  readonly end: number | null;
}

/** One line, with its line break. O(its length). */
export function formatRecorded(session: string, operation: RecordedOperation): string {
  const { kind, transaction, rows, code, start, end } = operation;
  let text = `{"session":${JSON.stringify(session)}`;
  if (kind !== 'end') text += `,"transaction":${JSON.stringify(transaction)}`;
  text += `,"op":"${kind}"`;
  if (rows !== null) text += formatRows(rows);
  if (code !== null) text += `,"failed":true,"code":${JSON.stringify(code)}`;
  return `${text},"start":${start},"end":${end}}\n`;
}

export const traceHeader = '{"moirai":"trace","version":1}\n';

function formatRows({ reads, writes, unknown, predicates, lock, opaque, tables }: StatementRows): string {
  let text = '';
  if (reads.length > 0) text += `,"reads":${JSON.stringify(reads)}`;
  if (writes.length > 0) text += `,"writes":${JSON.stringify(writes)}`;
  if (unknown.length > 0) text += `,"unknown":${JSON.stringify(unknown)}`;
  if (predicates.length > 0) {
    const written = predicates.map(({ table, where }) => ({
      table,
      where: where.map(({ column, comparison, value }) => [column, comparison, value]),
    }));
    text += `,"predicates":${JSON.stringify(written)}`;
  }
  if (lock !== null) text += `,"lock":"${lock}"`;
  if (opaque !== null) text += `,"opaque":"${opaque}"`;
  if (tables !== undefined) text += `,"tables":${JSON.stringify(tables)}`;
  return text;
}
