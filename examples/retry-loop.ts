/**
 * A retry loop of one's own, as most drivers need it: the store does not run a transaction again but fails it with SQLSTATE 40001. The loop
 * is right when nothing but the transaction is repeated; `--abort-rate` makes failures common enough to see it.
 */
import { program, SerializationFailure, type SessionHandle } from 'moirai';

const withRetries = async <T>(run: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof SerializationFailure)) throw error;
    }
  }
};

const book = async (session: SessionHandle, seats: number) => {
  let attempts = 0;
  await withRetries(() =>
    session.transaction(async (t) => {
      attempts += 1;
      await t.write('booked', (await t.read<number>('booked')) + seats);
    }),
  );
  session.sometimes('a transaction was run again', attempts > 1);
};

export default program({
  conflicts: 'abort',
  initial: { booked: 0 },
  sessions: {
    web: (session) => book(session, 1),
    desk: (session) => book(session, 2),
    phone: (session) => book(session, 4),
  },
  invariant: ({ final }) => final['booked'] === 7 || `${final['booked']} seats are booked, not 7`,
});
