/** What Node knows of the program that it runs: what its event loop waits for, and promises that were rejected and that nothing awaits. */

/** How much of each kind (timers, files, sockets, ...) keeps the event loop alive. What is unreferenced does not count. */
export function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Without a listener such a rejection ends the process. @returns stops listening */
export function onUnhandledRejection(listener: (reason: unknown) => void): () => void {
  process.on('unhandledRejection', listener);
  return () => process.off('unhandledRejection', listener);
}
