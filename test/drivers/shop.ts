/**
 * What every client does in its own words: a small shop of books. The suite asks for the same things of each and compares the same answers, so
 * that a client's script holds nothing but how that client says them.
 */
import type { SqlDatabase } from '../../src/database/index.ts';

export interface NewBook {
  readonly author: number;
  readonly title: string;
  /** Two digits after the point. */
  readonly price: string;
  readonly isSold: boolean;
  readonly meta: unknown;
  /** With milliseconds. */
  readonly added: Date;
}

export type Isolation = 'read committed' | 'repeatable read' | 'serializable';

/** The operations of one client; inside `transaction` those of the transaction. */
export interface ShopTransaction {
  /** @returns its id, as the client reports it: RETURNING, insertId */
  addAuthor(name: string): Promise<number>;
  addBook(book: NewBook): Promise<void>;
  book(title: string): Promise<NewBook | null>;
  /** @returns rows affected, as the client reports them */
  setPrice(title: string, price: string): Promise<number>;
  remove(title: string): Promise<number>;
  /** Runs `work` in a savepoint, which is rolled back when it throws. Absent: the client has none. */
  readonly savepoint?: (work: (shop: ShopTransaction) => Promise<void>) => Promise<void>;
}

export interface Shop extends ShopTransaction {
  /** Primary and unique keys, generated ids, a foreign key, defaults, a timestamp, a decimal, JSON, a boolean. */
  createTables(): Promise<void>;
  /** What a client that looks after the schema does when the tables are there: nothing is lost. */
  readonly keepTables?: () => Promise<void>;
  /** Everything but author and title is left to the defaults. */
  addPlain(author: number, title: string): Promise<void>;
  /** Titles of an author's books, last first: a join, ordering, a limit, parameters. */
  titles(author: string, limit: number): Promise<string[]>;
  /** The titles of books that agree in everything but the title and the JSON: a parameter of each type. */
  like(book: NewBook): Promise<string[]>;
  /** The same prepared statement for one title after the other. Absent: the client has none of its own. */
  readonly prepared?: (titles: readonly string[]) => Promise<(string | undefined)[]>;
  /** Commits when `work` resolves, rolls back when it throws. */
  transaction<T>(work: (shop: ShopTransaction) => Promise<T>, isolation?: Isolation): Promise<T>;
  /** The code of an error as the client reports it. */
  codeOf(error: unknown): unknown;
  close(): Promise<void>;
}

/** Where a client connects to: an address, or the database itself in the same process. */
export interface Served {
  readonly host: string;
  readonly port: number;
  readonly database: SqlDatabase;
  /** Told of bugs of ours. */
  readonly onBug: (error: unknown) => void;
}

export type OptionalStep = 'tables kept' | 'prepared';

export interface Driver {
  readonly name: string;
  readonly dialect: 'postgres' | 'mysql';
  /** The packages whose versions matter, as package.json has them. */
  readonly packages: readonly string[];
  /** How it gets there and in which form of the protocol. */
  readonly how: string;
  /** Steps that it has nothing of its own for. */
  readonly without?: readonly OptionalStep[];
  readonly open: (served: Served) => Promise<Shop>;
}
