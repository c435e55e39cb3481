/** What an application does with node-postgres on moirai's own server, recorded with its statements by the driver's hook: the text of the trace. */
import pg from 'pg';
import { hookPg, Recording } from '../../src/capture/index.ts';
import { formatTraceHeader } from '../../src/trace/record.ts';
import { emptyHeader } from '../../src/trace/trace.ts';
import { listen, startConversation } from '../../src/serve/index.ts';
import { openSqlDatabase, parseProfile, settleWithin } from '../../src/database/index.ts';

/**
 * @param setUp is not recorded
 * @param run with PGHOST, PGPORT and PGUSER set: a pool that it makes without options connects there
 */
export async function recordedTraffic(setUp: readonly string[], run: () => Promise<void>): Promise<string> {
  const profile = parseProfile({ engine: 'postgres' });
  const database = await openSqlDatabase({ profile, settle: settleWithin(0), holdsBack: 'never' });
  const listener = await listen(startConversation(database));
  const environment = { PGHOST: listener.host, PGPORT: String(listener.port), PGUSER: 'app' };
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  let text = `${formatTraceHeader({ ...emptyHeader, hasMarks: true })}\n`;
  const warn = (message: string): void => {
    throw new Error(message);
  };
  try {
    const client = new pg.Client();
    await client.connect();
    for (const sql of setUp) await client.query(sql);
    await client.end();
    let time = 0;
    const recording = new Recording({
      write: (line) => void (text += line),
      now: () => (time += 1),
      warn,
      keepsStatements: true,
    });
    const unhook = hookPg(pg as never, recording);
    try {
      await run();
    } finally {
      recording.end();
      unhook();
    }
    return text;
  } finally {
    for (const [name, value] of before) if (value === undefined) delete process.env[name];
    for (const [name, value] of before) if (value !== undefined) process.env[name] = value;
    await listener.close();
    database.close();
  }
}
