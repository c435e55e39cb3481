/** What is asked of every client, step by step on one database, and what has to come back. */
import { assert, expect } from 'vitest';
import type { Driver, NewBook, Served, Shop } from './shop.ts';

export interface Step {
  readonly name: string;
  readonly run: (shop: Shop, served: Served, driver: Driver) => Promise<void>;
  /** Clients without it leave the step out. */
  readonly applies?: (shop: Shop) => boolean;
}

const novel: NewBook = {
  author: 1,
  title: 'zoë 🙂',
  price: '12.50',
  isSold: true,
  meta: { pages: 320, tags: ['a', 'b'] },
  added: new Date('2024-02-29T12:34:56.789Z'),
};

export const steps: readonly Step[] = [
  {
    name: 'tables',
    run: async (shop) => {
      await shop.createTables();
    },
  },
  {
    name: 'insert',
    run: async (shop) => {
      expect(await shop.addAuthor('ann')).toBe(1);
      expect(await shop.addAuthor('bob')).toBe(2);
      await shop.addBook(novel);
      await shop.addPlain(1, 'plain');
    },
  },
  {
    name: 'tables kept',
    applies: (shop) => shop.keepTables !== undefined,
    run: async (shop) => {
      await shop.keepTables?.();
      expect(await shop.book(novel.title)).toEqual(novel);
    },
  },
  {
    name: 'select',
    run: async (shop) => {
      expect(await shop.book(novel.title)).toEqual(novel);
      expect(await shop.book('plain')).toMatchObject({ price: '9.99', isSold: false, meta: null });
      expect((await shop.book('plain'))?.added.getTime()).toBeGreaterThan(novel.added.getTime());
      expect(await shop.book('none')).toBeNull();
      expect(await shop.titles('ann', 1)).toEqual([novel.title]);
      expect(await shop.titles('bob', 5)).toEqual([]);
      expect(await shop.like(novel)).toEqual([novel.title]);
      expect(await shop.like({ ...novel, isSold: false })).toEqual([]);
    },
  },
  {
    name: 'prepared',
    applies: (shop) => shop.prepared !== undefined,
    run: async (shop) => {
      const titles = [novel.title, 'plain', 'none', 'plain', 'plain', 'plain', 'plain', novel.title];
      const prices = ['12.50', '9.99', undefined, '9.99', '9.99', '9.99', '9.99', '12.50'];
      expect(await shop.prepared?.(titles)).toEqual(prices);
    },
  },
  {
    name: 'update, delete',
    run: async (shop) => {
      expect(await shop.setPrice('plain', '3.00')).toBe(1);
      expect(await shop.setPrice('none', '3.00')).toBe(0);
      expect(await shop.book('plain')).toMatchObject({ price: '3.00' });
      await shop.addPlain(2, 'gone');
      expect(await shop.remove('gone')).toBe(1);
      expect(await shop.remove('gone')).toBe(0);
    },
  },
  {
    name: 'commit',
    run: async (shop) => {
      const id = await shop.transaction(async (own) => {
        const author = await own.addAuthor('cat');
        await own.addBook({ ...novel, author, title: 'cat' });
        return author;
      });
      expect(await shop.book('cat')).toEqual({ ...novel, author: id, title: 'cat' });
    },
  },
  {
    name: 'rollback',
    run: async (shop) => {
      const failing = shop.transaction(async (own) => {
        expect(await own.setPrice('plain', '4.00')).toBe(1);
        expect(await own.book('plain')).toMatchObject({ price: '4.00' });
        throw new Error('the application gives up');
      });
      await expect(failing).rejects.toThrow('the application gives up');
      expect(await shop.book('plain')).toMatchObject({ price: '3.00' });
    },
  },
  {
    name: 'isolation',
    run: async (shop) => {
      for (const [isolation, second] of [
        ['read committed', '5.00'],
        ['repeatable read', '3.00'],
      ] as const) {
        await shop.setPrice('plain', '3.00');
        await shop.transaction(async (own) => {
          expect(await own.book('plain')).toMatchObject({ price: '3.00' });
          expect(await shop.setPrice('plain', '5.00')).toBe(1);
          expect(await own.book('plain'), isolation).toMatchObject({ price: second });
        }, isolation);
      }
    },
  },
  {
    name: 'savepoint',
    run: async (shop) => {
      await shop.transaction(async (own) => {
        assert(own.savepoint !== undefined, 'every client has savepoints');
        await own.setPrice('plain', '6.00');
        const inner = own.savepoint(async (within) => {
          await within.setPrice('plain', '7.00');
          throw new Error('only the inner part');
        });
        await expect(inner).rejects.toThrow('only the inner part');
        expect(await own.book('plain')).toMatchObject({ price: '6.00' });
        await own.savepoint(async (within) => void (await within.setPrice(novel.title, '8.00')));
      });
      expect(await shop.book('plain')).toMatchObject({ price: '6.00' });
      expect(await shop.book(novel.title)).toMatchObject({ price: '8.00' });
    },
  },
  {
    name: 'unique violation',
    run: async (shop, _served, { dialect }) => {
      const error = await shop.addAuthor('ann').catch((reason: unknown) => reason);
      expect(shop.codeOf(error)).toBe(dialect === 'postgres' ? '23505' : 'ER_DUP_ENTRY');
      expect(await shop.addAuthor('dan')).toBeGreaterThan(2);
    },
  },
  {
    name: 'lock wait',
    run: async (shop, { database }, { dialect }) => {
      const waits = (): boolean => database.scheduler.waiting().some(({ wait }) => wait !== null);
      let waiting: Promise<unknown> = Promise.resolve();
      await shop.transaction(async (own) => {
        await own.setPrice('plain', '10.00');
        waiting = shop.setPrice('plain', '11.00').catch((error: unknown) => shop.codeOf(error));
        await expect.poll(waits, { interval: 2 }).toBe(true);
      });
      const { profile } = database;
      const isRefused = dialect === 'postgres' && profile.family === 'engine' && profile.isolation !== 'read committed';
      expect(await waiting).toBe(isRefused ? '40001' : 1);
      expect(await shop.book('plain')).toMatchObject({ price: isRefused ? '10.00' : '11.00' });
    },
  },
];
