/** What the serial orders of a witness come to: each runs on a database of its own. */
import { type Chooser, exploring, nextPath } from '../base/index.ts';
import type { Table } from '../sql/index.ts';
import { type DatabaseImage, openSqlDatabase, type SharedPlans, type SqlDatabase } from '../database/index.ts';
import {
  prepareSchema,
  type ProgramClient,
  type QueryResult,
  schemaFault,
  type SharedSchema,
} from '../sql-program/index.ts';
import { connectingTo } from './connecting.ts';
import { engineOf } from './engines.ts';
import { statementsIn } from './paths.ts';
import { isOf } from './run-dependent-columns.ts';
import type { RunSession } from './run-session.ts';
import type { Ran } from './run-steps.ts';
import { ChoosingClient, usesSkipLocked } from './skip-locked-choices.ts';
import type { WitnessDefinition, WitnessSession } from './witness-definition.ts';

/** What the runs of a definition make once: its explored runs, and those of its serial orders. */
export interface SharedBySerialRuns {
  /** Of all definitions with the same tables. */
  readonly plans: SharedPlans;
  readonly schema: SharedSchema;
}

export async function readState({ state }: WitnessDefinition, client: ProgramClient): Promise<readonly QueryResult[]> {
  const results: QueryResult[] = [];
  for (const query of state) results.push(await client.query(query));
  return results;
}

export interface Outcome {
  readonly all: string;
  readonly state: string;
}

/** @param committed in the order of the definition */
export function outcomeText(
  committed: readonly string[],
  ran: Readonly<Record<string, Ran>>,
  state: readonly QueryResult[],
  { ignored, compared }: WitnessDefinition,
): Outcome {
  const left = JSON.stringify(state.map((result) => rowsWithout(result, ignored)));
  const beside =
    compared === 'state and reads'
      ? committed.map((name) => ran[name]?.saw.map((result) => [result.count, rowsWithout(result, ignored)]))
      : writtenBy(committed, ran, ignored);
  return { all: `${JSON.stringify(beside)} ${left}`, state: left };
}

/** Rows without columns of the run's own. */
function rowsWithout({ rows }: QueryResult, ignored: WitnessDefinition['ignored']): unknown {
  return rows.map((row) => Object.entries(row).filter(([name]) => !ignored.includes(name)));
}

/**
 * What was written by any of them, each once: two who claim one row write two things where one after the other only the first writes; who marks a row as read that is
 * marked already writes nothing new.
 */
function writtenBy(
  committed: readonly string[],
  ran: Readonly<Record<string, Ran>>,
  ignored: readonly string[],
): readonly string[] {
  const dependent = new Set(ignored);
  const texts = committed
    .flatMap((name) => ran[name]?.wrote ?? [])
    .map(({ statement: { sql, parameters }, given }) =>
      JSON.stringify([sql, given.filter((_, at) => !isOf(parameters[at], dependent))]),
    );
  return [...new Set(texts)].toSorted();
}

interface Orders {
  readonly outcomes: Outcome[];
  /** Those that have not run yet. */
  readonly left: SerialRun[];
}

/** What one order came to. */
interface SerialRan {
  readonly ran: Readonly<Record<string, Ran>>;
  readonly state: readonly QueryResult[];
}

interface SerialRun {
  readonly order: readonly WitnessSession[];
  /** Of what SKIP LOCKED leaves out: choices, from the first; beyond them nothing is left out. */
  readonly path: readonly number[];
}

/** With SKIP LOCKED, of one set of sessions: with more, nothing is said. */
const serialRunsMax = 256;

/**
 * What every order of a set of sessions comes to. An order runs once, and only where those before it do not explain what was seen: first each as it is, then with rows that
 * SKIP LOCKED leaves out.
 */
export class SerialOutcomes {
  readonly #definition: WitnessDefinition;
  readonly #runs: SerialRuns;
  readonly #orders = new Map<string, Orders>();
  /** The first run of each order, which leaves nothing out. */
  readonly #first = new Map<string, SerialRan & { readonly next: readonly number[] | null }>();

  constructor(definition: WitnessDefinition, run: RunSession, shared: SharedBySerialRuns | undefined) {
    this.#definition = definition;
    this.#runs = new SerialRuns(definition, run, shared);
  }

