/** Which database is mocked: a real engine at one of its own levels, or anything that a level of the axioms allows. */
import { InputError } from '../base/input-error.ts';
import { type ConstrainingLevel, constrainingLevels } from '../isolation/index.ts';
import type { Dialect, IsolationName } from '../sql/index.ts';

export type Profile =
  /** `isolation`: of transactions that do not name a level. */
  | { readonly family: 'engine'; readonly dialect: Dialect; readonly isolation: IsolationName }
  /** `granularity`: what one read reads. Cells are the paper's: one statement may show a row that no transaction wrote as a whole. */
  | {
      readonly family: 'axiomatic';
      readonly dialect: Dialect;
      readonly level: ConstrainingLevel;
      readonly granularity: 'cell' | 'row';
    };

export const isolationNames: readonly IsolationName[] = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'serializable',
];

/** Those that differ, weakest first: PostgreSQL's read uncommitted is its read committed. */
export const engineLevels: Readonly<Record<Dialect, readonly IsolationName[]>> = {
  postgres: ['read committed', 'repeatable read', 'serializable'],
  mysql: isolationNames,
};

/** What each engine does when nobody says a level. */
export const defaultIsolation: Readonly<Record<Dialect, IsolationName>> = {
  postgres: 'read committed',
  mysql: 'repeatable read',
};

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
    const dialect = dialectNamed(engine ?? options.dialect ?? 'postgres', 'engine');
    if (granularity !== undefined)
      throw new InputError('option/granularity', '--granularity goes with --level: engines read whole rows');
    return { family: 'engine', dialect, isolation: isolationNamed(isolation ?? defaultIsolation[dialect]) };
  }
  if (isolation !== undefined)
    throw new InputError('option/isolation', '--isolation is of an --engine; --level already says the level');
  if (!(constrainingLevels as readonly string[]).includes(level))
    throw new InputError('option/level', `"${level}" is none of the levels ${constrainingLevels.join(', ')}`);
  if (granularity !== undefined && granularity !== 'cell' && granularity !== 'row')
    throw new InputError('option/granularity', `"${granularity}" is neither cell nor row`);
  const dialect = dialectNamed(options.dialect ?? 'postgres', 'dialect');
  return { family: 'axiomatic', dialect, level: level as ConstrainingLevel, granularity: granularity ?? 'row' };
}

/** @throws InputError `option/isolation` */
export function isolationNamed(text: string): IsolationName {
  const name = text
    .trim()
    .toLowerCase()
    .replaceAll(/[-\s]+/g, ' ');
  if ((isolationNames as readonly string[]).includes(name)) return name as IsolationName;
  throw new InputError('option/isolation', `"${text}" is none of the levels ${isolationNames.join(', ')}`);
}

export function profileText(profile: Profile): string {
  return profile.family === 'engine'
    ? `${engineNames[profile.dialect]}, ${profile.isolation}`
    : `any behaviour of ${profile.level} (axiomatic, ${profile.granularity} granularity), ${profile.dialect} dialect`;
}

const engineNames: Readonly<Record<Dialect, string>> = { postgres: 'PostgreSQL', mysql: 'InnoDB' };

function dialectNamed(name: string, option: 'engine' | 'dialect'): Dialect {
  if (name === 'postgres' || name === 'mysql') return name;
  if (name === 'postgresql') return 'postgres';
  if (name === 'mariadb' || name === 'innodb') return 'mysql';
  throw new InputError(`option/${option}`, `"${name}" is neither postgres nor mysql`);
}
