/** SQL values in histories: what JSON carries exactly, and where it cannot, PostgreSQL's text or a record of parts. */
import type { Value } from '../../history/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';

export function jsonValue(held: Held): Value {
  if (held === null || typeof held === 'string' || typeof held === 'boolean') return held;
  if (typeof held === 'number') return Number.isFinite(held) ? held + 0 : String(held);
  if (typeof held === 'bigint') return String(held);
  if (isRow(held)) return held.map(jsonValue);
  if (held instanceof Uint8Array)
    return `\\x${Array.from(held, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  switch (held.kind) {
    case 'numeric':
      return held.value.toFixed(held.scale);
    case 'interval':
      return { months: held.months, days: held.days, microseconds: String(held.microseconds) };
    case 'json':
      return { json: held.value as Value };
    case 'array':
      return held.elements.map(jsonValue);
  }
}

const isRow = (held: Held): held is readonly SqlValue[] => Array.isArray(held);

/** What a version of a cell holds: a column's value, existence, or a row. */
export type Held = SqlValue | readonly SqlValue[];
