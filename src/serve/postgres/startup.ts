/** What a client says when it opens a connection: who it is, which database, which settings. Manual, "Start-up". */
import { notSupported, SqlError } from '../../sql/model/index.ts';
import { postgresDefaults } from '../../database/index.ts';
import type { StartupPacket } from '../../wire/postgres/index.ts';

export interface StartupOptions {
  readonly user: string;
  readonly database: string;
  /** The settings among the parameters, with those of `options`. */
  readonly settings: ReadonlyMap<string, string>;
  /** The protocol's minor version that both sides know. */
  readonly minor: number;
  /** Protocol options that we do not know, for NegotiateProtocolVersion. */
  readonly unknownOptions: readonly string[];
}

export const latestMinor = 2;
const notSettings = new Set(['user', 'database', 'options', 'replication']);

/** @throws SqlError 0A000 another major version, replication, an encoding beside UTF-8; 28000 no user; 42601 unreadable options */
export function readStartup(packet: Extract<StartupPacket, { kind: 'startup' }>): StartupOptions {
  const { major, minor, parameters } = packet;
  if (major !== 3) {
    throw new SqlError(
      '0A000',
      `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.${latestMinor}`,
    );
  }
  const user = parameters.get('user') ?? '';
  if (user === '') throw new SqlError('28000', 'no PostgreSQL user name specified in startup packet');
  if (!isFalse(parameters.get('replication'))) throw notSupported('replication');
  const settings = new Map(parseOptions(parameters.get('options') ?? ''));
  const unknownOptions: string[] = [];
  for (const [name, value] of parameters) {
    if (name.startsWith('_pq_.')) unknownOptions.push(name);
    else if (!notSettings.has(name)) settings.set(name, value);
  }
  const encoding = settings.get('client_encoding');
  if (encoding !== undefined) settings.set('client_encoding', readEncoding(encoding));
  // The order of day and month, which a client may leave out, is reported.
  for (const [name, value] of settings) {
    if (name.toLowerCase() === 'datestyle' && /^iso$/i.test(value)) settings.set(name, 'ISO, MDY');
  }
  const database = parameters.get('database') ?? '';
  return {
    user,
    database: database === '' ? user : database,
    settings,
    minor: Math.min(minor, latestMinor),
    unknownOptions,
  };
}

/** What is sent between authentication and the first ReadyForQuery. @param changed what the session has made of some of them */
export function reportedSettings(startup: StartupOptions, changed: ReadonlyMap<string, string>): Map<string, string> {
  const { settings, user } = startup;
  const given = new Map([...settings].map(([name, value]) => [name.toLowerCase(), value]));
  const values = reportedNames.map((name): [string, string] => {
    if (name === 'session_authorization') return [name, user];
    return [name, changed.get(name) ?? given.get(name.toLowerCase()) ?? postgresDefaults[name] ?? ''];
  });
  return new Map(values);
}

/** Manual, "Asynchronous Operations". */
const reportedNames = [
  'application_name',
  'client_encoding',
  'DateStyle',
  'default_transaction_read_only',
  'in_hot_standby',
  'integer_datetimes',
  'IntervalStyle',
  'is_superuser',
  'server_encoding',
  'server_version',
  'session_authorization',
  'standard_conforming_strings',
  'TimeZone',
];

/** SQL_ASCII means that bytes go through as they are, which UTF-8 does; `psql` asks for it in the C locale. */
function readEncoding(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (plain === 'utf8' || plain === 'unicode') return 'UTF8';
  if (plain === 'sqlascii') return 'SQL_ASCII';
  throw notSupported(`client_encoding ${name}`);
}

function isFalse(value: string | undefined): boolean {
  return value === undefined || ['false', 'off', 'no', '0'].includes(value.toLowerCase());
}

/** `-c name=value`, `-cname=value` and `--name=value`; a backslash takes the next character as it is. @throws SqlError 42601 */
function parseOptions(text: string): [string, string][] {
  const words = (text.match(/(?:\\.|[^\s\\])+/gs) ?? []).map((word) => word.replaceAll(/\\(.)/gs, '$1'));
  const settings: [string, string][] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const setting = word === '-c' ? words[++i] : /^(?:-c|--)(.+)$/s.exec(word)?.[1];
    const parts = /^([^=]+)=(.*)$/s.exec(setting ?? '');
    if (parts === null) throw new SqlError('42601', `invalid command-line argument for server process: ${word}`);
    settings.push([(parts[1] as string).replaceAll('-', '_'), parts[2] as string]);
  }
  return settings;
}
