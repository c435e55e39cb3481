/**
 * The database that a replay makes for itself and drops. Its name ends with a checksum, by which later replays know that moirai made it: a mark that is set
 * after the creation is missing where a replay is killed in between. A lock on the server says that the replay lives. What a replay that was killed left
 * behind the next one drops. Nothing else is touched.
 */
import { crc32, InputError, secretBytes } from '../base/index.ts';
import { type ProgramClient, RefusedStatement } from '../sql-program/index.ts';
import { loadParser, splitStatements } from '../sql/index.ts';
import { connectToServer, firstColumn, type OwnClient, rulesOf } from './own-client.ts';
import { type RealServer, scratchPrefix } from './server.ts';

interface ScratchOptions {
  readonly server: RealServer;
  readonly control: OwnClient;
  readonly client: ProgramClient;
  readonly version: string;
  readonly database: string;
  readonly leftOver: readonly string[];
}

export class Scratch {
  /** `PostgreSQL 15.18`. */
  readonly version: string;
  readonly database: string;
  /** Connected to the database. */
  readonly client: ProgramClient;
  /** Databases of replays that were killed, which this user may not drop. */
  readonly leftOver: readonly string[];
  readonly #server: RealServer;
  /** It holds the lock. */
  readonly #control: OwnClient;

  private constructor({ server, control, client, version, database, leftOver }: ScratchOptions) {
    this.#server = server;
    this.#control = control;
    this.client = client;
    this.version = version;
    this.database = database;
    this.leftOver = leftOver;
  }

  /** Dropped when `work` has ended. @throws InputError `replay/server`, `replay/login`, `replay/create` */
  static async use<T>(server: RealServer, work: (scratch: Scratch) => Promise<T>): Promise<T> {
    try {
      const scratch = await Scratch.#open(server);
      let result: T;
      try {
        result = await work(scratch);
      } catch (error) {
        // What failed first says more.
        await scratch.#close().catch(() => {});
        throw error;
      }
      await scratch.#close();
      return result;
    } catch (error) {
      if (!(error instanceof RefusedStatement)) throw error;
      throw new InputError('replay/server', `the server refuses what a replay needs: ${error.message} (${error.code})`);
    }
  }

  static async #open(server: RealServer): Promise<Scratch> {
    const { anyDatabase, hold, create, drop, version } = rulesOf[server.dialect];
    const control = await connectToServer(server, server.database === '' ? anyDatabase : server.database);
    const database = scratchName(Buffer.from(secretBytes(8)).toString('hex'));
    try {
      await control.query(hold(database));
      const leftOver = await dropLeftOver(control, server);
      const [title = ''] = firstColumn(await control.query(version));
      await control.query(create(database)).catch((error: unknown) => {
        throw createError(error, server);
      });
      const client = await connectToServer(server, database);
      return new Scratch({ server, control, client, version: title, database, leftOver });
    } catch (error) {
      await control.query(drop(database)).catch(() => {});
      control.end();
      throw error;
    }
  }

  /** Rejects when the lock is lost: then another replay may drop the database. */
  get lost(): Promise<never> {
    return this.#control.lost;
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

  async #close(): Promise<void> {
    try {
      this.client.end();
      await this.#control.query(rulesOf[this.#server.dialect].drop(this.database));
    } finally {
      this.#control.end();
    }
  }
}

/** @returns those that this user may not drop */
async function dropLeftOver(control: ProgramClient, { dialect }: RealServer): Promise<string[]> {
  const { leftOver, drop, noRight } = rulesOf[dialect];
  const kept: string[] = [];
  for (const database of firstColumn(await control.query(leftOver)).filter(isScratch))
    await control.query(drop(database)).catch((error: unknown) => {
      if (!(error instanceof RefusedStatement)) throw error;
      // Any other refusal: another replay drops it at this moment.
      if (noRight.has(error.code)) kept.push(database);
    });
  return kept;
}

/** @param digits 16 of them */
function scratchName(digits: string): string {
  const sum = crc32(Buffer.from(scratchPrefix + digits)).toString(16);
  return `${scratchPrefix}${digits}${sum.padStart(8, '0')}`;
}

function isScratch(database: string): boolean {
  return database === scratchName(database.slice(scratchPrefix.length, -8));
}

function createError(error: unknown, { dialect, user }: RealServer): unknown {
  if (!(error instanceof RefusedStatement)) return error;
  const { noRight, grant } = rulesOf[dialect];
  const how = noRight.has(error.code) ? `; to allow it: ${grant(user)}` : '';
  return new InputError('replay/create', `no scratch database: ${error.message} (${error.code})${how}`);
}
