/**
 * Data folders of database servers: making one takes seconds, copying it does not. In a run of the tests, the first file that starts a server leaves
 * a copy of its new data folder for the others, in a folder that is gone when the run ends (`globalSetup` of vitest.config.ts).
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './server-process.ts';

const variable = 'MOIRAI_SERVER_DATA';

/** Before the first test; what it returns, after the last. */
// Vitest takes the default export.
// oxlint-disable-next-line import/no-default-export
export default function setup(): () => void {
  // Each project of the configuration calls it.
  if (process.env[variable] !== undefined) return () => {};
  const folder = mkdtempSync(join(tmpdir(), 'moirai-server-data-'));
  process.env[variable] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Fills `data`, which is not there yet. @param kind of server, with its version where there are several @param create makes it from nothing */
export function provideData(kind: string, data: string, create: () => void): void {
  const copies = process.env[variable];
  const known = copies === undefined ? undefined : join(copies, kind);
  if (known !== undefined && existsSync(known)) return copy(known, data);
  create();
  if (copies === undefined || known === undefined) return;
  const unfinished = mkdtempSync(join(copies, 'unfinished-'));
  copy(data, join(unfinished, kind));
  try {
    renameSync(join(unfinished, kind), known);
  } catch {
    // Another file was first.
  }
  rmSync(unfinished, { recursive: true, force: true });
}

/** With owners and modes: servers refuse data that others may read. */
function copy(from: string, to: string): void {
  run('cp', ['-a', from, to]);
}
