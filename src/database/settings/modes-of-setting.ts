/** Settings that are another way to say SET TRANSACTION or SET SESSION CHARACTERISTICS. */
import type { IsolationName, TransactionModes } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { isolationNames } from '../../engine/index.ts';
import type { Settings } from './settings.ts';

export interface ModesSetting {
  /** `transaction`: of the open one; `session`: of all from now on. */
  readonly scope: 'transaction' | 'session';
  /** Empty: back to the default. */
  readonly modes: TransactionModes;
}

/** @param value `null`: the default. @param modesOfOpen see `SessionRules`. @returns `null` for all other settings. @throws SqlError 22023 */
export function modesOfSetting(name: string, value: string | null, modesOfOpen: boolean): ModesSetting | null {
  const parts = /^(default_)?(?:transaction|tx)_(isolation|read_only)$/.exec(name.toLowerCase());
  if (parts === null) return null;
  const scope = parts[1] !== undefined || !modesOfOpen ? 'session' : 'transaction';
  if (value === null) return { scope, modes: {} };
  return {
    scope,
    modes: parts[2] === 'isolation' ? { isolation: isolationOf(name, value) } : { isReadOnly: booleanOf(name, value) },
  };
}

/** SET SESSION CHARACTERISTICS. */
export function setDefaultModes(settings: Settings, { isolation, isReadOnly }: TransactionModes): void {
  if (isolation !== undefined) settings.set('default_transaction_isolation', isolation, false);
  if (isReadOnly !== undefined) settings.set('default_transaction_read_only', isReadOnly ? 'on' : 'off', false);
}

/** `on`, `yes`, `1`... @throws SqlError 22023 */
function booleanOf(name: string, value: string): boolean {
  const text = value.toLowerCase();
  if (['on', 'true', 'yes', '1'].includes(text)) return true;
  if (['off', 'false', 'no', '0'].includes(text)) return false;
  throw new SqlError('22023', `parameter "${name}" requires a Boolean value`);
}

function isolationOf(name: string, value: string): IsolationName {
  const text = value.toLowerCase().replaceAll('-', ' ');
  const known = isolationNames.find((each) => each === text);
  if (known !== undefined) return known;
  throw new SqlError('22023', `invalid value for parameter "${name}": "${value}"`, {
    hint: `Available values: ${isolationNames.toReversed().join(', ')}.`,
  });
}
