/**
 * Functions and operators as tables: `'substring(text, int4, int4) text': (text, from, count) => ...`. A signature is chosen among those of
 * a name as PostgreSQL chooses (manual, 10.2 and 10.3; parse_func.c).
 */
import {
  type Dialect,
  SqlError,
  typeTitle,
  arrayOf,
  isSameType,
  typeByName,
  types,
  type SqlType,
  type SqlValue,
} from '../model/index.ts';
import { canCast, categoryOf, isPreferred } from './cast-rules.ts';
import { commonType } from './coerce.ts';
import type { FunctionOf, Pseudo } from './signature-types.ts';
import type { Execution, Surroundings } from '../execution.ts';

export type ParameterType = SqlType | Pseudo;

export interface Signature {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  /** The last parameter may be given any number of times, at least once. */
  readonly isVariadic: boolean;
  readonly result: ParameterType;
  /** NULL for any NULL argument, without a call. */
  readonly isStrict: boolean;
  /** May it give different values within a statement? */
  readonly isVolatile: boolean;
  readonly implement: (call: Call) => Implementation;
}

/** The call as it stands after overloading and casts. */
export interface Call {
  readonly types: readonly SqlType[];
  readonly result: SqlType;
  readonly dialect: Dialect;
}

export type Implementation = (execution: Execution, ...values: readonly SqlValue[]) => SqlValue;

/** Functions by signatures that are put together in a loop: what they take is known when the signature is read. */
export type Plain = (...values: never[]) => SqlValue;
export type Typed = (call: Call) => Plain;
export type Ambient = (surroundings: Surroundings, ...values: never[]) => SqlValue;

export type Stoppable = (execution: Execution, ...values: never[]) => SqlValue;

type Loose = (...values: readonly unknown[]) => SqlValue;

/** Tables by signature: the compiler compares each function with its signature (`signature-types.ts`). */
type Table<Text extends string, Nothing> = { readonly [Each in Text]: FunctionOf<Each, Nothing> };
type TypedTable<Text extends string, Nothing> = { readonly [Each in Text]: (call: Call) => FunctionOf<Each, Nothing> };
type AmbientTable<Text extends string, Nothing> = {
  readonly [Each in Text]: FunctionOf<Each, Nothing, [Surroundings]>;
};

type StoppableTable<Text extends string, Nothing> = {
  readonly [Each in Text]: FunctionOf<Each, Nothing, [Execution]>;
};

/** Functions of their arguments alone; NULL in, NULL out. */
export function strict<Text extends string>(table: Table<Text, never>): Signature[] {
  return rows(table, true, false, (plain) => (call) => plainly(plain as Loose, call.types.length));
}

/** Functions that are called with NULLs too. */
export function nullable<Text extends string>(table: Table<Text, null>): Signature[] {
  return rows(table, false, false, (plain) => (call) => plainly(plain as Loose, call.types.length));
}

/** Functions that look at the types of their arguments; NULL in, NULL out. */
export function typed<Text extends string>(table: TypedTable<Text, never>): Signature[] {
  return rows(table, true, false, makeByCall);
}

/** The same with NULLs. */
export function typedNullable<Text extends string>(table: TypedTable<Text, null>): Signature[] {
  return rows(table, false, false, makeByCall);
}

function makeByCall(make: unknown): Signature['implement'] {
  return (call) => plainly((make as (call: Call) => Loose)(call), call.types.length);
}

/** Functions that the statement may have to stop; NULL in, NULL out. */
export function stoppable<Text extends string>(table: StoppableTable<Text, never>): Signature[] {
  return rows(table, true, false, (plain) => () => plain as Implementation);
}

/** Functions of the session. */
export function ambient<Text extends string>(table: AmbientTable<Text, never>): Signature[] {
  return rows(table, true, false, (ask) => {
    const call = ask as Loose;
    return () =>
      (execution, ...values) =>
        call(execution.surroundings, ...values);
  });
}

/** The same, each call of which may give another value. */
export function volatile<Text extends string>(table: AmbientTable<Text, never>): Signature[] {
  return rows(table, true, true, askOnce);
}

/** The same with NULLs. */
export function volatileNullable<Text extends string>(table: AmbientTable<Text, null>): Signature[] {
  return rows(table, false, true, askOnce);
}

function askOnce(ask: unknown): Signature['implement'] {
  const call = ask as Loose;
  return () =>
    (execution, ...values) => {
      const { calls, surroundings } = execution;
      return calls === undefined
        ? call(surroundings, ...values)
        : calls.once(call, values, () => call(surroundings, ...values));
    };
}

/** One and two operands are what rows are filtered by: no array for each call. */
function plainly(plain: Loose, width: number): Implementation {
  if (width === 1) return (_execution, value) => plain(value);
  if (width === 2) return (_execution, first, second) => plain(first, second);
  return (_execution, ...values) => plain(...values);
}

