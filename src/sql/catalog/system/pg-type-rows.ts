/** Rows of pg_type. */
import { categoryOf } from '../../expressions/cast-rules.ts';
import { arrayOf, numberOfType, type SqlType, types, typeLength } from '../../model/index.ts';
import { owner, schemaId } from './pg-names.ts';
import type { VirtualRow } from './virtual.ts';

/** pg_attribute.attstorage: plain, main or extended. */
export function storageOf(type: SqlType): 'p' | 'm' | 'x' {
  if (type.name === 'numeric') return 'm';
  return typeLength(type) > 0 ? 'p' : 'x';
}

/** The type and its array. */
export function* typeRows(type: SqlType, name: string, schema: string): Iterable<VirtualRow> {
  const isPseudo = ['record', 'void', 'unknown'].includes(type.name);
  const array = isPseudo && type.name !== 'record' ? null : arrayOf(type);
  const base = {
    typnamespace: schemaId(schema),
    typowner: owner,
    typispreferred: false,
    typisdefined: true,
    typdelim: ',',
    typrelid: 0,
    typbasetype: 0,
    typtypmod: -1,
    typnotnull: false,
    typndims: 0,
    typcollation: 0,
  };
  const { domain } = type;
  const kind = domain !== undefined ? 'd' : type.name === 'enum' ? 'e' : isPseudo ? 'p' : 'b';
  const length = typeLength(type);
  yield {
    ...base,
    oid: numberOfType(type),
    typname: name,
    typlen: length,
    typbyval: length > 0 && length <= 8,
    typtype: kind,
    typcategory: categoryOf(type.name),
    typelem: 0,
    typarray: array?.oid ?? 0,
    typinput: domain !== undefined ? 'domain_in' : type.name === 'enum' ? 'enum_in' : `${name}in`,
    ...(domain !== undefined && {
      typbasetype: domain.over[0] ?? domain.base.oid,
      typtypmod: domain.modifier,
      typnotnull: domain.isNotNull,
    }),
  };
  if (array === null) return;
  yield {
    ...base,
    oid: array.oid,
    typname: `_${name}`,
    typlen: -1,
    typbyval: false,
    typtype: isPseudo ? 'p' : 'b',
    typcategory: 'A',
    typelem: numberOfType(type),
    typarray: 0,
    typinput: 'array_in',
  };
}

/** Of every type that each database has. Drivers and ORMs ask for them with each connection. */
export const builtInTypeRows: readonly VirtualRow[] = Object.values(types)
  .filter(({ oid }) => oid !== 0)
  .flatMap((type) => [...typeRows(type, type.name, 'pg_catalog')]);
