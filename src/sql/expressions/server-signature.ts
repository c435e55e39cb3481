/** Does PostgreSQL have a function or an operator that takes these types? Asked when moirai has none. */
import type { ServerSignature } from '../known/server-names.ts';
import { type SqlType, typeByName } from '../model/index.ts';
import { canCast } from './cast-rules.ts';

export function takesAnyOf(signatures: readonly ServerSignature[] | undefined, given: readonly SqlType[]): boolean {
  return signatures?.some((signature) => takes(signature, given)) ?? false;
}

function takes({ parameters, countMin, isVariadic }: ServerSignature, given: readonly SqlType[]): boolean {
  if (given.length < countMin || (given.length > parameters.length && !isVariadic)) return false;
  const wanted = given.map((_, i) => parameters[Math.min(i, parameters.length - 1)] ?? 'any');
  return given.every((type, i) => accepts(wanted[i] ?? 'any', type, isVariadic)) && agree(wanted, given);
}

/** Are the types of one polymorphic family of one kind? */
function agree(wanted: readonly string[], given: readonly SqlType[]): boolean {
  const members = given.flatMap((type, i) => {
    const isFamily = /^any(compatible|element|array|nonarray)/.test(wanted[i] ?? '');
    return isFamily && type.name !== 'unknown'
      ? [/(?<!non)array$/.test(wanted[i] ?? '') ? (type.element ?? type) : type]
      : [];
  });
  return members.every((a) =>
    members.every(
      (b) => canCast(a, b, 'implicit', 'postgres') || canCast(b, a, 'implicit', 'postgres') || a.oid === b.oid,
    ),
  );
}

/** A type that moirai lacks takes literals and parameters alone: no expression here has that type. */
function accepts(parameter: string, given: SqlType, isVariadic: boolean): boolean {
  if (given.name === 'unknown') return true;
  if (parameter === 'anyarray' || parameter === 'anycompatiblearray') return given.name === 'array' || isVariadic;
  if (parameter === 'anynonarray' || parameter === 'anycompatiblenonarray') return given.name !== 'array';
  if (parameter === 'anyenum') return given.name === 'enum';
  if (['any', 'anyelement', 'anycompatible'].includes(parameter)) return true;
  const type = typeByName(parameter === 'char' ? '"char"' : parameter);
  if (type === undefined) return false;
  const element = isVariadic ? type.element : undefined;
  return [type, element].some(
    (each) => each !== undefined && (each.oid === given.oid || canCast(given, each, 'implicit', 'postgres')),
  );
}
