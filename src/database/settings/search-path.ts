/** The schemas in which a session looks for names. */
import type { Catalog } from '../../sql/index.ts';
import type { Settings } from './settings.ts';

/** The session's own schema of temporary tables comes first. `"$user", public` -> its schemas; the user's own has to exist to count, and here it does not. */
export function searchPathOf(
  { temporarySchema: own, settings }: SearchingSession,
  catalog: Catalog,
): readonly string[] {
  const path = pathOf(settings.get('search_path'));
  return catalog.hasSchema(own) ? [own, ...path.filter((schema) => schema !== 'pg_temp')] : path;
}

interface SearchingSession {
  readonly temporarySchema: string;
  readonly settings: Settings;
}

function pathOf(text: string | undefined): readonly string[] {
  if (text === undefined) return ['public'];
  return text
    .split(',')
    .map((part) => part.trim().replaceAll('"', ''))
    .filter((part) => part !== '' && part !== '$user');
}
