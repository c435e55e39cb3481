/** A database of one profile behind a port, as `moirai serve` has it. */
import { listen, startConversation } from '../../src/serve/index.ts';
import { openSqlDatabase, parseProfile, settleWithin } from '../../src/database/index.ts';
import type { ProfileOptions } from '../../src/database/instance/profile.ts';
import type { Served } from './shop.ts';

export interface ServedHere extends Served {
  /** What went wrong in the server itself. */
  readonly bugs: readonly unknown[];
  /** Ends it. @throws the bugs that were met */
  close(): Promise<void>;
}

export async function serve(profile: ProfileOptions): Promise<ServedHere> {
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const database = await openSqlDatabase({ profile: parseProfile(profile), settle: settleWithin(2) });
  const listener = await listen(startConversation(database, { onBug }), { onBug });
  const { host, port } = listener;
  return {
    host,
    port,
    database,
    onBug,
    bugs,
    close: async () => {
      await listener.close();
      database.close();
      if (bugs.length > 0) throw new AggregateError(bugs, 'bugs of ours');
    },
  };
}
