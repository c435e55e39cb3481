/** The operations of the four applications, for random harnesses. */
import type { SessionHandle } from '../src/program/index.ts';

export interface Application {
  readonly initial: Readonly<Record<string, unknown>>;
  /** `unique` is a text that no other call of the harness gets. */
  readonly operations: Readonly<Record<string, (session: SessionHandle, unique: string) => Promise<unknown>>>;
  /** Operations for each of the two sessions. */
  readonly perSession: number;
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

const ATTEMPTS = 2;

export const applications: Readonly<Record<string, Application>> = {
  Stack: {
    initial: { head: 'node:x', 'node:x': { value: 'x', next: null } },
    perSession: 2,
    operations: {
      push: async (session, unique) => {
        for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
          const top = await session.read<string | null>('head');
          await session.write(`node:${unique}`, { value: unique, next: top });
          if (await compareAndSwap(session, top, `node:${unique}`)) return;
        }
      },
      pop: async (session) => {
        for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
          const top = await session.read<string | null>('head');
          if (top === null) return;
          const { next } = await session.read<{ next: string | null }>(top);
          if (await compareAndSwap(session, top, next)) return;
        }
      },
    },
  },
  Courseware: {
    initial: { 'course:open': true, enrolled: [] },
    perSession: 3,
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
    operations: {
      addBook: (session) => append(session, 'cart', 'book'),
      removeLamp: (session) => remove(session, 'cart', 'lamp'),
      getCart: (session) => session.read('cart'),
    },
  },
  Twitter: {
    initial: { tweets: [], following: [] },
    perSession: 3,
    operations: {
      tweet: (session, unique) => append(session, 'tweets', unique),
      follow: (session) => append(session, 'following', 'bea'),
      newsFeed: (session) =>
        session.transaction(async (t) => {
          for (const _user of await t.read<string[]>('following')) await t.read('tweets');
        }),
      timeline: (session) => session.read('tweets'),
    },
  },
};