function rows(
  table: object,
  isStrict: boolean,
  isVolatile: boolean,
  implement: (row: unknown) => Signature['implement'],
): Signature[] {
  return Object.entries(table).map(([text, row]: [string, unknown]) => ({
    ...readSignature(text),
    isStrict,
    isVolatile,
    implement: implement(row),
  }));
}

const signatureText = /^(\S+?)\((.*)\) (\S+)$/;

function readSignature(text: string): Pick<Signature, 'name' | 'parameters' | 'isVariadic' | 'result'> {
  const [, name = '', list = '', result = ''] = signatureText.exec(text) ?? [];
  const parts = list === '' ? [] : list.split(', ');
  const isVariadic = parts.at(-1)?.startsWith('variadic ') ?? false;
  const parameters = parts.map((part) => readParameter(part.replace('variadic ', ''), text));
  return { name, parameters, isVariadic, result: readParameter(result, text) };
}

const pseudoTypes: ReadonlySet<string> = new Set(
  'any anyelement anynonarray anyarray anyenum anycompatible anycompatiblearray'.split(' '),
);

function readParameter(name: string, text: string): ParameterType {
  if (pseudoTypes.has(name)) return name as Pseudo;
  const type = name === 'uint8' ? types.uint8 : typeByName(name);
  if (type === undefined) throw new TypeError(`unknown type ${name} in signature ${text}`);
  return type;
}

export type SignatureTable = ReadonlyMap<string, readonly Signature[]>;

export function tableOf(signatures: readonly Signature[]): SignatureTable {
  const table = new Map<string, Signature[]>();
  for (const signature of signatures) {
    const known = table.get(signature.name);
    if (known === undefined) table.set(signature.name, [signature]);
    else known.push(signature);
  }
  return table;
}

/** A signature with its arguments' types settled. */
export interface Chosen {
  readonly signature: Signature;
  readonly parameters: readonly SqlType[];
  readonly result: SqlType;
}

export type Choice = Chosen | 'none' | 'ambiguous';

/** Among the signatures of one name. Arguments of type unknown are literals and parameters that take what is wanted. */
export function choose(candidates: readonly Signature[], given: readonly SqlType[]): Choice {
  const fitting = candidates.flatMap((signature) => {
    const parameters = expand(signature, given.length);
    return parameters !== undefined && accepts(parameters, given) && settleFamilies(parameters, given) !== undefined
      ? [{ signature, parameters }]
      : [];
  });
  const exact = fitting.find(({ parameters }) => parameters.every((each, i) => isExact(each, given[i])));
  const left = exact === undefined ? narrow(fitting, given) : [exact];
  const [only] = left;
  if (only === undefined) return 'none';
  if (left.length > 1) return 'ambiguous';
  return settle(only, given) ?? 'none';
}

interface Candidate {
  readonly signature: Signature;
  readonly parameters: readonly ParameterType[];
}

function expand({ parameters, isVariadic }: Signature, count: number): readonly ParameterType[] | undefined {
  if (!isVariadic) return parameters.length === count ? parameters : undefined;
  const last = parameters.at(-1);
  if (last === undefined || count < parameters.length) return undefined;
  return [...parameters, ...Array.from({ length: count - parameters.length }, () => last)];
}

function accepts(parameters: readonly ParameterType[], given: readonly SqlType[]): boolean {
  return parameters.every((parameter, i) => {
    const type = given[i] ?? types.unknown;
    if (type.name === 'unknown') return true;
    if (typeof parameter !== 'string')
      return canCast(type, parameter, 'implicit', 'postgres') || isRecordPair(type, parameter);
    switch (parameter) {
      case 'anyarray':
      case 'anycompatiblearray':
        return type.name === 'array';
      case 'anyenum':
        return type.name === 'enum';
      case 'anynonarray':
        return type.name !== 'array';
      default:
        return true;
    }
  });
}

function isRecordPair(a: SqlType, b: SqlType): boolean {
  return a.name === 'record' && b.name === 'record';
}

function isExact(parameter: ParameterType, given: SqlType | undefined): boolean {
  return typeof parameter !== 'string' && given !== undefined && isSameType(parameter, given);
}

/** parse_func.c, `func_select_candidate`: each rule keeps those that fit best, and stops when one is left. */
function narrow(candidates: readonly Candidate[], given: readonly SqlType[]): readonly Candidate[] {
  let left = candidates;
  if (left.length <= 1) return left;
  left = best(left, ({ parameters }) => countOf(parameters, (each, i) => isExact(each, given[i])));
  if (left.length <= 1) return left;
  left = best(left, ({ parameters }) =>
    countOf(parameters, (each, i) => isExact(each, given[i]) || isPreferredFor(each, given[i])),
  );
  if (left.length <= 1 || !given.some(isUnknown)) return left;
  const byCategory = narrowUnknown(left, given);
  return byCategory.length === 1 ? byCategory : likeTheKnown(byCategory, given);
}