  /**
   * What the orders of all sessions do, as a text: which sessions commit, what their conditions come to, how many rows each statement sees or changes, and
   * which orders its answer, and the final state, tell apart. Definitions with the same text differ in amounts that decide nothing and hide nothing.
   */
  async shape(): Promise<string> {
    const { sessions, ignored } = this.#definition;
    const orders: SerialRan[] = [];
    for (const order of ordersOf(sessions)) orders.push(await this.#runOf({ order, path: [] }));
    const ofSessions = sessions.map(({ name }) => {
      const ran = orders.map((each) => each.ran[name]);
      const longest = Math.max(0, ...ran.map((each) => each?.saw.length ?? 0));
      const told = Array.from({ length: longest }, (_, at) =>
        numbered(ran.map((each) => each?.saw[at] && rowsWithout(each.saw[at], ignored))),
      );
      return [name, ran.map((each) => [each?.end, each?.decided, each?.saw.map(({ count }) => count)]), told];
    });
    return JSON.stringify([
      ofSessions,
      numbered(orders.map(({ state }) => state.map((result) => rowsWithout(result, ignored)))),
    ]);
  }

  /** What some order of the sessions shows as well: all that was seen, the final state only, or nothing. */
  async explains(names: readonly string[], seen: Outcome): Promise<'all' | 'state' | 'nothing'> {
    const { outcomes, left } = this.#ordersOf(names);
    if (outcomes.some(({ all }) => all === seen.all)) return 'all';
    for (let run = left.shift(); run !== undefined; run = left.shift()) {
      const { outcome, next } = await this.#outcomeOf(run, names);
      if (outcome !== undefined) outcomes.push(outcome);
      if (next !== null) left.push({ order: run.order, path: next });
      if (outcome?.all === seen.all) return 'all';
      if (outcomes.length === serialRunsMax) return 'all';
    }
    return outcomes.some(({ state }) => state === seen.state) ? 'state' : 'nothing';
  }

  #ordersOf(names: readonly string[]): Orders {
    const key = names.join('\0');
    const sessions = this.#definition.sessions.filter(({ name }) => names.includes(name));
    const left = ordersOf(sessions).map((order) => ({ order, path: [] }));
    const orders = this.#orders.get(key) ?? { outcomes: [], left };
    this.#orders.set(key, orders);
    return orders;
  }

  /** `undefined`: a session that committed does not commit in this order. `next`: other rows to leave out. */
  async #outcomeOf(
    { order, path }: SerialRun,
    names: readonly string[],
  ): Promise<{ readonly outcome: Outcome | undefined; readonly next: readonly number[] | null }> {
    const { ran, state, next } = await this.#runOf({ order, path });
    const areCommitted = order.every(({ name }) => ran[name]?.end === 'committed');
    return { outcome: areCommitted ? outcomeText(names, ran, state, this.#definition) : undefined, next };
  }

  async #runOf({ order, path }: SerialRun): Promise<SerialRan & { readonly next: readonly number[] | null }> {
    const key = order.map(({ name }) => name).join('\0');
    const known = path.length === 0 ? this.#first.get(key) : undefined;
    if (known !== undefined) return known;
    const chooser = exploring(path);
    const made = { ...(await this.#runs.inOrder(order, chooser)), next: nextPath(chooser.path, chooser.options) };
    if (path.length === 0) this.#first.set(key, made);
    return made;
  }
}

/** Runs of a definition, one session after the other, each on a database of its own. */
export class SerialRuns {
  readonly #definition: WitnessDefinition;
  readonly #run: RunSession;
  readonly #shared: SharedBySerialRuns | undefined;
  /** Of the schema; `undefined`: it has not run. */
  #image: DatabaseImage | null | undefined;

  constructor(definition: WitnessDefinition, run: RunSession, shared: SharedBySerialRuns | undefined) {
    this.#definition = definition;
    this.#run = run;
    this.#shared = shared;
  }

  /** @param chooser of the rows that SKIP LOCKED leaves out */
  async inOrder(order: readonly WitnessSession[], chooser: Chooser): Promise<SerialRan> {
    const { dialect } = this.#definition;
    const database = await this.#open();
    try {
      const ran: Record<string, Ran> = {};
      // One for the whole order: an application that serves one call after the other.
      const connecting = connectingTo(database);
      const connected = (): Promise<ProgramClient> => engineOf[dialect].connect(connecting);
      const tableNamed = (name: string): Table | undefined => {
        const found = database.catalog.relation('public', name);
        return found?.kind === 'table' ? found : undefined;
      };
      for (const session of order) {
        const mayChoose = statementsIn(session.steps).some(({ sql }) => usesSkipLocked(sql));
        const choosing = async (client: ProgramClient): Promise<ProgramClient> =>
          new ChoosingClient(client, await connected(), chooser, dialect, tableNamed);
        ran[session.name] = await this.#run(session, connecting, mayChoose ? choosing : undefined);
      }
      return { ran, state: await readState(this.#definition, await connected()) };
    } finally {
      database.close();
    }
  }

  /** With the schema. */
  async #open(): Promise<SqlDatabase> {
    const { dialect, schema } = this.#definition;
    const { profileAt, defaultIsolation } = engineOf[dialect];
    this.#image ??= this.#shared?.schema.with({})?.image;
    const begun = this.#image ? undefined : this.#shared?.schema.beginning?.image;
    const image = this.#image ?? begun;
    // One client after the other: none is waited for, and every level shows the same. That of the explored runs can begin with their image.
    const database = await openSqlDatabase({
      profile: profileAt(defaultIsolation),
      settle: null,
      pauses: false,
      ...(this.#shared === undefined ? {} : { sharedPlans: this.#shared.plans }),
      ...(image ? { image } : {}),
    });
    if (!this.#image) {
      await prepareSchema(database, begun === undefined ? schema : schema.slice(1)).catch((error: unknown) => {
        throw schemaFault(error);
      });
      this.#image ??= database.image();
    }
    database.start();
    return database;
  }
}

/** Equal items have equal numbers: in the order in which they come. */
function numbered(items: readonly unknown[]): readonly number[] {
  const texts = items.map((item) => JSON.stringify(item));
  return texts.map((text) => texts.indexOf(text));
}

/** How many orders there are. */
export function countOrders(sessions: readonly unknown[]): number {
  return sessions.reduce<number>((product, _, at) => product * (at + 1), 1);
}

function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((first) => ordersOf(items.filter((other) => other !== first)).map((rest) => [first, ...rest]));
}
