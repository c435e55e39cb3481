/** The operations of the four applications, for random harnesses. */
import type { SessionHandle } from '#moirai/program';

export interface Application {
  readonly initial: Readonly<Record<string, unknown>>;
  /** `unique` is a text that no other call of the harness gets. */
  readonly operations: Readonly<Record<string, (session: SessionHandle, unique: string) => Promise<unknown>>>;
  /** Random operations for each of the two sessions. */
  readonly perSession: number;
  /** The last operation of each session. */
  readonly look: (session: SessionHandle) => Promise<unknown>;
}

const append = (session: SessionHandle, key: string, item: string) =>
  session.transaction(async (t) => {
    const items = await t.read<string[]>(key);
    if (!items.includes(item)) await t.write(key, [...items, item]);
  });

const remove = (session: SessionHandle, key: string, item: string) =>
  session.transaction(async (t) => {
    const items = await t.read<string[]>(key);
    await t.write(
      key,
      items.filter((other) => other !== item),
    );
  });

const compareAndSwap = (session: SessionHandle, expected: string | null, replacement: string | null) =>
  session.transaction(async (t) => {
    if ((await t.read<string | null>('head')) !== expected) return false;
    await t.write('head', replacement);
    return true;
  });

export const applications: Readonly<Record<string, Application>> = {
  Stack: {
    initial: { head: 'node:x', 'node:x': { value: 'x', next: null } },
    perSession: 2,
    look: (session) => session.read('head'),
    operations: {
      push: async (session, unique) => {
        const top = await session.read<string | null>('head');
        await session.write(`node:${unique}`, { value: unique, next: top });
        await compareAndSwap(session, top, `node:${unique}`);
      },
      pop: async (session) => {
        const top = await session.read<string | null>('head');
        if (top === null) return;
        const { next } = await session.read<{ next: string | null }>(top);
        await compareAndSwap(session, top, next);
      },
    },
  },
  Courseware: {
    initial: { 'course:open': true, enrolled: [] },
    perSession: 3,
    look: (session) => session.read('enrolled'),
    operations: {
      enroll: (session, unique) =>
        session.transaction(async (t) => {
          const isOpen = await t.read<boolean>('course:open');
          const enrolled = await t.read<string[]>('enrolled');
          if (isOpen && enrolled.length < 2) await t.write('enrolled', [...enrolled, unique]);
        }),
      getEnrollments: (session) => session.read('enrolled'),
      removeCourse: (session) =>
        session.transaction(async (t) => {
          await t.write('course:open', false);
          await t.write('enrolled', []);
        }),
    },
  },
  Shopping: {
    initial: { cart: ['lamp'] },
    perSession: 3,
    look: (session) => session.read('cart'),
    operations: {
      addBook: (session) => append(session, 'cart', 'book'),
      removeLamp: (session) => remove(session, 'cart', 'lamp'),
      getCart: (session) => session.read('cart'),
    },
  },
  Twitter: {
    initial: { tweets: [], following: [] },
    perSession: 3,
    look: (session) => session.read('tweets'),
    operations: {
      tweet: (session, unique) => append(session, 'tweets', unique),
      follow: (session) => append(session, 'following', 'bea'),
      newsFeed: (session) =>
        session.transaction(async (t) => {
          const following = await t.read<string[]>('following');
          if (following.length > 0) await t.read('tweets');
        }),
      timeline: (session) => session.read('tweets'),
    },
  },
};
