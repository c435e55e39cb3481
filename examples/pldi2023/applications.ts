/**
 * Applications and client programs of the evaluation of "Dynamic Partial Order Reduction for Checking Correctness against Transaction
 * Isolation Levels" (PLDI 2023), three sessions of three transactions. The clients of courseware, shopping cart and Twitter are the paper's
 * (of Twitter 2 to 5 as far as its artifact names them), and counts of histories that are known from elsewhere are in test/explore.test.ts.
 * Wikipedia and TPC-C are written anew after their descriptions, with clients of the same transactions: no count of theirs is comparable.
 */
import type { Program, TransactionHandle } from 'moirai';
import {
  byId,
  type Calls,
  client,
  count,
  deleteRow,
  ids,
  insertId,
  insertRow,
  type OutcomeInvariant,
  readRow,
  readWhere,
  rowsOf,
  sum,
  writeRow,
} from './tables.ts';
import { tpccClients } from './tpcc.ts';
import { twitterClients } from './twitter.ts';
import { wikipediaClients } from './wikipedia.ts';

interface Course {
  readonly open: boolean;
  readonly capacity: number;
}

const coursewareCalls: Calls = {
  enroll:
    (student = '', course = '') =>
    async (t) => {
      const person = await readRow<{ registered: boolean }>(t, 'STUDENT', student);
      if (person === null) t.abort();
      const details = await readRow<Course>(t, 'COURSE', course);
      if (details === null) t.abort();
      if (person?.registered || !details?.open) return;
      const enrolled = await readWhere(t, 'ENROLLMENTS', (id) => id.startsWith(course));
      if (enrolled.length < details.capacity) await insertId(t, 'ENROLLMENTS', `${course}:${student}`);
    },
  getE: () => async (t) => void (await ids(t, 'ENROLLMENTS')),
  open:
    (course = '') =>
    (t) =>
      setOpen(t, course, true),
  close:
    (course = '') =>
    (t) =>
      setOpen(t, course, false),
  delete:
    (course = '') =>
    async (t) => {
      await setOpen(t, course, false);
      await deleteRow(t, 'COURSE', course);
      for (const id of await ids(t, 'ENROLLMENTS')) if (id.startsWith(course)) await deleteRow(t, 'ENROLLMENTS', id);
    },
};

async function setOpen(t: TransactionHandle, course: string, open: boolean): Promise<void> {
  const details = await readRow<Course>(t, 'COURSE', course);
  if (details !== null) await writeRow(t, 'COURSE', course, { ...details, open });
}

const storeCalls: Calls = {
  add:
    (item = '', quantity = '1') =>
    async (t) => {
      await insertRow(t, 'STORE', item, { quantity: Number(quantity) });
      return { item, by: 1 };
    },
  rm:
    (item = '') =>
    async (t) => ({ item, by: (await deleteRow(t, 'STORE', item)) ? -1 : 0 }),
  get:
    (item = '') =>
    async (t) =>
      void (await readRow(t, 'STORE', item)),
  qty:
    (item = '') =>
    async (t) =>
      void (await readRow(t, 'STORE', item)),
  list: () => async (t) => void (await readWhere(t, 'STORE')),
  chg:
    (item = '', quantity = '') =>
    async (t) => {
      const row = await readRow<object>(t, 'STORE', item);
      if (row === null) t.abort();
      await writeRow(t, 'STORE', item, { ...row, quantity: Number(quantity) });
    },
};

/** No course has more students than it has room for, and none that is gone has any. */
const courseInvariant: OutcomeInvariant = ({ ids: idsOf, row }) => {
  const enrolled = idsOf('ENROLLMENTS').map((id) => id.split(':')[0] as string);
  for (const course of new Set(enrolled)) {
    if (!idsOf('COURSE').includes(course)) return `course ${course} is gone and has students`;
    const capacity = (row('COURSE', course) as Course | null)?.capacity ?? 0;
    const students = count(enrolled, course);
    if (students > capacity) return `${students} students are in course ${course}, which has room for ${capacity}`;
  }
  return null;
};

interface CartChange {
  readonly item: string;
  readonly by: number;
}

/** What was added and not removed is in the cart, and nothing else. */
const cartInvariant: OutcomeInvariant = ({ ids: idsOf, returned }) => {
  const changes = returned.flat() as CartChange[];
  for (const item of new Set([...changes.map((change) => change.item), ...itemsAtFirst])) {
    const own = changes.filter((change) => change.item === item).map(({ by }) => by);
    const expected = sum(own) + count(itemsAtFirst, item);
    const found = count(idsOf('STORE'), item);
    if (found !== expected) return `item ${item} is in the cart ${found} times instead of ${expected}`;
  }
  return null;
};

const itemsAtFirst = ['1', '2', '3', '4'];

export function courseware(text: string): Program {
  const initial = {
    ...rowsOf(
      'STUDENT',
      byId(0, 7, (id) => ({ registered: id !== 1 })),
    ),
    ...rowsOf(
      'COURSE',
      byId(1, 6, (id) => ({ open: id !== 6, capacity: Math.min(id, 3) })),
    ),
    ENROLLMENTS: [],
  };
  return client(text, coursewareCalls, initial, courseInvariant);
}

export function shoppingCart(text: string): Program {
  return client(
    text,
    storeCalls,
    rowsOf('STORE', Object.fromEntries(itemsAtFirst.map((id) => [id, { quantity: Number(id) }]))),
    cartInvariant,
  );
}

/** The client programs of the evaluation: three sessions of three transactions. */
export const clients: Readonly<Record<string, Program>> = {
  'courseware 1': courseware(
    'enroll 1 1; getE; enroll 1 2 | enroll 2 1; getE; delete 2 | enroll 2 1; close -1; delete 1',
  ),
  'courseware 2': courseware('getE; enroll 1 1; getE | getE; enroll 2 1; getE | getE; delete 1; getE'),
  'courseware 3': courseware(
    'open 3; enroll 2 3; delete 3 | open 3; enroll 4 3; delete 3 | open 3; enroll 0 3; delete 3',
  ),
  'courseware 4': courseware('open 3; enroll 2 3; getE | delete 3; enroll 0 3; getE | close 3; enroll 4 3; getE'),
  'courseware 5': courseware('delete 3; enroll 0 3; getE | open 3; enroll 2 3; getE | open 3; enroll 2 3; delete 3'),
  'shopping cart 1': shoppingCart('rm 0; list; qty 2 | chg 1 10; list; get 1 | add 5 3; qty 0; list'),
  'shopping cart 2': shoppingCart('rm 0; qty 2; chg 1 18 | chg 1 10; get 1; add 6 | add 5 3; list; chg 6 666'),
  'shopping cart 3': shoppingCart('rm 6; chg 6 10; get 6 | add 6; chg 6 0; get 6 | get 6; chg 6 30; list'),
  'shopping cart 4': shoppingCart('add 6; rm 6; chg 6 0 | add 6; rm 6; chg 6 100 | add 6; rm 6; chg 6 200'),
  'shopping cart 5': shoppingCart('rm 7; add 6; chg 6 2 | chg 6 10; chg 7 0; chg 6 0 | rm 6; add 7; chg 7 2'),
  ...twitterClients,
  ...wikipediaClients,
  ...tpccClients,
};
