/** What a line of JSON Lines may say of a transaction: the one description for the reader (`json-lines.ts`), the scanner and docs/histories.md. */
import { statuses } from './compact-history.ts';
import type { LineFields } from './line-fields.ts';

export const transactionFields = {
  session: { kind: 'text', isRequired: true, meaning: 'whose it is; a session has the order of its lines' },
  operations: {
    kind: 'list',
    isRequired: true,
    meaning: '`["r", KEY, VALUE]` and `["w", KEY, VALUE]`, in program order',
  },
  status: {
    kind: statuses,
    code: 'status',
    meaning: '`unknown`: the client never got the answer; default `committed`',
  },
  start: { kind: 'integer', code: 'times', meaning: 'when the client began it' },
  end: { kind: 'integer', code: 'times', meaning: 'when the client knew that it had ended, by the same clock' },
  id: { kind: 'text', meaning: 'default `session/index`' },
  level: { kind: 'text', meaning: 'what it asked for' },
} as const satisfies LineFields;

/** Of the first line, which is optional. */
export const headerFields = { moirai: true, version: true, transactions: true, initial: true, sessions: true };

/** `["r", KEY, VALUE]` and so on. The fourth element of a read is its writer, the fifth its condition. */
export const operationForms = [
  { letter: 'r', kind: 'read', elementsMax: 5 },
  { letter: 'w', kind: 'write', elementsMax: 3 },
  { letter: 'append', kind: 'append', elementsMax: 3 },
] as const;
export const elementsMin = 3;
export const operationShape =
  '["r", KEY, VALUE], ["r", KEY, VALUE, WRITER], ["r", KEY, VALUE, WRITER, CONDITION] or ["w", KEY, VALUE]';
