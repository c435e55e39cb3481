/**
 * The database that a replay makes for itself and drops. A lock on the server says that the replay lives; what a replay that is no more left behind is
 * dropped by the next one, by its name. Nothing else is touched.
 */
import { InputError, secretBytes } from '../base/index.ts';
import { type ProgramClient, RefusedStatement } from '../sql-program/index.ts';
import { loadParser, splitStatements } from '../sql/index.ts';
import { connectToServer, firstColumn, rulesOf } from './own-client.ts';
import { type RealServer, scratchPrefix } from './server.ts';

export class Scratch {
  /** `PostgreSQL 15.18`. */
  readonly version: string;
  readonly database: string;
  /** Connected to the database. */
  readonly client: ProgramClient;
  readonly #server: RealServer;
  readonly #control: ProgramClient;

  private constructor(
    server: RealServer,
    control: ProgramClient,
    client: ProgramClient,
    version: string,
    database: string,
  ) {
    this.#server = server;
    this.#control = control;
    this.client = client;
    this.version = version;
    this.database = database;
  }

  /** @throws InputError `replay/server`, `replay/login`, `replay/create` */
  static async open(server: RealServer): Promise<Scratch> {
    const { anyDatabase, hold, leftOver, create, drop, version } = rulesOf[server.dialect];
    const control = await connectToServer(server, server.database === '' ? anyDatabase : server.database);
    const database = `${scratchPrefix}${Buffer.from(secretBytes(8)).toString('hex')}`;
    try {
      await control.query(hold(database));
      for (const left of firstColumn(await control.query(leftOver))) await control.query(drop(left));
      const [title = ''] = firstColumn(await control.query(version));
      await control.query(create(database)).catch((error: unknown) => {
        throw createError(error, server);
      });
      const client = await connectToServer(server, database);
      return new Scratch(server, control, client, title, database);
    } catch (error) {
      // What failed first says more.
      await control.query(drop(database)).catch(() => {});
      control.end();
      throw error;
    }
  }

  /** Empties the database and runs this schema. @throws InputError `program/schema` */
  async make(schema: readonly string[]): Promise<void> {
    const { dialect } = this.#server;
    await loadParser();
    for (const sql of rulesOf[dialect].empty(this.database)) await this.client.query(sql);
    for (const sql of schema.flatMap((text) => splitStatements(text, dialect)))
      await this.client.query(sql).catch((error: unknown) => {
        if (!(error instanceof RefusedStatement)) throw error;
        const { message, code } = error;
        throw new InputError('program/schema', `the schema, on ${this.version}: ${message} (${code}): ${sql}`);
      });
  }

  /** Ends connections that their sessions have left open: they may hold locks. */
  async endConnections(ids: readonly number[]): Promise<void> {
    const { endConnection } = rulesOf[this.#server.dialect];
    for (const id of ids)
      await this.#control.query(endConnection(id)).catch((error: unknown) => {
        // It has ended already.
        if (!(error instanceof RefusedStatement)) throw error;
      });
  }

  async close(): Promise<void> {
    try {
      this.client.end();
      await this.#control.query(rulesOf[this.#server.dialect].drop(this.database));
    } finally {
      this.#control.end();
    }
  }
}

function createError(error: unknown, { dialect, user }: RealServer): unknown {
  if (!(error instanceof RefusedStatement)) return error;
  const { noRight, grant } = rulesOf[dialect];
  const how = noRight.has(error.code) ? `; to allow it: ${grant(user)}` : '';
  return new InputError('replay/create', `no scratch database: ${error.message} (${error.code})${how}`);
}
