/**
 * Footprints of statements by their texts alone, for servers whose locks nobody records: a statement accesses the tables that it names and those that
 * foreign keys tie to them; what cannot be told from its words conflicts with every step. A step of a real server is a statement that was granted, with
 * all that ends or continues because of it: the server lets those that wait go on by itself.
 *
 * - Two steps conflict where one of them writes or locks rows of a table that the other names.
 * - The end of a transaction accesses what the transaction wrote or locked: it makes that visible, or gives the locks back. So does an error, which may
 *   end the transaction.
 * - Up to its first plain read a transaction above READ COMMITTED may take its snapshot, before or after the commit of a write of any other.
 * - At SERIALIZABLE every statement conflicts with every other: which transaction fails may depend on the order of two reads.
 */
import { Footprint } from '../../engine/index.ts';
import type { IsolationName } from '../../sql/index.ts';

/** Of the schema of a program, as the server has it. Names are in lower case. */
export interface KnownTables {
  readonly names: ReadonlySet<string>;
  /** Tables that a write of one may access in the other: foreign keys, inheritance. */
  readonly links: readonly (readonly [string, string])[];
  /** Triggers, functions, views and the like: then a statement may access what it does not name. */
  readonly isAnyHidden: boolean;
}

type Access = 'read' | 'change';

interface Connection {
  isOpen: boolean;
  /** A statement of it could not be told: from there on each of its steps conflicts with all. */
  isUnknown: boolean;
  isSerializable: boolean;
  isAboveReadCommitted: boolean;
  /** Has the transaction read without locks? */
  hasRead: boolean;
  /** What the open transaction wrote or locked. */
  readonly changed: Set<string>;
  /** The accesses of the statement that is under way; `null`: none is. */
  running: Footprint | null;
}

export class TextFootprints {
  readonly #tables: KnownTables;
  readonly #level: IsolationName;
  readonly #related: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #connections = new Map<string, Connection>();
  #step = new Footprint();

  constructor(tables: KnownTables, level: IsolationName) {
    const areWords = [...tables.names].every((name) => /^[\w$]+$/.test(name));
    this.#tables = { ...tables, isAnyHidden: tables.isAnyHidden || !areWords };
    this.#level = level;
    this.#related = related(tables);
  }

  /** A run begins. */
  begin(): void {
    this.#connections.clear();
    this.#step = new Footprint();
  }

  /** A statement is granted: a step begins. @param process of the connection */
  granted(process: string, sql: string): void {
    const connection = this.#connectionOf(process);
    const footprint = new Footprint();
    const text = plainText(sql);
    if (connection.isUnknown || !this.#isKnown(text)) {
      connection.isUnknown = true;
      footprint.touchAll();
    } else this.#touch(footprint, connection, text);
    footprint.touch(`session ${sessionOf(process)}`, 'change');
    connection.running = footprint;
    this.#step.add(footprint);
    if (footprint.touchesAll) this.#step.touchAll();
  }

  /** It is answered, in this step or in one that let it continue. */
  answered(process: string, isError: boolean): void {
    const connection = this.#connectionOf(process);
    const { running } = connection;
    connection.running = null;
    if (running === null) return;
    this.#step.add(running);
    if (running.touchesAll) this.#step.touchAll();
    if (isError) this.#endTransaction(this.#step, connection);
  }

