/**
 * Runs the DDL of a real database, such as `pg_dump --schema-only` prints it: what moirai has no use for, extensions, functions, indexes for
 * operators that it does not know, is left out. A statement that moirai does not support never stops the analysis; one that is wrong does.
 */
import type { Session } from '../database/index.ts';
import { SqlError } from '../sql/model/index.ts';

export interface LeftOut {
  readonly sql: string;
  readonly reason: string;
}

export class DdlRunner {
  readonly #session: Pick<Session, 'prepare' | 'execute'>;
  readonly leftOut: LeftOut[] = [];
  /** Types of which columns are taken as text. */
  readonly asText = new Set<string>();
  /** Tables that have such columns. */
  readonly textTables = new Set<string>();

  constructor(session: Pick<Session, 'prepare' | 'execute'>) {
    this.#session = session;
  }

  /**
   * @returns what ran; empty where it was left out
   * @throws SqlError
   */
  async run(sql: string): Promise<readonly string[]> {
    try {
      await this.#session.execute(this.#session.prepare(sql), []);
      return [sql];
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      const other = error.code === unsupported ? this.#supported(sql, error.message) : undefined;
      if (other !== undefined) return this.#runAll(other);
      const follows = this.leftOut.length + this.asText.size > 0 && error.code !== syntaxError;
      if (error.code !== unsupported && !follows) throw error;
      this.leftOut.push({ sql, reason: error.message });
      return [];
    }
  }

  async #runAll(statements: readonly string[]): Promise<readonly string[]> {
    const ran: string[] = [];
    for (const one of statements) ran.push(...(await this.run(one)));
    return ran;
  }

  /** The statement in words that moirai knows. */
  #supported(sql: string, message: string): readonly string[] | undefined {
    const [, type] = /^type (\w+) is not supported/.exec(message) ?? [];
    if (type !== undefined && /^\s*(?:--.*\n\s*)*(?:create|alter)\s+table\b/i.test(sql)) {
      const text = sql.replaceAll(new RegExp(`(?<=["\\w]\\s+(?:\\w+\\.)?)${type}\\b`, 'gi'), 'text');
      if (text === sql) return undefined;
      this.asText.add(type);
      const [, table] = /\btable\s+(?:if\s+(?:not\s+)?exists\s+|only\s+)*([\w."]+)/i.exec(sql) ?? [];
      this.textTables.add(lastName(table ?? ''));
      return [text];
    }
    const [, table, column] =
      /alter\s+table\s+(?:only\s+)?([\w."]+)\s+alter\s+column\s+([\w"]+)\s+add\s+generated\b/i.exec(sql) ?? [];
    if (table === undefined || column === undefined) return undefined;
    const sequence = /sequence\s+name\s+([\w."]+)/i.exec(sql)?.[1] ?? `${table}_${column}_seq`.replaceAll('"', '');
    return [
      `CREATE SEQUENCE ${sequence}`,
      `ALTER TABLE ${table} ALTER COLUMN ${column} SET DEFAULT nextval('${sequence}')`,
    ];
  }
}

const unsupported = '0A000';
const syntaxError = '42601';

/** The same lines, those with commands of psql empty, as a dump holds them: `\restrict`, `\connect`. */
export function withoutCommands(schema: string): string {
  return schema.replaceAll(/^\\(?:restrict|unrestrict|connect|set|unset|encoding|echo)\b.*$/gm, '');
}

export function lastName(name: string): string {
  return name.replaceAll('"', '').split('.').at(-1) ?? name;
}
