/** The fields of a trace's line before anything is known about them. */
import { InputError } from '../base/index.ts';
import { integerMark } from './trace.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function fail(line: number, code: string, message: string): never {
  throw new InputError(code, message, { line });
}

/** A value as messages show it. */
export function shown(value: unknown): string {
  if (typeof value === 'string' && value.startsWith(integerMark)) return value.slice(1);
  return JSON.stringify(value) ?? 'nothing';
}
