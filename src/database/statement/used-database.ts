/** The name in USE, which is part of messages and of column definitions. */
export function usedDatabase(sql: string): string | null {
  const parts = /^\s*use\s+(?:`((?:[^`]|``)+)`|([^\s`;]+))\s*;?\s*$/i.exec(sql);
  return parts?.[1]?.replaceAll('``', '`') ?? parts?.[2] ?? null;
}
