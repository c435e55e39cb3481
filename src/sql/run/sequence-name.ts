import { quoteName } from '../catalog/name.ts';

/** As `nextval` takes it. */
export function sequenceName({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return schema === 'public' ? quoteName(name) : `${quoteName(schema)}.${quoteName(name)}`;
}
