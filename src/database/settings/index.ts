export { type ModesSetting, modesOfSetting, setDefaultModes } from './modes-of-setting.ts';
export { searchPathOf } from './search-path.ts';
export { postgresDefaults, Settings, type SettingsMark, timeoutMs } from './settings.ts';
export { shown } from './show.ts';
