/** What a driver's error says of the statement. */
import type { StatementEvent } from './statement-event.ts';

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of pg and postgres.js. Only the server's own errors say that the statement has failed; after others it is unknown. */
export function postgresFailure(error: unknown): StatementEvent['outcome'] {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof severity === 'string' && typeof code === 'string' ? { kind: 'failed', code } : { kind: 'lost' };
}
