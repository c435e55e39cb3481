import { type SettingStatement, unknownSetting } from '../../sql/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { Session } from '../sql-session.ts';

/** Rows of a SHOW statement. @throws SqlError 42704 */
export function shown(statement: Extract<SettingStatement, { what: 'show' }>, session: Session): SqlValue[][] {
  if (statement.name.toLowerCase() === 'all')
    return [...session.settings.all()].map(([name, value]) => [name, value, '']);
  const value = session.transactionSetting(statement.name.toLowerCase()) ?? session.settings.get(statement.name);
  if (value === undefined) throw unknownSetting(statement.name);
  return [[value]];
}
