/** The schemas in which a session looks for names. */
import type { Settings } from './settings.ts';

/** `"$user", public` -> its schemas; the user's own has to exist to count, and here it does not. */
export function searchPathOf({ settings }: { readonly settings: Settings }): readonly string[] {
  const text = settings.get('search_path');
  if (text === undefined) return ['public'];
  return text
    .split(',')
    .map((part) => part.trim().replaceAll('"', ''))
    .filter((part) => part !== '' && part !== '$user');
}
