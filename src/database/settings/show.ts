import { type SettingStatement, unknownSetting } from '../../sql/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { Settings } from './settings.ts';

/** Rows of a SHOW statement. @param ofTransaction settings of the transaction, which no SET of a session stores @throws SqlError 42704 */
export function shown(
  statement: Extract<SettingStatement, { what: 'show' }>,
  settings: Settings,
  ofTransaction: (name: string) => string | undefined,
): SqlValue[][] {
  if (statement.name.toLowerCase() === 'all') return [...settings.all()].map(([name, value]) => [name, value, '']);
  const value = ofTransaction(statement.name.toLowerCase()) ?? settings.get(statement.name);
  if (value === undefined) throw unknownSetting(statement.name);
  return [[value]];
}
