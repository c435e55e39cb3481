/** Failing runs of a program as files: kept when they are found, and read again before the next test. */
import { resolve } from 'node:path';
import { InputError } from '../../base/index.ts';
import {
  failureName,
  type FailureRecord,
  formatFailureRecord,
  isNamedAfter,
  parseFailureRecord,
} from '../../failures/index.ts';
import type { FailureFolder } from './failure-folder.ts';
import type { RecordedRun } from '../../program/index.ts';
import type { Host } from '../host.ts';
import { moiraiVersion } from '../own-files.ts';

/** A failing run as a tool knows it. */
export type FoundFailure = Omit<FailureRecord, 'versions' | 'program'>;

export interface KeptFailure {
  /** In the folder. */
  readonly name: string;
  /** Its path, as it is shown. */
  readonly path: string;
  readonly record: FailureRecord;
}

/** Kept for one program; beyond, the oldest are removed. */
const keptMax = 20;

/** @returns a line that says where they are; `null` where none was kept. A folder that cannot be written is a warning, never a failure */
export async function keepFailures(host: Host, file: string, found: readonly FoundFailure[]): Promise<string | null> {
  const { failures: folder } = host;
  if (folder === null || found.length === 0) return null;
  const versions = { moirai: moiraiVersion(), node: process.versions.node };
  const program = { file, source: await sourceOf(host, file) };
  const records = found.map((failure): FailureRecord => ({ versions, program, ...failure }));
  try {
    for (const record of records) await folder.write(failureName(record), formatFailureRecord(record));
    await removeOldest(folder, host, file);
  } catch (error) {
    host.err(`warning: failing runs cannot be kept in ${folder.path}: ${messageOf(error)}\n`);
    return null;
  }
  const [first] = records;
  return records.length === 1 && first !== undefined
    ? `kept: ${folder.path}/${failureName(first)}`
    : `kept: ${records.length} failing runs in ${folder.path}`;
}

/**
 * Those of one program, the oldest first. What cannot be read is a warning.
 * @param onUnread the path of one that cannot be read and has the name of the program
 */
export async function keptFailures(
  folder: FailureFolder,
  host: Host,
  file: string,
  onUnread: (path: string) => void = () => {},
): Promise<KeptFailure[]> {
  const kept: KeptFailure[] = [];
  for (const name of await folder.list()) {
    const path = `${folder.path}/${name}`;
    try {
      const record = parseFailureRecord(await folder.read(name), path);
      if (resolve(record.program.file) === resolve(file)) kept.push({ name, path, record });
    } catch (error) {
      host.err(`warning: ${path} is passed over: ${messageOf(error)}\n`);
      if (isNamedAfter(name, file)) onUnread(path);
    }
  }
  return kept;
}

/** The run that printed a token, where its failure is kept: a token has only hashes of what the run did. */
export async function recordedRun(
  host: Host,
  file: string,
  token: string | null | undefined,
): Promise<RecordedRun | null> {
  if (host.failures === null || token === null || token === undefined) return null;
  const kept = await keptFailures(host.failures, host, file);
  return kept.find(({ record }) => record.token === token)?.record ?? null;
}

async function removeOldest(folder: FailureFolder, host: Host, file: string): Promise<void> {
  const kept = await keptFailures(folder, host, file);
  for (const { name } of kept.slice(0, Math.max(0, kept.length - keptMax))) await folder.remove(name);
}

async function sourceOf(host: Host, file: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await host.readInput(file));
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
