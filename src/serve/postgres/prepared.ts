/** The prepared statements and portals of a connection. Manual, "Extended Query". */
import type { PreparedStatement, StatementResult } from '../../sql/index.ts';
import {
  type SqlType,
  type SqlValue,
  notSupported,
  SqlError,
  typeOfOid,
  parseBinary,
  parseText,
} from '../../sql/model/index.ts';
import { decodeUtf8, type FrontendMessage } from '../../wire/postgres/index.ts';
import { formatsFor } from './rows.ts';

export interface Portal {
  readonly statement: PreparedStatement;
  readonly parameters: readonly SqlValue[];
  /** One for each column. */
  readonly formats: readonly number[];
  /** `null` until it is executed for the first time. */
  result: StatementResult | null;
  /** Rows that have been sent. */
  sentRows: number;
}

export interface PreparedLimits {
  /** Statements and portals at a time, each; default 10,000. */
  readonly preparedMax?: number;
}

export class PreparedStatements {
  readonly #statements: Map<string, PreparedStatement>;
  /** The unnamed portal, which most clients use alone. */
  #unnamed: Portal | null = null;
  /** By name. */
  readonly #portals = new Map<string, Portal>();
  readonly #preparedMax: number;

  /** @param statements those of the session, which SQL's PREPARE and DEALLOCATE change, too */
  constructor(limits: PreparedLimits, statements = new Map<string, PreparedStatement>()) {
    this.#statements = statements;
    this.#preparedMax = limits.preparedMax ?? 10_000;
  }

  /** The unnamed one is replaced, others are not. @throws SqlError 42P05, 54000 */
  add(name: string, prepare: () => PreparedStatement): void {
    if (name === '') this.#statements.delete(name);
    else if (this.#statements.has(name)) throw new SqlError('42P05', `prepared statement "${name}" already exists`);
    this.#mayGrow(this.#statements, 'prepared statements');
    this.#statements.set(name, prepare());
  }

  /** @throws SqlError 26000 */
  statement(name: string): PreparedStatement {
    const statement = this.#statements.get(name);
    if (statement !== undefined) return statement;
    throw new SqlError(
      '26000',
      name === '' ? 'unnamed prepared statement does not exist' : `prepared statement "${name}" does not exist`,
      { routine: 'FetchPreparedStatement' },
    );
  }

  /** @throws SqlError 26000, 42P03, 08P01, 22P02 and what else values can be wrong with */
  bind(message: Extract<FrontendMessage, { kind: 'bind' }>): void {
    const { portal: name, resultFormats } = message;
    const statement = this.statement(message.statement);
    if (name === '') this.#unnamed = null;
    else if (this.#portals.has(name)) throw new SqlError('42P03', `cursor "${name}" already exists`);
    this.#mayGrow(this.#portals, 'portals');
    const parameters = readParameters(statement, message);
    const formats = formatsFor(statement.columns?.length ?? 0, resultFormats, 'result');
    const portal = { statement, parameters, formats, result: null, sentRows: 0 };
    if (name === '') this.#unnamed = portal;
    else this.#portals.set(name, portal);
  }

  /** @throws SqlError 34000 */
  portal(name: string): Portal {
    const portal = name === '' ? this.#unnamed : this.#portals.get(name);
    if (portal !== undefined && portal !== null) return portal;
    throw new SqlError('34000', `portal "${name}" does not exist`);
  }

  /** The statement and the portals made from it; no error when there is none. */
  closeStatement(name: string): void {
    const statement = this.#statements.get(name);
    this.#statements.delete(name);
    if (this.#unnamed?.statement === statement) this.#unnamed = null;
    for (const [portalName, portal] of this.#portals)
      if (portal.statement === statement) this.#portals.delete(portalName);
  }

  closePortal(name: string): void {
    if (name === '') this.#unnamed = null;
    else this.#portals.delete(name);
  }

  /** Portals end with their transaction. */
  closePortals(): void {
    this.#unnamed = null;
    if (this.#portals.size > 0) this.#portals.clear();
  }

  /** DEALLOCATE ALL, DISCARD ALL. */
  closeStatements(): void {
    this.#statements.clear();
  }

  #mayGrow(map: ReadonlyMap<string, unknown>, what: string): void {
    if (map.size < this.#preparedMax) return;
    throw new SqlError('54000', `a connection may have ${this.#preparedMax} ${what} (preparedMax)`);
  }
}

/** Types that a Parse names; 0 leaves one open. @throws SqlError 0A000 */
export function typesOfOids(oids: readonly number[]): (SqlType | undefined)[] {
  return oids.map((oid) => {
    const type = typeOfOid(oid);
    // `unknown` says as much as nothing.
    if (oid === 0 || type?.name === 'unknown') return undefined;
    if (type === undefined) throw notSupported(`a parameter of the type with number ${oid}`);
    return type;
  });
}

function readParameters(statement: PreparedStatement, message: Extract<FrontendMessage, { kind: 'bind' }>): SqlValue[] {
  const { values, parameterFormats, statement: name } = message;
  const { parameterTypes } = statement;
  const formats = formatsFor(values.length, parameterFormats, 'parameter');
  if (values.length !== parameterTypes.length) {
    const supplied = `bind message supplies ${values.length} parameters`;
    throw new SqlError('08P01', `${supplied}, but prepared statement "${name}" requires ${parameterTypes.length}`);
  }
  return values.map((bytes, i) => {
    if (bytes === null) return null;
    const type = parameterTypes[i] as SqlType;
    return formats[i] === 1 ? parseBinary(bytes, type) : parseText(readText(bytes), type);
  });
}

/** @throws SqlError, WireError the text has a zero byte or is not UTF-8 */
function readText(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw new SqlError('22021', 'invalid byte sequence for encoding "UTF8": 0x00');
  return decodeUtf8(bytes);
}