function isUnknown({ name }: SqlType): boolean {
  return name === 'unknown';
}

function isPreferredFor(parameter: ParameterType, given: SqlType | undefined): boolean {
  if (typeof parameter === 'string' || given === undefined || isUnknown(given)) return false;
  return isPreferred(parameter.name) && categoryOf(parameter.name) === categoryOf(given.name);
}

function best(candidates: readonly Candidate[], score: (candidate: Candidate) => number): readonly Candidate[] {
  const scores = candidates.map(score);
  const most = Math.max(...scores);
  return candidates.filter((_, i) => scores[i] === most);
}

function countOf<T>(items: readonly T[], has: (item: T, i: number) => boolean): number {
  return items.filter(has).length;
}

function categoryOfParameter(parameter: ParameterType | undefined): string {
  if (parameter === undefined || typeof parameter === 'string') return 'P';
  return categoryOf(parameter.name);
}

/** For each unknown argument: the string category if anyone takes it, else the one that all share. */
function narrowUnknown(candidates: readonly Candidate[], given: readonly SqlType[]): readonly Candidate[] {
  let left = candidates;
  const wanted = new Map<number, string>();
  for (const [i, type] of given.entries()) {
    if (!isUnknown(type)) continue;
    const found = new Set(candidates.map(({ parameters }) => categoryOfParameter(parameters[i])));
    const category = found.has('S') ? 'S' : found.size === 1 ? [...found][0] : undefined;
    if (category === undefined) return candidates;
    wanted.set(i, category);
  }
  for (const [i, category] of wanted) {
    const same = left.filter(({ parameters }) => categoryOfParameter(parameters[i]) === category);
    if (same.length > 0) left = same;
    const first = left.filter(({ parameters }) => isPreferredParameter(parameters[i]));
    if (first.length > 0) left = first;
  }
  return left;
}

function isPreferredParameter(parameter: ParameterType | undefined): boolean {
  return parameter !== undefined && typeof parameter !== 'string' && isPreferred(parameter.name);
}

/** The last resort: unknown arguments have the type that all the known ones have. */
function likeTheKnown(candidates: readonly Candidate[], given: readonly SqlType[]): readonly Candidate[] {
  const [known, ...others] = given.filter((type) => !isUnknown(type));
  if (known === undefined || others.some((type) => !isSameType(type, known))) return candidates;
  const assumed = given.map(() => known);
  const fitting = candidates.filter(
    ({ parameters }) => accepts(parameters, assumed) && settleFamilies(parameters, assumed) !== undefined,
  );
  return fitting.length === 1 ? fitting : candidates;
}

/** Gives the families of pseudo types their one type. `undefined`: they do not agree. */
function settle({ signature, parameters }: Candidate, given: readonly SqlType[]): Chosen | undefined {
  const family = settleFamilies(parameters, given);
  if (family === undefined) return undefined;
  if (
    parameters.some(isOwnFamily) &&
    !parameters.some((each, i) => isOwnFamily(each) && !isUnknown(given[i] ?? types.unknown))
  ) {
    throw new SqlError('42804', 'could not determine polymorphic type because input has type unknown');
  }
  const concrete = (parameter: ParameterType, type: SqlType): SqlType => {
    if (typeof parameter !== 'string') return parameter;
    if (parameter === 'any') return type;
    const element = parameter.startsWith('anycompatible') ? family.compatible : family.element;
    if (!parameter.endsWith('array') || parameter === 'anynonarray') return element;
    if (element.name === 'array') {
      throw new SqlError('42704', `could not find array type for data type ${typeTitle(element)}`);
    }
    return arrayOf(element);
  };
  return {
    signature,
    parameters: parameters.map((parameter, i) => concrete(parameter, given[i] ?? types.unknown)),
    result: concrete(signature.result, types.text),
  };
}

/** `anycompatible` may be text for want of anything else; these may not. */
function isOwnFamily(parameter: ParameterType): boolean {
  return typeof parameter === 'string' && parameter !== 'any' && !parameter.startsWith('anycompatible');
}

function settleFamilies(
  parameters: readonly ParameterType[],
  given: readonly SqlType[],
): { readonly element: SqlType; readonly compatible: SqlType } | undefined {
  const elements: SqlType[] = [];
  const compatibles: SqlType[] = [];
  for (const [i, parameter] of parameters.entries()) {
    const type = given[i] ?? types.unknown;
    if (typeof parameter !== 'string' || parameter === 'any' || isUnknown(type)) continue;
    const isArray = parameter === 'anyarray' || parameter === 'anycompatiblearray';
    const member = isArray ? (type.element ?? type) : type;
    (parameter.startsWith('anycompatible') ? compatibles : elements).push(member);
  }
  const [element = types.text] = elements;
  if (elements.some((each) => !isSameType(each, element))) return undefined;
  try {
    return { element, compatible: commonType(compatibles, 'array', 'postgres') };
  } catch {
    return undefined;
  }
}
