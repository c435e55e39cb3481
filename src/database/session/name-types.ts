/** The types whose values are numbers of the catalog, by the names that they are shown as: PostgreSQL manual, 8.19. A name of digits is the number itself. */
import { type CatalogLookups, ownerRole, publicOwnerRole, quoteName, schemaId, splitName } from '../../sql/index.ts';
import { numberOfType, SqlError } from '../../sql/model/index.ts';
import { relationOrIndex, requireRelation, titleOfRelation } from './relation-names.ts';
import type { SearchedCatalog } from './searched-catalog.ts';
import { requiredType, titleOfType, typeNamed } from './type-names.ts';

type NameTypes = CatalogLookups['names'];

/** @param user the role of the session */
export function nameTypes(searched: () => SearchedCatalog, user: string): NameTypes {
  return {
    regclass: relationNumbers(searched),
    regtype: typeNumbers(searched),
    regnamespace: schemaNumbers(searched),
    regrole: roleNumbers(user),
  };
}

function relationNumbers(searched: () => SearchedCatalog): NameTypes['regclass'] {
  const nameOf = (id: number): string => {
    const found = relationOrIndex(searched().catalog, id);
    return found === null ? numberText(id) : titleOfRelation(found, searched());
  };
  return {
    read: (name) =>
      isNumber(name) ? nameOf(Number(name)) : titleOfRelation(requireRelation(searched(), name), searched()),
    nameOf,
    numberOf: (name) => (isNumber(name) ? Number(name) : requireRelation(searched(), name).id),
  };
}

function typeNumbers(searched: () => SearchedCatalog): NameTypes['regtype'] {
  return {
    read: (name) => titleOfType(searched(), requiredType(searched(), name)),
    nameOf: (oid) => {
      for (const { type, arrayType } of searched().catalog.types()) {
        if (numberOfType(type) === oid) return titleOfType(searched(), type);
        if (arrayType.oid === oid) return titleOfType(searched(), arrayType);
      }
      return numberText(oid);
    },
    numberOf: (name) => {
      const type = typeNamed(searched(), name);
      return type === undefined ? null : numberOfType(type);
    },
  };
}

function schemaNumbers(searched: () => SearchedCatalog): NameTypes['regnamespace'] {
  return {
    read: (name) => {
      const [schema = ''] = splitName(name);
      if (isNumber(name) || searched().catalog.hasSchema(schema)) return name;
      throw new SqlError('3F000', `schema "${schema}" does not exist`);
    },
    nameOf: (id) => {
      const name = searched()
        .catalog.schemas()
        .find((each) => schemaId(each) === id);
      return name === undefined ? numberText(id) : quoteName(name);
    },
    numberOf: (name) => (isNumber(name) ? Number(name) : schemaId(splitName(name)[0] ?? '')),
  };
}

/** The role of the session owns everything. */
function rolesOf(user: string): readonly (readonly [id: number, name: string])[] {
  return [
    [ownerRole, user],
    [publicOwnerRole, 'pg_database_owner'],
  ];
}

export function roleNamed(id: number, user: string): string | null {
  return rolesOf(user).find(([each]) => each === id)?.[1] ?? null;
}

function roleNumbers(user: string): NameTypes['regrole'] {
  const numberOf = (name: string): number => {
    if (isNumber(name)) return Number(name);
    const [wanted = ''] = splitName(name);
    const role = rolesOf(user).find(([, each]) => each === wanted);
    if (role === undefined) throw new SqlError('42704', `role "${wanted}" does not exist`);
    return role[0];
  };
  return {
    read: (name) => {
      numberOf(name);
      return name;
    },
    nameOf: (id) => {
      const name = roleNamed(id, user);
      return name === null ? numberText(id) : quoteName(name);
    },
    numberOf,
  };
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

/** What stands in the place of a name that nothing has. */
function numberText(id: number): string {
  return id === 0 ? '-' : String(id);
}
