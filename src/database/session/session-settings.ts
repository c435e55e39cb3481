/** SET of one session: of its settings, and of those that are another way to say SET TRANSACTION. */
import type { Notice, TransactionModes } from '../../sql/index.ts';
import { modesOfSetting, setDefaultModes } from '../settings/index.ts';
import { modesOutside } from './session-notices.ts';
import type { SessionParts } from './session-parts.ts';

type SettingSession = Pick<SessionParts, 'instance' | 'state' | 'transaction'>;

/** SET, set_config, and what the protocols have in their place. @throws SqlError 42704, 55P02, 22023, 25001 */
export function setSetting(
  session: SettingSession,
  name: string,
  value: string | null,
  isLocal: boolean,
): readonly Notice[] {
  const { modesOfOpen } = session.instance.rules;
  const modes = modesOfSetting(name, value, modesOfOpen);
  if (modes !== null && (modes.scope === 'transaction' || !modesOfOpen))
    return setModes(session, modes.scope, modes.modes);
  session.state.settings.set(name, value, isLocal);
  return [];
}

/** SET TRANSACTION, SET SESSION CHARACTERISTICS. @throws SqlError 25001 */
export function setModes(
  { instance, state, transaction }: SettingSession,
  scope: 'transaction' | 'session',
  modes: TransactionModes,
): readonly Notice[] {
  if (scope === 'session') setDefaultModes(state.settings, modes);
  else if (!transaction.characteristics.set(modes, transaction)) return instance.rules.warns ? [modesOutside] : [];
  return [];
}
