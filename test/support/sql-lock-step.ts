/** SQL of several sessions in lock-step: each statement is sent when the one before has been answered or waits. On moirai and on a real PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type QueryArrayResult, type types } from 'pg';
import { connected, openDatabase, type TestSession } from '../../src/database/sql-session.test-support.ts';
import type { Ways } from '../../src/database/assumptions/index.ts';
import { formatText } from '../../src/sql/model/index.ts';
import type { StatementResult } from '../../src/sql/index.ts';

interface Step {
  readonly session: string;
  readonly sql: string;
}

export interface LockStepCase {
  readonly name: string;
  readonly schema: string;
  /** One statement a line: `a: select 1`. */
  readonly commands: string;
  /** The commands with what each came to. */
  readonly expected: string;
}

/** `# name`, the schema, `--`, and what `runInLockStep` returns; an empty line between cases. */
export function parseCases(text: string): LockStepCase[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map((part) => {
      const [head = '', body = ''] = part.split(/^--\n/m);
      const [name = '', ...schema] = head.trim().split('\n');
      const expected = body.trimEnd();
      const commands = expected
        .split('\n')
        .filter((line) => !line.startsWith('  '))
        .map((line) => line.replace(/ (?:waits|-> .*)$/, ''))
        .join('\n');
      return { name, schema: schema.join('\n'), commands, expected };
    });
}

function parseSteps(commands: string): Step[] {
  return commands.split('\n').flatMap((line) => {
    const found = /^(\w+): (.*)$/.exec(line);
    return found === null ? [] : [{ session: found[1] ?? '', sql: found[2] ?? '' }];
  });
}

/** Sessions that answer, or wait. */
export interface LockStepServer {
  /** Empty, with this schema. */
  readonly prepare: (schema: string) => Promise<void>;
  /** Sends a statement; `settle` says what came of it. */
  readonly send: (step: Step) => Promise<void>;
  /**
   * Answers since the last call, by session; everything that can be answered has been. A server may be late, with a session that it ends above all: those
   * of `awaited` are waited for, a while.
   */
  readonly settle: (awaited: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly close: () => Promise<void>;
}

/**
 * What each step came to: `a: begin -> BEGIN`, `b: select ... waits`, and `b -> (1)` when it is answered later. With what it is expected to be, an answer
 * that is late is waited for.
 */
export async function runInLockStep(
  server: LockStepServer,
  schema: string,
  commands: string,
  expected = '',
): Promise<string> {
  await server.prepare(schema);
  const lines: string[] = [];
  const awaited = answeredIn(expected);
  for (const [at, step] of parseSteps(commands).entries()) {
    await server.send(step);
    const answers = await server.settle(awaited[at] ?? []);
    const own = answers.get(step.session);
    lines.push(`${step.session}: ${step.sql}${own === undefined ? ' waits' : ` -> ${own}`}`);
    for (const [session, answer] of [...answers].toSorted(([a], [b]) => a.localeCompare(b)))
      if (session !== step.session) lines.push(`  ${session} -> ${answer}`);
  }
  return lines.join('\n');
}

/** Which sessions are answered by each step. */
function answeredIn(expected: string): readonly (readonly string[])[] {
  return expected
    .split(/\n(?! )/)
    .map((step) => [...step.matchAll(/^ *(\w+)(?:: .*)? -> /gm)].map(([, name = '']) => name));
}

/** @param ways by which the statements reach rows; without: the likely ones */
export function moiraiInLockStep(ways: Ways = {}): LockStepServer {
  let sessions = new Map<string, TestSession>();
  let answers = new Map<string, string>();
  let close = (): void => {};
  let open: (name: string) => TestSession;
  return {
    async prepare(schema) {
      close();
      const database = await openDatabase({ engine: 'postgres' }, { settle: null, pauses: false, ways });
      close = () => database.close();
      sessions = new Map();
      answers = new Map();
      open = () => connected(database);
      const first = connected(database);
      for (const sql of first.session.split(schema)) await first.run(sql);
    },
    async send({ session, sql }) {
      const client = sessions.get(session) ?? open(session);
      sessions.set(session, client);
      client.run(sql).then(
        (result) => answers.set(session, formatResult(result)),
        (error: { code: string }) => answers.set(session, error.code),
      );
      return Promise.resolve();
    },
    async settle() {
      // Promises only: nothing in a statement waits for more.
      for (let i = 0; i < 50; i++) await Promise.resolve();
      const over = answers;
      answers = new Map();
      return over;
    },
    close: () => Promise.resolve(close()),
  };
}

function formatResult({ command, columns, rows, rowCount }: StatementResult): string {
  // The driver of the real server gives the first word only.
  const [word = ''] = command.split(' ');
  if (columns === null) return isCounted(word) ? `${word} ${rowCount}` : word;
  const text = rows.map((row) =>
    row
      .map((value, i) => (value === null ? 'null' : formatText(value, columns[i]?.type ?? failed(), 'postgres')))
      .join(', '),
  );
  return formatRows(text);
}

function failed(): never {
  throw new Error('a value has a column');
}

function isCounted(command: string): boolean {
  return ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
}

function formatRows(rows: readonly string[]): string {
  return rows.length === 0 ? 'no rows' : rows.map((row) => `(${row})`).join(' ');
}

type TextRows = QueryArrayResult<(string | null)[]>;

/** As text. */
const asText = { getTypeParser: () => String } as unknown as typeof types;

export async function postgresInLockStep(port: number): Promise<LockStepServer> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', types: asText });
    // The connection may be ended by a statement of another.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const control = await connect();
  const clients = new Map<string, Client>();
  const running = new Set<string>();
  const answers = new Map<string, string>();
  async function answer(session: string, result: Promise<TextRows>): Promise<void> {
    let text: string;
    try {
      text = formatReal(await result);
    } catch (error) {
      text = (error as { readonly code: string }).code;
    }
    running.delete(session);
    answers.set(session, text);
  }
  return {
    async prepare(schema) {
      for (const client of clients.values()) await client.end();
      clients.clear();
      running.clear();
      answers.clear();
      await control.query(`drop schema public cascade; create schema public; ${schema}`);
    },
    async send({ session, sql }) {
      let client = clients.get(session);
      if (client === undefined) {
        client = await connect();
        await client.query(`set deadlock_timeout = '10ms'`);
        clients.set(session, client);
      }
      running.add(session);
      void answer(session, client.query({ text: sql, rowMode: 'array' }));
    },
    async settle(awaited) {
      const until = performance.now() + 10_000;
      const isLate = (): boolean => performance.now() < until && awaited.some((session) => running.has(session));
      for (let calm = 0; running.size > 0 && (calm < 6 || isLate()); ) {
        const before = answers.size;
        await sleep(5);
        // pg_stat_activity calls a session waiting until it runs again, which takes long on a busy machine; the lock is granted at once.
        const waiting = await control.query<unknown[]>({
          text: `select pid from pg_locks where not granted
            union select pid from pg_stat_activity where cardinality(pg_safe_snapshot_blocking_pids(pid)) > 0`,
          rowMode: 'array',
        });
        calm = waiting.rows.length >= running.size && answers.size === before ? calm + 1 : 0;
      }
      const over = new Map(answers);
      answers.clear();
      return over;
    },
    async close() {
      for (const client of [...clients.values(), control]) await client.end();
    },
  };
}

function formatReal({ command, rowCount, rows, fields }: TextRows): string {
  if (fields.length === 0) return isCounted(command) ? `${command} ${rowCount}` : command;
  return formatRows(rows.map((row) => row.map((value) => value ?? 'null').join(', ')));
}
