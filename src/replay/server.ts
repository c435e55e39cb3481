/** What a replay asks of a real server, and what each of the two is asked otherwise. */
import type { Duplex } from 'node:stream';
import type { ProgramClient } from '../sql-program/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import type { Address } from './gate.ts';
import type { GateTap, GateTapOptions } from './gate-tap.ts';

/** A real server and a user of it. */
export interface RealServer extends Address {
  readonly dialect: Dialect;
  readonly user: string;
  readonly password: string;
  /** Where moirai connects to make databases of its own; `''`: any. */
  readonly database: string;
}

/** What a statement that is under way waits for, as the server says. */
export interface Wait {
  /** `a row of accounts`. */
  readonly lock: string;
  /** Connections that hold it or come before, as far as the server says. */
  readonly holders: readonly number[];
}

export interface ServerRules {
  readonly title: string;
  readonly tap: new (options: GateTapOptions) => GateTap;
  readonly client: (stream: Duplex) => Promise<ProgramClient>;
  /** Where a client connects that needs no database of its own. */
  readonly anyDatabase: string;
  /** Asks for one text: its version. */
  readonly version: string;
  /** Names `scratch`, for as long as the connection lives: other replays then know that it is in use. */
  readonly hold: (scratch: string) => string;
  /** Asks for the databases with names like those of scratches that no replay holds. */
  readonly leftOver: string;
  readonly create: (database: string) => string;
  /** Leaves the database as it was made. */
  readonly empty: (database: string) => readonly string[];
  readonly endConnection: (id: number) => string;
  readonly drop: (database: string) => string;
  /** Asks for the tables of the database that the client is connected to, as statements name them. */
  readonly tables: string;
  /**
   * Asks for what a schema has, as rows of a kind and two names: each table, each link of two tables by which a statement on one accesses the other,
   * and what is hidden: triggers, views, functions, by which a statement accesses tables that it does not name.
   */
  readonly schemaParts: string;
  /** Of these connections, those that wait for a lock. */
  readonly waits: (client: ProgramClient, ids: readonly number[]) => Promise<ReadonlyMap<number, Wait>>;
  /** Connections that hold what this one waits for, where `waits` does not tell: asked once of each wait. */
  readonly holders: ((client: ProgramClient, id: number) => Promise<readonly number[]>) | null;
  /** Codes of errors. */
  readonly wrongLogin: ReadonlySet<string>;
  readonly noRight: ReadonlySet<string>;
  /** Gives `user` the right to make databases. */
  readonly grant: (user: string) => string;
}

/** Of the names of scratch databases; 24 digits follow. */
export const scratchPrefix = 'moirai_replay_';
export const scratchPattern = `^${scratchPrefix}[0-9a-f]{24}$`;
