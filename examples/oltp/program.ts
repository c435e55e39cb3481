/** The workloads as programs for `moirai test`: sessions that run transactions at random, an invariant that asks every assertion. */
import { sqlProgram, type SqlConnection, type SqlProgram } from 'moirai';
import { type Client, connectWith, type Dialect } from './client.ts';
import { type Random, randomFrom } from './random.ts';
import * as smallbank from './smallbank.ts';
import { tpccAssertions } from './tpcc-assertions.ts';
import { schema as tpccSchema } from './tpcc-schema.ts';
import { anyTransaction as tpccTransaction } from './tpcc-transactions.ts';
import * as voter from './voter.ts';
import * as wikipedia from './wikipedia.ts';

export interface Workload {
  readonly schema: (dialect: Dialect) => readonly string[];
  readonly transaction: (client: Client, random: Random) => Promise<void>;
  /** Queries for rows that break an assertion. */
  readonly assertions: Readonly<Record<string, string>>;
}

export const workloads: Readonly<Record<'tpcc' | 'smallbank' | 'voter' | 'wikipedia', Workload>> = {
  tpcc: { schema: () => tpccSchema, transaction: tpccTransaction, assertions: tpccAssertions },
  smallbank: {
    schema: () => smallbank.schema,
    transaction: smallbank.anyTransaction,
    assertions: smallbank.smallBankAssertions,
  },
  voter: { schema: () => voter.schema, transaction: voter.anyTransaction, assertions: voter.voterAssertions },
  wikipedia: {
    schema: wikipedia.schema,
    transaction: wikipedia.anyTransaction,
    assertions: wikipedia.wikipediaAssertions,
  },
};

export interface OltpOptions {
  readonly dialect: Dialect;
  readonly sessions: number;
  /** Of each session. */
  readonly transactions: number;
  /** Draws the inputs of the transactions. */
  readonly seed: number;
  /**
   * Who asks the assertions when all sessions are done: a reader of a final state that some commit order allows, or one more session, which
   * reads as weakly as the others.
   */
  readonly reader?: 'final' | 'session';
}

/** Counts the runs that keep each assertion; the invariant fails when one of them is broken. */
export function oltpProgram(workload: Workload, options: OltpOptions): SqlProgram {
  const { dialect, sessions, transactions, seed, reader = 'final' } = options;
  const names = Array.from({ length: sessions }, (_, i) => `session${i + 1}`);
  const run = async (connection: SqlConnection): Promise<void> => {
    const client = await connectWith(dialect, connection);
    const random = randomFrom(seed * 31 + names.indexOf(connection.name));
    for (let i = 0; i < transactions; i += 1) await workload.transaction(client, random);
    await client.close();
  };
  const ended: Promise<void>[] = [];
  const started = (connection: SqlConnection): Promise<void> => {
    const running = run(connection);
    ended.push(running);
    return running;
  };
  const asker = async (connection: SqlConnection): Promise<string[]> => {
    await Promise.all(ended);
    return broken(workload, dialect, connection);
  };
  return sqlProgram({
    dialect,
    schema: workload.schema(dialect),
    sessions: {
      ...Object.fromEntries(names.map((name) => [name, started])),
      ...(reader === 'session' ? { asker } : {}),
    },
    invariant: async (end) => {
      const found = reader === 'final' ? await broken(workload, dialect, end) : (end.results['asker'] as string[]);
      for (const name of Object.keys(workload.assertions)) end.sometimes(`${name} holds`, !found.includes(name));
      return found.length === 0 || `broken: ${found.join(', ')}`;
    },
  });
}

async function broken(workload: Workload, dialect: Dialect, connection: SqlConnection): Promise<string[]> {
  const client = await connectWith(dialect, connection);
  const found: string[] = [];
  for (const [name, sql] of Object.entries(workload.assertions))
    if ((await client.query(sql)).length > 0) found.push(name);
  await client.close();
  return found;
}
