/**
 * The trace records of Leopard's own service ("Interval-based Trace Format Guideline"): one JSON object an operation. The guideline shows
 * an UPDATE only; the names of the other operation types and the shape of what was read are as the SQL statements suggest.
 */
import { fail, type Fields } from './fields.ts';

export function isLeopardRecord(fields: Fields): boolean {
  return Object.hasOwn(fields, 'operationTraceType');
}

const kinds: Readonly<Record<string, string>> = {
  BEGIN: 'begin',
  START: 'begin',
  SELECT: 'read',
  READ: 'read',
  INSERT: 'write',
  UPDATE: 'write',
  DELETE: 'write',
  WRITE: 'write',
  COMMIT: 'commit',
  ROLLBACK: 'abort',
  ABORT: 'abort',
};

const locks: Readonly<Record<string, string>> = { SHARE_LOCK: 'share', EXCLUSIVE_LOCK: 'update' };

/** The same record with the names of our format. @throws InputError `trace/operation`, `trace/shape` */
export function leopardFields(record: Fields, line: number): Fields {
  const type = String(record['operationTraceType']).toUpperCase();
  const op = kinds[type];
  if (op === undefined) return fail(line, 'trace/operation', `"${type}" is no operationTraceType that is known`);
  const lock = op === 'read' && record['readMode'] === 'LOCKING_READ' ? locks[String(record['traceLockMode'])] : null;
  return {
    session: record['threadID'],
    transaction: record['transactionID'],
    op,
    lock: lock ?? null,
    ...(op === 'read' || op === 'write' ? { reads: tuples(record['readTupleList'], false, line) } : {}),
    ...(op === 'write' ? { writes: tuples(record['writeTupleList'], type === 'DELETE', line) } : {}),
    start: record['startTimestamp'],
    end: record['finishTimestamp'],
  };
}

function tuples(list: unknown, isDeleted: boolean, line: number): unknown[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return fail(line, 'trace/shape', 'a list of tuples should be an array');
  return list.map((tuple: unknown) => {
    const { table, primaryKey, valueMap = null } = (tuple ?? {}) as Fields;
    const isName = (name: unknown): name is string | number => typeof name === 'string' || typeof name === 'number';
    if (!isName(table) || !isName(primaryKey))
      return fail(line, 'trace/shape', 'a tuple needs a table and a primaryKey');
    return [`${table}/${primaryKey}`, isDeleted ? null : valueMap];
  });
}
