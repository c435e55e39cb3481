/** What a table of names has itself: names come from the analysed source, and `toString` is one. */
export function ownEntry<Of>(table: Readonly<Record<string, Of>>, name: string): Of | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
