/** What a statement does to the transaction around it, or to the session: its text alone decides. */
import type { Dialect } from '../../sql/model/index.ts';
import {
  type IsolationName,
  type SettingStatement,
  type TransactionStatement,
  parseMysql,
  parseStatement,
  sessionStatement,
} from '../../sql/index.ts';

export type Role =
  /** `mode` is of the open transaction, `next-mode` of the one that follows. */
  | { readonly kind: 'begin' | 'mode' | 'next-mode' | 'session-mode'; readonly level: IsolationName | null }
  | { readonly kind: 'commit' | 'rollback' | 'ddl' | 'neutral' | 'data' }
  | { readonly kind: 'savepoint' | 'rollback-to' | 'release'; readonly name: string };

/** Roles by text: a program sends few. */
export class Roles {
  readonly #known = new Map<string, Role>();

  of(sql: string, dialect: Dialect): Role {
    const key = `${dialect} ${sql}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = roleOf(sql, dialect);
    if (this.#known.size < rolesMax) this.#known.set(key, found);
    return found;
  }
}

const rolesMax = 10_000;

/** What does not parse is data: the analysis says why it is not understood. */
function roleOf(sql: string, dialect: Dialect): Role {
  try {
    return roleIn[dialect](sql);
  } catch {
    return { kind: 'data' };
  }
}

const roleIn: Readonly<Record<Dialect, (sql: string) => Role>> = { postgres: postgresRole, mysql: mysqlRole };

function postgresRole(sql: string): Role {
  const tree = parseStatement(sql);
  if (tree === null) return { kind: 'neutral' };
  const session = sessionStatement(tree);
  if (session !== undefined) return sessionRole(session);
  return { kind: ddl.test(Object.keys(tree)[0] ?? '') ? 'ddl' : 'data' };
}

const ddl = /^(?:Create|Alter|Drop|Rename|Index|Comment|Grant|View|Define|Vacuum|Reindex|Refresh)/;

function mysqlRole(sql: string): Role {
  const parsed = parseMysql(sql);
  if (parsed.kind !== 'statement') return { kind: parsed.kind === 'several' ? 'ddl' : 'data' };
  const { statement } = parsed;
  if (statement.kind === 'transaction' || statement.kind === 'setting') {
    const role = sessionRole(statement);
    // MySQL manual, 15.3.7: SET TRANSACTION is of the next transaction, and refused while one is open.
    return role.kind === 'mode' ? { ...role, kind: 'next-mode' } : role;
  }
  return { kind: statement.kind === 'ddl' ? 'ddl' : 'neutral' };
}

function sessionRole(statement: TransactionStatement | SettingStatement): Role {
  if (statement.kind === 'setting') return settingRole(statement);
  switch (statement.what) {
    case 'begin':
      return { kind: 'begin', level: statement.modes.isolation ?? null };
    case 'modes':
      return {
        kind: statement.scope === 'session' ? 'session-mode' : 'mode',
        level: statement.modes.isolation ?? null,
      };
    case 'commit':
    case 'rollback':
      return { kind: statement.what };
    case 'rollback to':
      return { kind: 'rollback-to', name: statement.name };
    case 'savepoint':
    case 'release':
      return { kind: statement.what, name: statement.name };
  }
}

const levelSetting = /^(?:default_transaction_isolation|transaction_isolation|tx_isolation)$/i;

function settingRole(statement: SettingStatement): Role {
  if (statement.what !== 'set' || !levelSetting.test(statement.name)) return { kind: 'neutral' };
  const level = (statement.value ?? '').toLowerCase().replaceAll('-', ' ');
  const isOfSession = statement.name.toLowerCase().startsWith('default');
  return { kind: isOfSession ? 'session-mode' : 'mode', level: isLevel(level) ? level : null };
}

function isLevel(text: string): text is IsolationName {
  return ['read uncommitted', 'read committed', 'repeatable read', 'serializable'].includes(text);
}
