/** Types by the names that `regtype` reads and writes. PostgreSQL manual, 8.19; parseTypeString of its sources. */
import { arrayOf, numberOfType, SqlError, type SqlType, typeByName, typeTitle } from '../../sql/model/index.ts';
import { effectivePath, quoteName, splitName } from '../../sql/index.ts';
import type { SearchedCatalog } from './searched-catalog.ts';

/** `int`, `varchar(10)`, `public.mood[]`, `"Mood"`. */
export function typeNamed(from: SearchedCatalog, text: string): SqlType | undefined {
  const [, base = '', brackets = ''] = /^(.*?)((?:\s*\[\d*\])*)$/s.exec(withoutModifier(text.trim())) ?? [];
  const type = builtInType(base) ?? ownType(from, splitName(base));
  return type === undefined || brackets === '' ? type : arrayOf(type);
}

/** @throws SqlError 3F000 no such schema, 42704 no such type */
export function requiredType(from: SearchedCatalog, text: string): SqlType {
  const type = typeNamed(from, text);
  if (type !== undefined) return type;
  const schema = splitName(text).at(-2);
  if (schema !== undefined && schema !== 'pg_catalog' && !from.catalog.hasSchema(schema)) {
    throw new SqlError('3F000', `schema "${schema}" does not exist`);
  }
  throw new SqlError('42704', `type "${text}" does not exist`);
}

/** As `regtype` shows it: with its schema where the search path does not find it. */
export function titleOfType(from: SearchedCatalog, type: SqlType): string {
  if (type.name === 'array' && type.element !== undefined) return `${titleOfType(from, type.element)}[]`;
  const own = [...from.catalog.types()].find((each) => numberOfType(each.type) === numberOfType(type));
  if (own === undefined) return typeTitle(type);
  const visible = ownType(from, [own.name]);
  const isVisible = visible !== undefined && numberOfType(visible) === numberOfType(type);
  return isVisible ? quoteName(own.name) : `${quoteName(own.schema)}.${quoteName(own.name)}`;
}

function withoutModifier(text: string): string {
  return text.replace(/\s*\([\d\s,-]*\)/, '');
}

/** Of several words, or alone, or of the schema pg_catalog. */
function builtInType(base: string): SqlType | undefined {
  const names = splitName(base);
  if (names.length === 2 && names[0] === 'pg_catalog') return typeByName(names[1] ?? '');
  if (base.includes('.')) return undefined;
  return typeByName(base.includes('"') ? (names[0] ?? '') : base.toLowerCase().replaceAll(/\s+/g, ' '));
}

function ownType({ catalog, searchPath }: SearchedCatalog, names: readonly string[]): SqlType | undefined {
  const name = names.at(-1) ?? '';
  const schema = names.at(-2);
  for (const each of schema === undefined ? effectivePath(searchPath) : [schema]) {
    const found = catalog.type(each, name);
    if (found !== undefined) return found.type;
  }
  return undefined;
}