  /** Its connections end, and roll back what they left open. */
  ended(session: string): void {
    for (const [process, connection] of this.#connections)
      if (sessionOf(process) === session && connection.isOpen) this.#endTransaction(this.#step, connection);
  }

  /** Processes with a statement that is not answered. */
  get waiting(): readonly string[] {
    return [...this.#connections].flatMap(([process, { running }]) => (running === null ? [] : [process]));
  }

  /** Of the step that ends now. */
  take(): Footprint {
    const step = this.#step;
    this.#step = new Footprint();
    return step.taken();
  }

  #connectionOf(process: string): Connection {
    const known = this.#connections.get(process);
    if (known !== undefined) return known;
    const connection: Connection = {
      isOpen: false,
      isUnknown: false,
      isSerializable: this.#level === 'serializable',
      isAboveReadCommitted: isAboveReadCommitted(this.#level),
      hasRead: false,
      changed: new Set(),
      running: null,
    };
    this.#connections.set(process, connection);
    return connection;
  }

  /** Is it one statement, and every name before a parenthesis a table or a function of its arguments alone? */
  #isKnown(text: string): boolean {
    if (!known.test(text) || text.includes(';') || hidden.test(text)) return false;
    return [...text.matchAll(/([\w$]+)["`]?\s*\(/g)].every(([, name = '']) => {
      const word = name.toLowerCase();
      return plainWords.has(word) || this.#tables.names.has(word);
    });
  }

  #touch(footprint: Footprint, connection: Connection, text: string): void {
    noteLevel(connection, text);
    if (ends.test(text)) {
      this.#endTransaction(footprint, connection);
      connection.isOpen = /\band\s+chain\b/i.test(text) && !/\bno\s+chain\b/i.test(text);
      return;
    }
    if (begins.test(text)) {
      if (connection.isOpen) this.#endTransaction(footprint, connection);
      connection.isOpen = true;
      if (/consistent\s+snapshot/i.test(text)) footprint.touch(commits, 'see');
      return;
    }
    if (/^rollback\b/i.test(text)) for (const table of connection.changed) footprint.touch(`table ${table}`, 'change');
    else if (!/^(?:savepoint|release|set|show|reset)\b/i.test(text)) this.#touchTables(footprint, connection, text);
  }

  #touchTables(footprint: Footprint, connection: Connection, text: string): void {
    if (connection.isSerializable || this.#tables.isAnyHidden) footprint.touchAll();
    const writes = /\b(?:insert|update|delete|replace|merge)\b/i.test(text);
    const access: Access =
      writes || /\b(?:for|lock\s+in)\s+(?:no\s+key\s+|key\s+)?(?:update|share)\b/i.test(text) ? 'change' : 'read';
    for (const table of this.#namedIn(text))
      for (const each of access === 'change' ? (this.#related.get(table) ?? [table]) : [table]) {
        footprint.touch(`table ${each}`, access);
        if (access === 'change') connection.changed.add(each);
      }
    if (connection.isOpen && connection.isAboveReadCommitted && !connection.hasRead) footprint.touch(commits, 'see');
    if (access === 'read') connection.hasRead = true;
    if (!connection.isOpen) this.#endTransaction(footprint, connection);
  }

  #namedIn(text: string): string[] {
    const words = text.toLowerCase().match(/[\w$]+/g) ?? [];
    return [...new Set(words)].filter((word) => this.#tables.names.has(word));
  }

  #endTransaction(footprint: Footprint, connection: Connection): void {
    for (const table of connection.changed) footprint.touch(`table ${table}`, 'change');
    if (connection.changed.size > 0) footprint.touch(commits, 'publish');
    if (connection.isSerializable) footprint.touchAll();
    connection.changed.clear();
    connection.hasRead = false;
  }
}

/** What commits publish, and snapshots see. */
const commits = 'commits';

/** Each table with all that a write of it may access. */
function related({ names, links }: KnownTables): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    [...names].map((name) => {
      const reached = new Set([name]);
      for (const each of reached)
        for (const [a, b] of links) {
          if (a === each) reached.add(b);
          if (b === each) reached.add(a);
        }
      return [name, reached];
    }),
  );
}

/** Levels that a text names, of this transaction or of all that follow: the connection keeps the strictest. */
function noteLevel(connection: Connection, text: string): void {
  const [, level] = /isolation\s+level\s+(serializable|repeatable\s+read)/i.exec(text) ?? [];
  if (level === undefined) return;
  connection.isAboveReadCommitted = true;
  if (/^s/i.test(level)) connection.isSerializable = true;
}

function isAboveReadCommitted(level: IsolationName): boolean {
  return level === 'repeatable read' || level === 'serializable';
}

/** What passes between the connections of a session is not seen. */
function sessionOf(process: string): string {
  return process.replace(/#\d+$/, '');
}

/** Without comments and what is in single quotes. */
function plainText(sql: string): string {
  return sql
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\/\*(?!!)[\s\S]*?\*\/|--[^\n]*/g, (token) =>
      /^["`]/.test(token) ? token : token.startsWith("'") ? "''" : ' ',
    )
    .replace(/^[\s(]+/, '')
    .replace(/[\s;]+$/, '');
}

const begins = /^(?:begin|start\s+transaction)\b/i;
const ends = /^(?:commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;
/** Statements whose words tell what they access. */
const known =
  /^(?:select|insert|update|delete|replace|with|values|table|begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|set|show|reset)\b/i;
/** Words that ask for what sessions share beside the tables of the schema, and signs that end literals elsewhere than a quote does. */
const hidden =
  /\b(?:pg_\w+|information_schema|performance_schema|innodb_\w+|mysql|sys|autocommit|global|persist|foreign_key_checks|deferred|immediate|into\s+outfile)\b|\$\w*\$|[\\@#]|\/\*/i;

/** Before a parenthesis: words of the language, types, and functions that look at their arguments only. */
const plainWords = new Set(
  `abs all and any array as avg between by case cast ceil char_length coalesce concat conflict count decimal distinct else exists except extract filter
  float floor from greatest having if ifnull in int integer intersect into is join key least left length like limit lower max min mod not nullif numeric on
  or order over position replace returning right round select set some substring sum then trim union unique update upper using values varchar when where
  with`.split(/\s+/),
);
