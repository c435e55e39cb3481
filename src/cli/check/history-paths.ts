/** The histories that the arguments of a command name: files, folders that are histories, and folders of histories. */
import { InputError } from '../../base/index.ts';
import { folderFormat, formatNamed, historyFormats } from '../../history/index.ts';
import type { HistoryPath } from './check-file.ts';
import type { Host } from '../host.ts';

/**
 * @param format by name; then every file of a folder counts, else those with names as histories have
 * @throws InputError `history/missing-file` for a folder without histories, `history/format`
 */
export async function historyPaths(
  paths: readonly string[],
  host: Pick<Host, 'listFolder'>,
  format?: string,
): Promise<HistoryPath[]> {
  const found: HistoryPath[] = [];
  for (const path of paths) {
    const entries = await inFolder(path, host, format);
    if (entries?.length === 0)
      throw new InputError('history/missing-file', 'there is no history in this folder', { file: path });
    found.push(...(entries ?? [{ path, files: null }]));
  }
  return found;
}

/** `null`: it is no folder. */
async function inFolder(
  path: string,
  host: Pick<Host, 'listFolder'>,
  format: string | undefined,
): Promise<HistoryPath[] | null> {
  const entries = await host.listFolder(path);
  if (entries === null) return null;
  const names = entries.filter(({ isFolder }) => !isFolder).map(({ name }) => name);
  const parts = folderFormat(names, format === undefined ? historyFormats : [formatNamed(format)]);
  if (parts !== null) return [{ path, files: parts.files }];
  const found: HistoryPath[] = [];
  for (const { name, isFolder } of entries) {
    const inside = `${path.replace(/\/+$/, '')}/${name}`;
    if (isFolder) found.push(...((await inFolder(inside, host, format)) ?? []));
    else if (format !== undefined || isHistoryName(name)) found.push({ path: inside, files: null });
  }
  return found;
}

const extensions = [...historyFormats.flatMap((format) => format.extensions), '.json'];

function isHistoryName(name: string): boolean {
  return extensions.some((extension) => name.endsWith(extension));
}
