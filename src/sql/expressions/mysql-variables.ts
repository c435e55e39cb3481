/**
 * What MySQL's front end writes for variables and for forms that are no functions in MySQL; see tree/mysql.ts. System variables are
 * settings of the session under their name, user variables under `@name`: a `=` and the text, so that NULL, which is empty, is not ''.
 */
import type { Expression, Frame, Scope } from '../expression.ts';
import { switches, systemVariables } from '../mysql/variables.ts';
import { mysqlHas } from '../known/server-names.ts';
import { notSupported, SqlError, types, type SqlValue } from '../model/index.ts';
import { coerce } from './coerce.ts';

type Form = (operands: readonly Expression[], scope: Scope) => Expression | undefined;

/** `undefined`: another function. @throws SqlError 42704 (1193) unknown variable */
export function mysqlVariable(name: string, operands: readonly Expression[], scope: Scope): Expression | undefined {
  return Object.hasOwn(forms, name) ? forms[name]?.(operands, scope) : undefined;
}

const forms: Readonly<Record<string, Form>> = {
  mysql_variable: ([name, scopeName]) => systemVariable(literalOf(name), scopeName !== undefined),
  mysql_default: ([name]) => {
    const { value } = variableNamed(literalOf(name));
    return computed(types.text, () => (value === null ? null : String(value)));
  },
  mysql_set_variable: ([name, value], scope) => {
    const known = literalOf(name);
    variableNamed(known);
    return assigned(value, scope, (frame, text) => {
      frame.execution.surroundings.setSetting(known, switched(known, text ?? ''), false);
    });
  },
  mysql_user_variable: ([name]) => {
    const known = `@${literalOf(name)}`;
    return computed(
      types.text,
      (frame) => frame.execution.surroundings.setting(known)?.match(/^=([^]*)$/)?.[1] ?? null,
    );
  },
  mysql_set_user_variable: ([name, value], scope) => {
    const known = `@${literalOf(name)}`;
    return assigned(value, scope, (frame, text) => {
      frame.execution.surroundings.setSetting(known, text === null ? '' : `=${text}`, false);
    });
  },
  mysql_string: ([bytes]) => converted(bytes, (value) => new TextDecoder().decode(value as Uint8Array)),
  mysql_binary: ([value], scope) =>
    value === undefined ? undefined : coerce(value, types.bytea, -1, 'explicit', scope),
  mysql_trim: ([side, what, value], scope) => {
    if (what === undefined || value === undefined) return undefined;
    const where = literalOf(side);
    const [part, whole] = [what, value].map((each) => coerce(each, types.text, -1, 'explicit', scope));
    return computed(types.text, (frame) => trimmed(where, textAt(part, frame), textAt(whole, frame)));
  },
};

function computed(type: Expression['type'], evaluate: (frame: Frame) => SqlValue): Expression {
  return { type, modifier: -1, isRowFree: false, evaluate };
}

function converted(operand: Expression | undefined, convert: (value: SqlValue) => SqlValue): Expression | undefined {
  if (operand === undefined) return undefined;
  return {
    type: types.text,
    modifier: -1,
    isRowFree: operand.isRowFree,
    evaluate: (frame) => {
      const value = operand.evaluate(frame);
      return value === null ? null : convert(value);
    },
  };
}

/** The front end writes names as constants, which read nothing of a frame. */
function literalOf(name: Expression | undefined): string {
  return name?.isRowFree === true ? (textOf(name.evaluate({} as Frame)) ?? '') : '';
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

function systemVariable(written: string, isGlobal: boolean): Expression {
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

/** The value, given on with its own type, and its text to `assign`. */
function assigned(
  value: Expression | undefined,
  scope: Scope,
  assign: (frame: Frame, text: string | null) => void,
): Expression | undefined {
  if (value === undefined) return undefined;
  const own = value.type.name === 'unknown' ? coerce(value, types.text, -1, 'explicit', scope) : value;
  const text = coerce(own, types.text, -1, 'explicit', scope);
  return computed(own.type, (frame) => {
    const result = text.evaluate(frame);
    assign(frame, textOf(result));
    return own.type.name === 'text' ? result : own.evaluate(frame);
  });
}

function textAt(expression: Expression | undefined, frame: Frame): string | null {
  return textOf(expression?.evaluate(frame) ?? null);
}

/** Of an expression of type text. */
function textOf(value: SqlValue): string | null {
  return typeof value === 'string' ? value : null;
}

/** MySQL removes whole strings, as often as they stand there. */
function trimmed(side: string, part: string | null, whole: string | null): string | null {
  if (part === null || whole === null) return null;
  if (part === '') return whole;
  const rest = side === 'trailing' ? whole : withoutStart(whole, part);
  return side === 'leading' ? rest : withoutEnd(rest, part);
}

function withoutStart(text: string, part: string): string {
  let at = 0;
  while (text.startsWith(part, at)) at += part.length;
  return text.slice(at);
}

function withoutEnd(text: string, part: string): string {
  let end = text.length;
  while (text.endsWith(part, end)) end -= part.length;
  return text.slice(0, end);
}
