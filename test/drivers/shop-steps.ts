/** What is asked of every client, step by step on one database, and what has to come back. */
import { assert, expect } from 'vitest';
import type { Driver, NewBook, Served, Shop } from './shop.ts';

export interface Step {
  readonly name: string;
  /** For the documentation. */
  readonly is: string;
  readonly run: (shop: Shop, served: Served, driver: Driver) => Promise<void>;
}

export function stepsOf({ without = [] }: Driver): readonly Step[] {
  return steps.filter(({ name }) => !(without as readonly string[]).includes(name));
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
    is: 'primary and unique keys, a foreign key, serial or AUTO_INCREMENT, defaults, a decimal, JSON, a boolean, a timestamp',
    run: (shop) => shop.createTables(),
  },
  {
    name: 'insert',
    is: 'one row with its generated id, one with every type as a parameter, one with defaults',
    run: async (shop) => {
      expect(await shop.addAuthor('ann')).toBe(1);
      expect(await shop.addAuthor('bob')).toBe(2);
      await shop.addBook(novel);
      await shop.addPlain(1, 'plain');
    },
  },
  {
    name: 'tables kept',
    is: 'what looks after the schema finds its tables and leaves them: `sync`, `synchronize`, migrations, introspection',
    run: async (shop) => {
      assert(shop.keepTables !== undefined, 'it says that it keeps tables');
      await shop.keepTables();
      expect(await shop.book(novel.title)).toEqual(novel);
    },
  },
  {
    name: 'select',
    is: 'values of every type, a join, ordering, a limit, a parameter of every type, no row',
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
    is: 'one prepared statement eight times',
    run: async (shop) => {
      assert(shop.prepared !== undefined, 'it says that it prepares');
      const titles = [novel.title, 'plain', 'none', 'plain', 'plain', 'plain', 'plain', novel.title];
      const prices = ['12.50', '9.99', undefined, '9.99', '9.99', '9.99', '9.99', '12.50'];
      expect(await shop.prepared(titles)).toEqual(prices);
    },
  },
  {
    name: 'update, delete',
    is: 'rows affected, as the client counts them',
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
    is: 'a transaction that is seen afterwards',
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
    is: 'a transaction whose callback throws',
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
    is: 'READ COMMITTED and REPEATABLE READ by the transaction, distinguished by what a second read sees',
    run: async (shop) => {
      for (const [isolation, second] of [
        ['read committed', '5.00'],
        ['repeatable read', '3.00'],
      ] as const) {
        await shop.setPrice('plain', '3.00');
        await shop.transaction(async (own) => {
          expect(await own.book('plain')).toMatchObject({ price: '3.00' });
          expect(await shop.setPrice('plain', '5.00')).toBe(1);
          expect(await own.book('plain')).toMatchObject({ price: second });
        }, isolation);
      }
    },
  },
  {
    name: 'savepoint',
    is: 'a nested transaction or savepoint that is rolled back, and one that is not',
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
    is: 'the code that the client reports: `23505`, `ER_DUP_ENTRY`',
    run: async (shop, _served, { dialect }) => {
      const error = await shop.addAuthor('ann').catch((reason: unknown) => reason);
      expect(shop.codeOf(error)).toBe(dialect === 'postgres' ? '23505' : 'ER_DUP_ENTRY');
      expect(await shop.addAuthor('dan')).toBeGreaterThan(2);
    },
  },
  {
    name: 'lock wait',
    is: "a pool of two: one waits for the other's row and continues, or fails with `40001` where PostgreSQL says so",
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
