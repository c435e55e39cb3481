import type { CatalogLookups, NamedNumbers } from '../catalog-lookups.ts';
import { SqlError } from '../model/index.ts';

const unnamed: NamedNumbers = {
  read: (name) => {
    throw new SqlError('42704', `"${name}" does not exist`);
  },
  nameOf: String,
  numberOf: () => null,
};

/** A catalog in which functions find nothing. */
export const nameless: CatalogLookups = {
  currentSchema: () => null,
  isVisible: () => null,
  toRegclass: () => null,
  toRegtype: () => null,
  roleName: () => null,
  names: { regclass: unnamed, regtype: unnamed, regnamespace: unnamed, regrole: unnamed },
  serialSequence: () => null,
  comment: () => null,
  columnComment: () => null,
  viewDefinition: () => null,
  constraintDefinition: () => null,
  indexDefinition: () => null,
  prettyExpression: (text) => text,
};
