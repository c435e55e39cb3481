/** A SQL program as traffic: each of its sessions alone on a database of its own, its statements recorded. */
import { monotonicMs, before, LATE, InputError } from '../../base/index.ts';
import type { StatementValue } from '../../trace/index.ts';
import { formatText, SqlError, type SqlType, type SqlValue } from '../../sql/model/index.ts';
import { splitStatements } from '../../sql/index.ts';
import { connectTo } from '../../serve/index.ts';
import { openSqlDatabase, type SqlDatabase, type StatementEvent } from '../../database/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import type { Place } from '../application.ts';
import { engineOf } from '../engines.ts';
import { type PlacedStatement, type RanTraffic, RanTransactions } from './ran-transactions.ts';
import { Roles } from './session-statements.ts';

export interface ProgramTraffic {
  readonly traffic: RanTraffic;
  /** The DDL of the program's schema, without its rows. */
  readonly schema: string;
}

/**
 * @param file the program's, for statements of which it is not known where they were sent
 * @throws InputError `program/session-threw`, `program/session-waits`, `program/schema`
 */
export async function trafficOfProgram(program: SqlProgram, file: string): Promise<ProgramTraffic> {
  const transactions = new RanTransactions();
  for (const [at, session] of program.sessions.entries()) {
    const name = program.sessionNames[at] ?? '';
    const database = await databaseOf(program);
    const watch = new SessionWatch(name, program.dialect, file, transactions);
    const run = async (): Promise<void> => {
      await session({ name, connect: () => watch.connect(database), sometimes: () => undefined });
    };
    try {
      if ((await before(monotonicMs() + sessionMsMax, run())) === LATE)
        throw new InputError('program/session-waits', `session "${name}" does not end when it runs alone`, { file });
    } catch (error) {
      if (error instanceof InputError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new InputError('program/session-threw', `session "${name}" fails when it runs alone: ${why}`, { file });
    } finally {
      database.close();
    }
  }
  return { traffic: transactions.finish(), schema: definitionsOf(program) };
}

const sessionMsMax = 10_000;

async function databaseOf({ dialect, schema }: SqlProgram): Promise<SqlDatabase> {
  const { profileAt, defaultIsolation } = engineOf[dialect];
  const database = await openSqlDatabase({ profile: profileAt(defaultIsolation) });
  const options = { user: 'moirai', database: '', parameters: new Map<string, string>(), onParameter: () => undefined };
  const session = database.connect(options);
  try {
    for (const text of schema) for (const sql of session.split(text)) await session.execute(session.prepare(sql), []);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    throw new InputError('program/schema', `the schema does not run: ${error.message}`);
  } finally {
    session.close();
  }
  return database;
}

/** Statements of one session, over all its connections. */
class SessionWatch {
  readonly #name: string;
  readonly #dialect: SqlProgram['dialect'];
  readonly #file: string;
  readonly #transactions: RanTransactions;
  readonly #roles = new Roles();
  #connections = 0;

  constructor(name: string, dialect: SqlProgram['dialect'], file: string, transactions: RanTransactions) {
    this.#name = name;
    this.#dialect = dialect;
    this.#file = file;
    this.#transactions = transactions;
  }

  connect(database: SqlDatabase): ReturnType<typeof connectTo> {
    this.#connections += 1;
    const connection = `${this.#name}\n${this.#connections}`;
    let number = 0;
    let isOpen = false;
    let place: () => string | null = () => null;
    return connectTo(database, {
      findsPlaces: true,
      onSession: (session) => {
        place = () => session.watch.place();
      },
      onStatement: (event) => {
        const role = this.#roles.of(event.sql, this.#dialect);
        if (!isOpen) number += 1;
        if (role.kind === 'begin') isOpen = true;
        this.#transactions.take(this.#placed(event, connection, `${connection} ${number}`, place()));
        if (role.kind === 'commit' || role.kind === 'rollback') isOpen = false;
      },
    });
  }

  #placed(event: StatementEvent, session: string, transaction: string, place: string | null): PlacedStatement {
    const { sql, parameters, answer } = event;
    const base = { session, transaction, dialect: this.#dialect, sql, isShortened: false, place: this.#place(place) };
    const given = parameters.map((text) => (text === 'null' ? null : text));
    if (answer instanceof SqlError) return { ...base, parameters: given, result: null, code: answer.code };
    const { columns, rows, rowCount } = answer;
    const kept = rows.map((row) => row.map((value, at) => valueOf(value, columns?.[at]?.type, this.#dialect)));
    const result = { columns: (columns ?? []).map(({ name }) => name), rows: kept, count: rowCount };
    return { ...base, parameters: given, result, code: null };
  }

  #place(text: string | null): Place {
    const found = /^(.*):(\d+)$/.exec(text ?? '');
    return found === null ? { file: this.#file, line: 1 } : { file: found[1] ?? '', line: Number(found[2]) };
  }
}

function valueOf(value: SqlValue, type: SqlType | undefined, dialect: SqlProgram['dialect']): StatementValue {
  return value === null || type === undefined ? null : formatText(value, type, dialect);
}

/** Rows that the program begins with are not those of every database that its code runs on. */
function definitionsOf({ schema, dialect }: SqlProgram): string {
  const roles = new Roles();
  const statements = schema.flatMap((text) => splitStatements(text, dialect));
  return statements.filter((sql) => roles.of(sql, dialect).kind !== 'data').join(';\n');
}

/** `alice`, of its connections. */
export function sessionOfConnection(connection: string): string {
  return connection.split('\n')[0] ?? '';
}
