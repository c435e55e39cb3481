import { counted } from '../report/index.ts';

/** The first three, and how many others. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length <= 3 ? shown : `${shown} and ${counted(names.length - 3, 'other')}`;
}
