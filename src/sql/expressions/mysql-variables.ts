/**
 * MySQL's variables. System variables are settings of the session under their name, user variables under `@name`: a `=` and the text, so that
 * NULL, which is empty, is not ''.
 */
import type { Expression, Frame, Scope } from '../expression.ts';
import { switches, systemVariables } from '../mysql/variables.ts';
import { mysqlHas } from '../known/server-names.ts';
import type { Execution } from '../execution.ts';
import { notSupported, SqlError, type SqlType, types, type SqlValue } from '../model/index.ts';
import { coerce } from './coerce.ts';
import { mysqlConversion } from './mysql-values.ts';

/** @throws SqlError 42704 (1193) unknown variable */
export function defaultOfVariable(name: string): Expression {
  const { value } = variableNamed(name);
  return computed(types.text, () => (value === null ? null : String(value)));
}

/** @throws SqlError 42704 (1193) unknown variable */
export function setVariable(name: string, value: Expression, scope: Scope): Expression {
  variableNamed(name);
  return assigned(value, scope, (frame, text) => {
    frame.execution.surroundings.setSetting(name, switched(name, text ?? ''), false);
  });
}

export function userVariable(name: string): Expression {
  const setting = `@${name}`;
  return computed(
    types.text,
    (frame) => frame.execution.surroundings.setting(setting)?.match(/^=([^]*)$/)?.[1] ?? null,
  );
}

export function setUserVariable(name: string, value: Expression, scope: Scope): Expression {
  return assigned(value, scope, (frame, text) => assignUserVariable(name, text, frame.execution));
}

function assignUserVariable(name: string, text: string | null, { surroundings }: Execution): void {
  surroundings.setSetting(`@${name}`, text === null ? '' : `=${text}`, false);
}

/** Assigns values of a type. */
export function userVariableSetter(
  name: string,
  type: SqlType,
  modifier: number,
): (value: SqlValue, execution: Execution) => void {
  const toText = mysqlConversion(type, types.text, modifier);
  return (value, execution) =>
    assignUserVariable(name, value === null ? null : (toText(value, execution) as string), execution);
}

function computed(type: Expression['type'], evaluate: (frame: Frame) => SqlValue): Expression {
  return { type, modifier: -1, isRowFree: false, evaluate };
}

function variableNamed(name: string): { readonly name: string; readonly value: string | bigint | null } {
  const found = systemVariables.get(name);
  const real = found?.is ?? name;
  const variable = systemVariables.get(real);
  if (variable === undefined && mysqlHas.variable(name)) throw notSupported(`the variable ${name}`);
  if (variable === undefined) throw new SqlError('42704', `Unknown system variable '${name}'`, { mysqlNumber: 1193 });
  return { name: real, value: variable.value };
}

/** Where the session keeps it under another name. */
const settingNames: ReadonlyMap<string, string> = new Map([['transaction_read_only', 'default_transaction_read_only']]);

/** @throws SqlError 42704 (1193) unknown variable */
export function systemVariable(written: string, isGlobal: boolean): Expression {
  const { name, value } = variableNamed(written);
  const type = typeof value !== 'bigint' ? types.text : value > 2n ** 63n ? types.uint8 : types.int8;
  return computed(type, (frame) => {
    const { surroundings } = frame.execution;
    const known = settingNames.get(name) ?? name;
    const text = isGlobal ? surroundings.globalSetting(known) : surroundings.setting(known);
    if (text === undefined) return value;
    if (name === 'transaction_isolation') return text.toUpperCase().replaceAll(' ', '-');
    if (typeof value !== 'bigint') return text === '' && name === 'character_set_results' ? null : text;
    const digits = switched(name, text);
    return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  });
}

/** Switches are 1 and 0. */
function switched(name: string, text: string): string {
  if (!switches.has(name)) return text;
  if (/^(on|true)$/i.test(text)) return '1';
  return /^(off|false)$/i.test(text) ? '0' : text;
}

/** The value, given on with its own type, and its text to `assign`. Evaluated once: it may read what it assigns. */
function assigned(value: Expression, scope: Scope, assign: (frame: Frame, text: string | null) => void): Expression {
  const own = value.type.name === 'unknown' ? coerce(value, types.text, -1, 'explicit', scope) : value;
  const toText = mysqlConversion(own.type, types.text, own.modifier);
  return computed(own.type, (frame) => {
    const result = own.evaluate(frame);
    assign(frame, result === null ? null : (toText(result, frame.execution) as string));
    return result;
  });
}
