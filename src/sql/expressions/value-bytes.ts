/** What values weigh, roughly and rather too much: what a statement is charged before it makes or keeps large ones. */
import type { Budget } from '../execution.ts';
import type { SqlType, SqlValue } from '../model/index.ts';

/** Values below are not worth a question: the rows of a statement are counted as well. */
export const largeBytes = 1 << 12;

/** A text that is split into its characters has a string of its own for each; read as an array or a document, a value for a few. */
export const SPLIT_FACTOR = 32;

export function chargeFor(budget: Budget | undefined, bytes: number): void {
  if (bytes > largeBytes) budget?.charge(bytes);
}

const sizedTypes: ReadonlySet<SqlType['name']> = new Set([
  'text',
  'varchar',
  'bpchar',
  'bytea',
  'json',
  'jsonb',
  'array',
]);

export function isSized({ name }: SqlType): boolean {
  return sizedTypes.has(name);
}

/** Of texts and bytes alone: other values are not looked into. */
export function textBytes(value: SqlValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
}

export function valueBytes(value: SqlValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof Uint8Array) return value.length;
  if ('kind' in value && value.kind === 'array') {
    let bytes = 0;
    for (const element of value.elements) bytes += 8 + valueBytes(element);
    return bytes;
  }
  return 'value' in value && typeof value.value === 'object' ? partBytes(value.value) : 16;
}

/** Of parts that were large: a document may contain one part many times, so that its text is far larger than itself. */
const known = new WeakMap<object, number>();

function partBytes(part: unknown): number {
  if (typeof part === 'string') return part.length + 2;
  if (typeof part !== 'object' || part === null) return 8;
  const before = known.get(part);
  if (before !== undefined) return before;
  let bytes = 2;
  if (Array.isArray(part)) for (const each of part) bytes += 2 + partBytes(each);
  else for (const [key, each] of Object.entries(part)) bytes += key.length + 6 + partBytes(each);
  if (bytes > largeBytes) known.set(part, bytes);
  return bytes;
}

/** A text that was put together is a tree of its parts until it is read; flat, it weighs what it has. */
export function flattened(text: string): string {
  text.charCodeAt(0);
  return text;
}

/** A row is one message: its text may be far larger than its values, which may be the same ones many times. @throws SqlError 53200 */
export function chargeRows(
  rows: readonly (readonly SqlValue[])[],
  columns: readonly { readonly type: SqlType }[],
  budget: Budget | undefined,
): void {
  for (const row of rows) {
    let bytes = 0;
    for (let i = 0; i < row.length; i += 1) bytes += sentBytes(row[i] ?? null, columns[i]?.type);
    chargeFor(budget, bytes * MESSAGE_FACTOR);
  }
}

/** Asked for each value that is sent: nothing is allocated. */
function sentBytes(value: SqlValue, type: SqlType | undefined): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && type !== undefined && isSized(type) ? valueBytes(value) : 0;
}

/** The text, its bytes, and the message that has them. */
const MESSAGE_FACTOR = 3;
