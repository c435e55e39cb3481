/** Which database is mocked: a real engine at one of its own levels, or anything that a level of the axioms allows. */
import { InputError } from '../../base/index.ts';
import type { Dialect } from '../../sql/model/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import {
  axiomaticProfile,
  type Engine as StorageEngine,
  type EngineOptions,
  type EngineProfile,
  innodbEngine,
  isolationNamed,
  postgresEngine,
} from '../../engine/index.ts';
import {
  type ConstrainingLevel,
  constrainingLevels,
  type IsolationLevel,
  isolationLevels,
} from '../../isolation/index.ts';
import { postgresDefaults } from '../settings/index.ts';

/** What `--engine` takes. */
export type EngineName = 'postgres' | 'mysql' | 'mariadb-11.6';

export interface Engine {
  /** In verdicts. */
  readonly title: string;
  readonly dialect: Dialect;
  /** Its rows and the rules that its sessions see. */
  readonly storage: StorageEngine;
  /** Settings of its sessions that have a value before a client gives one. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The database that is mocked: an engine at one of its levels, or any behaviour of a level of the axioms. */
export type Profile =
  /** `isolation`: of transactions that do not name a level. */
  | {
      readonly family: 'engine';
      readonly engine: EngineName;
      readonly dialect: Dialect;
      readonly isolation: IsolationName;
    }
  /** `granularity`: what one read reads. Cells are the paper's: one statement may show a row that no transaction wrote as a whole. */
  | {
      readonly family: 'axiomatic';
      readonly dialect: Dialect;
      readonly level: ConstrainingLevel;
      readonly granularity: 'cell' | 'row';
    };

/** Servers with one dialect and other defaults are rows of this table, not conditions elsewhere. */
export const engines: Readonly<Record<EngineName, Engine>> = {
  postgres: { title: 'PostgreSQL', dialect: 'postgres', storage: postgresEngine, settings: postgresDefaults },
  mysql: { title: 'InnoDB', dialect: 'mysql', storage: innodbEngine, settings: {} },
  // MariaDB's manual, "innodb_snapshot_isolation": on by default from 11.6.2.
  'mariadb-11.6': {
    title: 'MariaDB 11.6',
    dialect: 'mysql',
    storage: innodbEngine,
    settings: { innodb_snapshot_isolation: '1' },
  },
};

/** Those that differ, weakest first: PostgreSQL's read uncommitted is its read committed. */
export const engineLevels: Readonly<Record<Dialect, readonly IsolationName[]>> = {
  postgres: postgresEngine.levels,
  mysql: innodbEngine.levels,
};

/** What each engine does when no level is set. */
export const defaultIsolation: Readonly<Record<Dialect, IsolationName>> = {
  postgres: postgresEngine.defaultIsolation,
  mysql: innodbEngine.defaultIsolation,
};

/** A profile by names. Without any: PostgreSQL at its default level. */
export interface ProfileOptions {
  readonly engine?: string | undefined;
  readonly isolation?: string | undefined;
  readonly level?: string | undefined;
  readonly granularity?: string | undefined;
  readonly dialect?: string | undefined;
}

/** @throws InputError `option/engine`, `option/isolation`, `option/level`, `option/granularity`, `option/dialect` */
export function parseProfile(options: ProfileOptions): Profile {
  const { engine, isolation, level, granularity } = options;
  if (engine !== undefined && level !== undefined) {
    throw new InputError(
      'option/engine',
      '--engine is a real engine and --level a level of the axioms; give one of them (with --engine, say --isolation)',
    );
  }
  if (level === undefined) {
    if (engine !== undefined && options.dialect !== undefined)
      throw new InputError('option/dialect', '--dialect goes with --level: an --engine speaks its own');
    const name = engineNamed(engine ?? options.dialect ?? 'postgres');
    const { dialect } = engines[name];
    if (granularity !== undefined)
      throw new InputError('option/granularity', '--granularity goes with --level: engines read whole rows');
    return {
      family: 'engine',
      engine: name,
      dialect,
      isolation: isolationNamed(isolation ?? defaultIsolation[dialect]),
    };
  }
  if (isolation !== undefined)
    throw new InputError('option/isolation', '--isolation is of an --engine; --level already says the level');
  if (!(constrainingLevels as readonly string[]).includes(level))
    throw new InputError('option/level', `"${level}" is none of the levels ${constrainingLevels.join(', ')}`);
  if (granularity !== undefined && granularity !== 'cell' && granularity !== 'row')
    throw new InputError('option/granularity', `"${granularity}" is neither cell nor row`);
  const dialect = dialectOf(options.dialect ?? 'postgres');
  return { family: 'axiomatic', dialect, level: level as ConstrainingLevel, granularity: granularity ?? 'row' };
}

/** A profile in words: `PostgreSQL, repeatable read`. */
export function profileText(profile: Profile): string {
  return profile.family === 'engine'
    ? `${engines[profile.engine].title}, ${profile.isolation}`
    : `any behaviour of ${profile.level} (axiomatic, ${profile.granularity} granularity), ${profile.dialect} dialect`;
}

/** The weakest level of the database, by its own name, that forbids what a level of the axioms forbids. */
export function forbiddingLevel(profile: Profile, level: IsolationLevel): string {
  if (profile.family === 'axiomatic') return level;
  const { levels, histories } = engines[profile.engine].storage;
  return levels.find((each) => isolationLevels.indexOf(histories[each]) >= isolationLevels.indexOf(level)) ?? level;
}

/**
 * A profile as a kept failure has it. Those of before engines had names stand for the dialect's first.
 * @throws InputError as `parseProfile`, where another version wrote it
 */
export function recordedProfile(recorded: Readonly<Record<string, string>>): Profile {
  const { family, engine, dialect, isolation, level = '', granularity } = recorded;
  return family === 'engine'
    ? parseProfile({ engine: engine ?? dialect ?? '', isolation })
    : parseProfile({ level, granularity, dialect });
}

/** A new engine of this profile, without tables. */
export function openEngine(profile: Profile, options: EngineOptions): EngineProfile {
  switch (profile.family) {
    case 'engine':
      return engines[profile.engine].storage.open(profile.isolation, options);
    case 'axiomatic': {
      const { level, granularity, dialect } = profile;
      return axiomaticProfile({ level, granularity, speaksAs: engines[dialect].storage }, options);
    }
  }
}

/** What the sessions of a database have set from the start. */
export function settingsOf(profile: Profile): Engine['settings'] {
  return engines[profile.family === 'engine' ? profile.engine : profile.dialect].settings;
}

const aliases: Readonly<Record<string, EngineName>> = { postgresql: 'postgres', mariadb: 'mysql', innodb: 'mysql' };

function engineNamed(text: string): EngineName {
  const name = Object.hasOwn(aliases, text) ? aliases[text] : text;
  if (name !== undefined && Object.hasOwn(engines, name)) return name as EngineName;
  const [last, ...others] = Object.keys(engines).toReversed();
  throw new InputError(
    'option/engine',
    `"${text}" is none of the engines ${others.toReversed().join(', ')} and ${last}`,
  );
}

function dialectOf(name: string): Dialect {
  if (name === 'postgres' || name === 'mysql') return name;
  throw new InputError('option/dialect', `"${name}" is neither postgres nor mysql`);
}
