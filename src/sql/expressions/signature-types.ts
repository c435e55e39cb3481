/**
 * What the compiler knows of a function by its signature: `'substring(text, int4, int4) text'` takes a string and two numbers, and gives a string
 * or NULL. A type that is not in the table, too many parameters, or one of another type do not compile.
 */
import type { SqlArray, SqlValue, TypeValues } from '../model/index.ts';

/** A family takes values of any type: functions of such say by the call what they expect. */
type Parameter<Name extends string, Nothing> = Name extends Pseudo ? never : Value<Name> | Nothing;

type Result<Name extends string> = Name extends Pseudo ? SqlValue : Value<Name> | null;

type Value<Name extends string> = Name extends keyof TypeValues
  ? TypeValues[Name]
  : Name extends `${keyof TypeValues}[]`
    ? SqlArray
    : { readonly unknownType: Name };

type Parameters<List extends string, Nothing> = List extends ''
  ? []
  : List extends `variadic ${infer Last}`
    ? Parameter<Last, Nothing>[]
    : List extends `${infer First}, ${infer Rest}`
      ? [Parameter<First, Nothing>, ...Parameters<Rest, Nothing>]
      : [Parameter<List, Nothing>];

/**
 * The function of a signature. Of one that is put together when the program runs nothing is known here; it is read then.
 * @param Nothing `null` where arguments may be NULL, else `never`
 */
export type FunctionOf<Text, Nothing, Before extends unknown[] = []> = string extends Text
  ? (...values: [...Before, ...never[]]) => SqlValue
  : Text extends `${string}(${infer List}) ${infer Name}`
    ? (...values: [...Before, ...Parameters<List, Nothing>]) => Result<Name>
    : { readonly noSignature: Text };

/** Stands for any type, or for a family whose members must agree. */
export type Pseudo =
  | 'any'
  | 'anyelement'
  | 'anynonarray'
  | 'anyarray'
  | 'anyenum'
  | 'anycompatible'
  | 'anycompatiblearray';
