/** The prepared statements of one connection, with what clients send to them in pieces. */
import type { PreparedStatement, SqlSession } from '../../sql/index.ts';
import { type SqlType, type SqlValue, SqlError, types } from '../../sql/model/index.ts';
import { type BinaryType, columnType, decodeExecution, type LongData } from '../../wire/mysql/index.ts';
import { protocolError } from './error.ts';
import { type ClientValue, clientValue, convert, textOrBytes } from './parameters.ts';

interface Entry {
  readonly id: number;
  readonly statement: PreparedStatement;
  /** As the client last named them. */
  types: readonly BinaryType[] | null;
  /** Pieces by parameter. */
  readonly longData: Map<number, Uint8Array[]>;
  longDataBytes: number;
  /** What was wrong with long data is said when the statement is executed. */
  failure: SqlError | null;
}

export interface BoundStatement {
  readonly statement: PreparedStatement;
  readonly parameters: readonly SqlValue[];
}

export interface StatementLimits {
  readonly statementsMax: number;
  /** Of the long data of one statement. */
  readonly longDataBytesMax: number;
}

export class PreparedStatements {
  readonly #limits: StatementLimits;
  readonly #entries = new Map<number, Entry>();
  #nextId = 1;

  constructor(limits: StatementLimits) {
    this.#limits = limits;
  }

  /** @throws SqlError 1461 */
  add(statement: PreparedStatement): number {
    if (this.#entries.size >= this.#limits.statementsMax)
      throw protocolError(
        1461,
        `Can't create more than max_prepared_stmt_count statements (current value: ${this.#limits.statementsMax})`,
      );
    const id = this.#nextId++;
    this.#entries.set(id, { id, statement, types: null, longData: new Map(), longDataBytes: 0, failure: null });
    return id;
  }

  close(id: number): void {
    this.#entries.delete(id);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Forgets long data. @throws SqlError 1243 */
  reset(id: number): void {
    forgetLongData(this.#entry(id, 'mysqld_stmt_reset'));
  }

  /** There is no cursor: all rows have been sent. @throws SqlError 1243, 1421 */
  fetch(id: number): never {
    this.#entry(id, 'mysqld_stmt_fetch');
    throw protocolError(1421, `The statement (${id}) has no open cursor.`);
  }

  /** Has no answer; so nothing is thrown. */
  addLongData({ statementId, parameter, data }: LongData): void {
    const entry = this.#entries.get(statementId);
    if (entry === undefined) return;
    if (parameter >= entry.statement.parameterTypes.length)
      entry.failure ??= protocolError(1210, 'Incorrect arguments to mysqld_stmt_send_long_data');
    else if (entry.longDataBytes + data.length > this.#limits.longDataBytesMax)
      entry.failure ??= protocolError(1153, "Got a packet bigger than 'max_allowed_packet' bytes");
    else {
      const pieces = entry.longData.get(parameter) ?? [];
      pieces.push(Uint8Array.from(data));
      entry.longData.set(parameter, pieces);
      entry.longDataBytes += data.length;
    }
  }

  /** @throws SqlError 1243, 1366 and the like; WireError */
  bind(id: number, body: Uint8Array, session: SqlSession): BoundStatement {
    const entry = this.#entry(id, 'mysqld_stmt_execute');
    const { statement, longData, failure } = entry;
    try {
      if (failure !== null) throw failure;
      const { types: wireTypes, values } = decodeExecution(body, {
        parameters: statement.parameterTypes.length,
        types: entry.types,
        hasLongData: (parameter) => longData.has(parameter),
      });
      entry.types = wireTypes;
      const given = values.map((value, i) => {
        const type = wireTypes[i] ?? { type: columnType.null, isUnsigned: false };
        const pieces = longData.get(i);
        return pieces === undefined ? clientValue(value, type) : longValue(Buffer.concat(pieces), type);
      });
      return bound(statement, given, session);
    } finally {
      forgetLongData(entry);
    }
  }

  #entry(id: number, what: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw protocolError(1243, `Unknown prepared statement handler (${id}) given to ${what}`);
    return entry;
  }
}

function forgetLongData(entry: Entry): void {
  entry.longData.clear();
  entry.longDataBytes = 0;
  entry.failure = null;
}

/** Long data is bytes; of what, its type says, which may be any. */
function longValue(bytes: Uint8Array, type: BinaryType): ClientValue {
  const isText =
    type.type === columnType.varString || type.type === columnType.string || type.type === columnType.varchar;
  return isText ? textOrBytes(bytes) : { type: types.bytea, value: bytes };
}

/**
 * The statement expects types that it inferred from its text. Where they cannot hold what the client sends, or where nothing but a text was
 * inferred for a number, it is prepared again for the client's types: `WHERE id = 1.5` finds nothing, and does not find 2.
 */
function bound(statement: PreparedStatement, given: readonly ClientValue[], session: SqlSession): BoundStatement {
  const converted = given.map((value, i) => convert(value, expected(statement, i)));
  const named = given.map((value, i) =>
    converted[i] === undefined || isNumberForText(value, expected(statement, i)) ? value.type : undefined,
  );
  if (named.every((type) => type === undefined)) return { statement, parameters: converted as SqlValue[] };
  const isNeeded = converted.includes(undefined);
  const again = preparedAgain(statement, named, session, isNeeded);
  if (again === null) return { statement, parameters: converted as SqlValue[] };
  const parameters = given.map((value, i) => {
    const parameter = convert(value, expected(again, i));
    if (parameter === undefined) throw protocolError(1210, 'Incorrect arguments to mysqld_stmt_execute');
    return parameter;
  });
  return { statement: again, parameters };
}

function expected(statement: PreparedStatement, parameter: number): SqlType {
  return statement.parameterTypes[parameter] ?? types.unknown;
}

function isNumberForText({ type, value }: ClientValue, { name }: SqlType): boolean {
  return value !== null && numbers.has(type.name) && (name === 'text' || name === 'unknown');
}

const numbers: ReadonlySet<string> = new Set(['int4', 'int8', 'uint8', 'float8', 'numeric']);

function preparedAgain(
  { sql, parameterTypes }: PreparedStatement,
  named: readonly (SqlType | undefined)[],
  session: SqlSession,
  isNeeded: boolean,
): PreparedStatement | null {
  try {
    return session.prepare(
      sql,
      named.map((type, i) => type ?? parameterTypes[i]),
    );
  } catch (error) {
    // A text can stand where a number cannot: then the number's text does.
    if (error instanceof SqlError && !isNeeded) return null;
    throw error;
  }
}
