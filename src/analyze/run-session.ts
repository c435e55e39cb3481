/** How a session of a witness runs on a database. */
import type { Dialect } from './application.ts';
import type { Connecting } from './connecting.ts';
import { engineOf } from './engines.ts';
import { type ProgramClient, RefusedStatement } from '../sql-program/index.ts';
import { type Ran, ranInVain, runSteps, runUnit } from './run-steps.ts';
import type { WitnessSession } from './witness-definition.ts';

/** @param around puts something between a client and the session that it is of */
export type RunSession = (
  session: WitnessSession,
  connecting: Connecting,
  around?: (client: ProgramClient) => Promise<ProgramClient>,
) => Promise<Ran>;

/** By the statements that the source has. */
export function runStatements(dialect: Dialect): RunSession {
  return async (session, connecting, around) => {
    const client = await engineOf[dialect].connect(connecting);
    return runWith(session, around === undefined ? client : await around(client), dialect);
  };
}

async function runWith(session: WitnessSession, client: ProgramClient, dialect: Dialect): Promise<Ran> {
  const { begin } = engineOf[dialect];
  const { scope, level } = session;
  try {
    if (scope === 'transactions of their own') return await runUnit(session, client, dialect, level);
    for (const sql of begin(level)) await client.query(sql);
    const ran = await runSteps(session, client, dialect);
    await client.query(ran.end === 'aborted' ? 'ROLLBACK' : 'COMMIT');
    return ran;
  } catch (error) {
    if (!(error instanceof RefusedStatement)) throw error;
    await client.query('ROLLBACK');
    return ranInVain('aborted');
  } finally {
    client.end();
  }
}
