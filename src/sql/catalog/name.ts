/** Names as SQL writes them. */

/** `public."My Table"` -> its names. */
export function splitName(text: string): string[] {
  const names: string[] = [];
  for (const [, quoted, plain] of text.matchAll(/"((?:[^"]|"")*)"|([^."\s]+)/g)) {
    names.push(quoted === undefined ? (plain ?? '').toLowerCase() : quoted.replaceAll('""', '"'));
  }
  return names;
}

/** A name as it has to be written in SQL. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

const lead = 'pg_temp_';

export function temporarySchema(session: number): string {
  return `${lead}${session}`;
}

export function isTemporary(schema: string): boolean {
  return schema.startsWith(lead);
}
