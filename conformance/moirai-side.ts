/** moirai in this process, through a real client over its protocol; who waits is what its scheduler says. */
import { setImmediate as turn } from 'node:timers/promises';
import { connectTo } from '../src/serve/index.ts';
import { openSqlDatabase, parseProfile, type SqlDatabase } from '../src/database/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { drawing } from '../src/mockdb/index.ts';
import type { StepFootprints } from '../src/explore/sql/step-footprints.ts';
import { seeded } from '../src/base/index.ts';
import { type Answer, type Client, mysqlClient, postgresClient } from '../test/sql-oracle/answer.ts';
import type { Schedule, Side, Step } from './schedule.ts';
import { Sessions } from './sessions.ts';

/** What real servers leave to timing or to their statistics. */
export interface MoiraiChoices {
  /** Which statement proceeds first when several may: the one that has waited longest, or the last that began to wait. */
  readonly firstToWake: 'longest' | 'last';
  /** The way to a table's rows, by `accessKey`. */
  readonly ways: Readonly<Record<string, number>>;
  /** What a serializable transaction remembers of an index: the range that it read, or all of it, as where an index has one page. */
  readonly predicateReads: 'range' | 'index';
  /** By line of the trace, the sessions to take as victims of a deadlock of InnoDB, where they may be. Absent: the lightest. */
  readonly victims?: readonly (readonly number[])[];
  /** Records with which a page of an InnoDB index begins, by the names of `insertedBefore`. Absent: none. */
  readonly pageBegins?: ReadonlySet<string>;
}

export const likelyChoices: MoiraiChoices = { firstToWake: 'longest', ways: {}, predicateReads: 'index' };

/** Session n of a schedule has this number on the database. */
const firstSession = 100;
/** A statement that has neither ended nor waits after so many turns of the event loop is a bug of ours. */
const turnsMax = 100_000;

export class MoiraiSide implements Side {
  readonly name = 'moirai';
  readonly #dialect: Dialect;
  readonly #choices: MoiraiChoices;
  readonly #footprints: StepFootprints | null;
  #database: SqlDatabase | null = null;
  #clients: Client[] = [];
  #sessions = new Sessions([]);
  /** Sessions in the order in which they began to wait. */
  #waits: number[] = [];
  #bugs: unknown[] = [];
  #steps = 0;
  #accesses: SqlDatabase['assumed']['list'] = [];
  #insertedBefore = new Set<string>();

  /** @param footprints records what each step accesses */
  constructor(dialect: Dialect, choices: MoiraiChoices = likelyChoices, footprints: StepFootprints | null = null) {
    this.#dialect = dialect;
    this.#choices = choices;
    this.#footprints = footprints;
  }

  /** The ways to rows that the last schedule took, first those that decide more than an order. */
  get accesses(): SqlDatabase['assumed']['list'] {
    return this.#accesses;
  }

  /** Records before which the last schedule inserted while another session had locked them: it would matter that a page begins with one. */
  get insertedBefore(): ReadonlySet<string> {
    return this.#insertedBefore;
  }

  async prepare({ setUp, levels }: Schedule): Promise<Answer | null> {
    this.#waits = [];
    this.#bugs = [];
    this.#steps = 0;
    this.#insertedBefore = new Set();
    const { pageBegins } = this.#choices;
    const footprints = this.#footprints;
    footprints?.begin();
    const database = await openSqlDatabase({
      profile: parseProfile({ engine: this.#dialect }),
      settle: null,
      holdsBack: 'never',
      pauses: false,
      predicateReads: this.#choices.predicateReads,
      // Footprints record the order of insertion.
      scanOrder: footprints === null ? 'heap' : 'insertion',
      ways: this.#choices.ways,
      anyVictim: this.#choices.victims !== undefined,
      ...(pageBegins === undefined ? {} : { pageBegins }),
      ...(footprints === null ? {} : { footprints: footprints.recorder }),
      onPageBegin: (record) => void this.#insertedBefore.add(record),
      decisions: { ...drawing({ chooser: seeded(1) }), session: (ready) => this.#next(ready) },
      onWait: (session) => {
        this.#waits = [...this.#waits.filter((each) => each !== session), session];
      },
    });
    this.#database = database;
    this.#clients = [await this.#connect(database)];
    for (const [i, level] of levels.entries()) {
      const client = await this.#connect(database, firstSession + i);
      await client.ask({ sql: sessionLevel(this.#dialect, level) });
      this.#clients.push(client);
    }
    this.#sessions = new Sessions(this.#clients.slice(1));
    if (this.#dialect === 'mysql') await this.#holdReadView(database);
    for (const sql of setUp) {
      const answer = await this.ask(sql);
      if (answer.kind === 'error') return answer;
    }
    footprints?.open(database);
    return null;
  }

  /** As on the server, so that delete-marked records stay. */
  async #holdReadView(database: SqlDatabase): Promise<void> {
    const holder = await this.#connect(database, firstSession - 1);
    await holder.ask({ sql: 'start transaction with consistent snapshot' });
  }

  #connect(database: SqlDatabase, id?: number): Promise<Client> {
    const onBug = (error: unknown): void => void this.#bugs.push(error);
    const stream = () =>
      connectTo(database, {
        onBug,
        ...(id === undefined ? {} : { id, onStatement: (event) => this.#footprints?.ended(id, event) }),
      });
    return this.#dialect === 'postgres'
      ? postgresClient({ stream, user: 'postgres', database: 'postgres' })
      : mysqlClient({ stream, user: 'root', database: 'test' });
  }

  #next(ready: readonly number[]): number {
    const victim = this.#choices.victims?.[this.#steps - 1]?.find((session) => ready.includes(firstSession + session));
    if (victim !== undefined) return firstSession + victim;
    const order = this.#waits.filter((session) => ready.includes(session));
    const [first = ready[0] as number] = this.#choices.firstToWake === 'longest' ? order : order.toReversed();
    return first;
  }

  start(step: Step): void {
    this.#steps += 1;
    this.#sessions.start(step);
  }

  async settle(): Promise<ReadonlyMap<number, Answer>> {
    for (let turns = 0; !this.#isSettled(); turns += 1) {
      if (turns === turnsMax) throw new Error(`moirai neither answers nor waits`, { cause: this.#bugs[0] });
      await turn();
    }
    const answers = this.#sessions.take();
    if (this.#bugs.length === 0) return answers;
    const message = this.#bugs.map((bug) => (bug instanceof Error ? (bug.stack ?? bug.message) : String(bug))).join();
    return new Map([...answers].map(([session]) => [session, { kind: 'error', code: 'a bug of moirai', message }]));
  }

  #isSettled(): boolean {
    const waiting = this.#database?.scheduler.waiting() ?? [];
    const waits = (session: number): boolean =>
      waiting.some((each) => each.session === firstSession + session && each.wait !== null && !each.wait.isReady());
    return this.#sessions.running.every(waits);
  }

  async ask(sql: string): Promise<Answer> {
    const [control] = this.#clients;
    if (control === undefined) throw new Error('nothing is prepared');
    return control.ask({ sql });
  }

  async finish(): Promise<void> {
    const assumed = this.#database?.assumed;
    this.#accesses = assumed === undefined ? [] : [...assumed.list, ...assumed.ofOrder];
    this.#database?.abandon();
    this.#database = null;
    this.#clients = [];
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export function sessionLevel(dialect: Dialect, level: string): string {
  return dialect === 'postgres'
    ? `set default_transaction_isolation = '${level}'`
    : `set session transaction isolation level ${level}`;
}
