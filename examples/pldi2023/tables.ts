/**
 * Tables on a key-value store, as in the evaluation of "Dynamic Partial Order Reduction for Checking Correctness against Transaction
 * Isolation Levels" (PLDI 2023): a table is one key with the ids of its rows, and one key for each row. So a scan also reads which rows
 * there are not, and no phantom is lost.
 */
import { type Program, program, type SessionHandle, type TransactionHandle } from 'moirai';

/** What it returns, the invariant sees; `undefined` also where it was rolled back. */
export type Body = (t: TransactionHandle) => Promise<unknown>;
export type Calls = Readonly<Record<string, (...args: string[]) => Body>>;

export const ids = (t: TransactionHandle, table: string) => t.read<string[]>(table);

export const readRow = async <Row>(t: TransactionHandle, table: string, id: string): Promise<Row | null> =>
  (await ids(t, table)).includes(id) ? t.read<Row>(`${table}:${id}`) : null;

/** A row without which the transaction makes no sense: it is rolled back. */
export const requireRow = async <Row>(t: TransactionHandle, table: string, id: string): Promise<Row> =>
  (await readRow<Row>(t, table, id)) ?? t.abort();

/** The rows whose id passes; an id that is there twice is read twice. */
export async function readWhere<Row>(
  t: TransactionHandle,
  table: string,
  where: (id: string) => boolean = () => true,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const id of await ids(t, table)) if (where(id)) rows.push(await t.read<Row>(`${table}:${id}`));
  return rows;
}

export const insertId = async (t: TransactionHandle, table: string, id: string) =>
  t.write(table, [...(await ids(t, table)), id]);

export const insertRow = async (t: TransactionHandle, table: string, id: string, row: unknown) => {
  await insertId(t, table, id);
  await t.write(`${table}:${id}`, row);
};

export const writeRow = async (t: TransactionHandle, table: string, id: string, row: unknown) => {
  if ((await ids(t, table)).includes(id)) await t.write(`${table}:${id}`, row);
};

/** @returns was there such a row? */
export async function changeRow<Row>(
  t: TransactionHandle,
  table: string,
  id: string,
  change: (row: Row) => Row,
): Promise<boolean> {
  const row = await readRow<Row>(t, table, id);
  if (row !== null) await writeRow(t, table, id, change(row));
  return row !== null;
}

/** @returns was there such a row? */
export const deleteRow = async (t: TransactionHandle, table: string, id: string): Promise<boolean> => {
  const rows = await ids(t, table);
  const first = rows.indexOf(id);
  await t.write(
    table,
    rows.filter((_, i) => i !== first),
  );
  return first >= 0;
};

/** What is left at the end, as the invariants of the applications ask for it. */
export interface Outcome {
  /** The ids of a table's rows. */
  readonly ids: (table: string) => readonly string[];
  /** `null` where there is none. */
  readonly row: (table: string, id: string) => unknown;
  /** What the transactions that were not rolled back returned, session by session. */
  readonly returned: readonly (readonly unknown[])[];
}

/** A sentence that says what is wrong; `null` where nothing is. */
export type OutcomeInvariant = (outcome: Outcome) => string | null;

/** `enroll 1 1; getE | delete 1`: sessions between bars, transactions between semicolons. */
export function client(
  text: string,
  calls: Calls,
  initial: Record<string, unknown>,
  invariant: OutcomeInvariant = () => null,
): Program {
  const sessions = text.split('|').map((session) => {
    const bodies = session.split(';').map((call) => {
      const [name = '', ...args] = call.trim().split(/\s+/);
      return (calls[name] as Calls[string])(...args);
    });
    return async (s: SessionHandle) => {
      const returned: unknown[] = [];
      for (const body of bodies) {
        const result = await s.transaction(body);
        if (result !== undefined) returned.push(result);
      }
      return returned;
    };
  });
  return program({
    initial,
    sessions: Object.fromEntries(sessions.map((session, i) => [String(i), session])),
    invariant: ({ final, results }) =>
      invariant({
        ids: (table) => final[table] as readonly string[],
        row: (table, id): unknown => final[`${table}:${id}`] ?? null,
        returned: Object.values(results),
      }) ?? true,
  });
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

export const count = <T>(list: readonly T[], item: T): number => list.filter((each) => each === item).length;

export function rowsOf(name: string, rows: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    [name]: Object.keys(rows),
    ...Object.fromEntries(Object.entries(rows).map(([id, row]) => [`${name}:${id}`, row])),
  };
}

export const byId = <Row>(from: number, to: number, row: (id: number) => Row): Record<string, Row> =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [String(from + i), row(from + i)]));

export function clientsOf(
  application: (text: string) => Program,
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, Program>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, application(text)]));
}

/**
 * Larger programs of the same calls, as sessions of transactions: of each client its sessions and two of the next client, each followed by
 * two transactions of a session of the client after.
 */
export function growing(texts: Readonly<Record<string, string>>): readonly (readonly (readonly string[])[])[] {
  const all = Object.values(texts).map((text) =>
    text.split('|').map((session) => session.split(';').map((call) => call.trim())),
  );
  const at = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;
  return all.map((sessions, c) =>
    [...sessions, ...at(all, c + 1).slice(0, 2)].map((calls, s) => [...calls, ...at(at(all, c + 2), s).slice(0, 2)]),
  );
}
