/** Which errors ask for another try. */
import type { SqlError } from '../sql/model/index.ts';

/**
 * Errors of timing, after which servers' manuals ask to run the transaction again: PostgreSQL 15, 13.5 "Serialization Failure Handling";
 * MySQL 8.0, 15.7.5 "Deadlocks in InnoDB", and errors 1205 and MariaDB's 1020, whose own texts say so.
 */
export function isRetryable({ code, detail: { mysqlNumber } }: SqlError): boolean {
  return code === '40001' || code === '40P01' || mysqlNumber === 1213 || mysqlNumber === 1205 || mysqlNumber === 1020;
}
