/** The extended protocol without its bytes, for a client in this process: Parse, Bind, Execute and Sync of one statement, values as text in and out. */
import type { ResultColumn, SqlSession, StatementResult } from '../../sql/index.ts';
import { formatText } from '../../sql/model/index.ts';
import { countOf } from './commands.ts';
import { errorFields } from './error.ts';
import { PreparedStatements } from './prepared.ts';

export type TextAnswer =
  | {
      readonly kind: 'result';
      /** None where it returns no rows. */
      readonly columns: readonly ResultColumn[];
      readonly rows: readonly (readonly (string | null)[])[];
      /** Of rows, as the end of the statement tells it. */
      readonly count: number;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

export class SessionQueries {
  readonly #session: SqlSession;
  readonly #prepared: PreparedStatements;

  constructor(session: SqlSession) {
    this.#session = session;
    this.#prepared = new PreparedStatements({}, session.namedStatements);
  }

  /** One after the other. */
  async query(sql: string, parameters: readonly (string | null)[]): Promise<TextAnswer> {
    try {
      this.#prepared.add('', () => this.#session.prepare(sql, []));
      this.#bind(sql, parameters);
      const { statement, parameters: values } = this.#prepared.portal('');
      return textAnswer(await this.#session.execute(statement, values));
    } catch (error) {
      this.#session.refused(error, sql);
      this.#session.fail(error);
      const { code = '', message = '' } = errorFields(error, 'ERROR');
      return { kind: 'refused', code, message };
    }
  }

  end(): void {
    this.#session.close();
  }

  #bind(sql: string, parameters: readonly (string | null)[]): void {
    const values = parameters.map((text) => (text === null ? null : Buffer.from(text)));
    try {
      this.#prepared.bind({ kind: 'bind', portal: '', statement: '', parameterFormats: [], values, resultFormats: [] });
    } catch (error) {
      this.#session.unbound?.(error, sql);
      throw error;
    }
  }
}

function textAnswer({ command, columns, rows, rowCount }: StatementResult): TextAnswer {
  if (columns === null) return { kind: 'result', columns: [], rows: [], count: countOf(command, rowCount) };
  const texts = rows.map((row) =>
    columns.map(({ type }, at) => {
      const value = row[at] ?? null;
      return value === null ? null : formatText(value, type, 'postgres');
    }),
  );
  return { kind: 'result', columns, rows: texts, count: countOf(command, rows.length) };
}
