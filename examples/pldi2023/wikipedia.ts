/**
 * Wikipedia (Difallah et al., 2013) of the evaluation of PLDI 2023: pages with revisions and texts, and users who watch pages. Times are left
 * out. What a reading user sees costs eight tables; what an edit writes, six.
 */
import type { Program, TransactionHandle } from 'moirai';
import {
  type Body,
  type Calls,
  changeRow,
  client,
  clientsOf,
  count,
  deleteRow,
  growing,
  ids,
  insertRow,
  type OutcomeInvariant,
  readRow,
  readWhere,
  requireRow,
  rowsOf,
  sum,
} from './tables.ts';

interface Page {
  readonly id: string;
  readonly namespace: string;
  readonly title: string;
  readonly latest: string;
}

interface Revision {
  readonly id: string;
  readonly page: string;
  readonly text: string;
}

interface User {
  readonly name: string;
  readonly edits: number;
  readonly touched: number;
}

interface Watch {
  readonly user: string;
  readonly notified: boolean;
}

/** The newest revision of a page with its text; the transaction is rolled back where anything of it is missing. */
async function readPage(t: TransactionHandle, namespace: string, title: string): Promise<Revision> {
  const pages = await readWhere<Page>(t, 'PAGE');
  const page = pages.find((each) => each.namespace === namespace && each.title === title) ?? t.abort();
  await readWhere(t, 'PAGERESTRICTIONS', (id) => id.startsWith(`${page.id}:`));
  await readWhere(t, 'IPBLOCKS');
  const revisions = await readWhere<Revision>(t, 'REVISION');
  const { latest } = await requireRow<Page>(t, 'PAGE', page.id);
  const revision = revisions.find((each) => each.page === page.id && each.id === latest) ?? t.abort();
  await requireRow(t, 'TEXT', revision.text);
  return revision;
}

/** Inserts a row with the number after the last. */
async function insertNext(t: TransactionHandle, table: string, row: (id: string) => unknown): Promise<string> {
  const id = String(Math.max(0, ...(await ids(t, table)).map(Number)) + 1);
  await insertRow(t, table, id, row(id));
  return id;
}

/** @returns whose row changed */
const touch = async (t: TransactionHandle, user: string): Promise<{ readonly touched: string | null }> => {
  const isKnown = await changeRow<User>(t, 'USER', user, (row) => ({ ...row, touched: row.touched + 1 }));
  return { touched: isKnown ? user : null };
};

async function edit(t: TransactionHandle, title: string, namespace: string, user: string): Promise<unknown> {
  const { page } = await readPage(t, namespace, title);
  const text = await insertNext(t, 'TEXT', () => ({ page }));
  const latest = await insertNext(t, 'REVISION', (id) => ({ id, page, text }));
  await changeRow<Page>(t, 'PAGE', page, (row) => ({ ...row, latest }));
  await insertNext(t, 'RECENTCHANGES', () => ({ page, user }));
  const watchers = await readWhere<Watch>(t, 'WATCHLIST', (id) => id.endsWith(`:${namespace}:${title}`));
  for (const watch of watchers.filter((each) => each.user !== user && !each.notified)) {
    await changeRow<Watch>(t, 'WATCHLIST', `${watch.user}:${namespace}:${title}`, (row) => ({
      ...row,
      notified: true,
    }));
    await readRow(t, 'USER', watch.user);
  }
  await insertNext(t, 'LOGGING', () => ({ page, user, revision: latest }));
  await changeRow<User>(t, 'USER', user, (row) => ({ ...row, edits: row.edits + 1 }));
  return touch(t, user);
}

/** A page and its talk page are watched together. */
const watching =
  (change: (t: TransactionHandle, id: string, user: string) => Promise<unknown>) =>
  (user = '', namespace = '', title = ''): Body =>
  async (t) => {
    await change(t, `${user}:${namespace}:${title}`, user);
    if (namespace === '0') await change(t, `${user}:1:${title}`, user);
    return touch(t, user);
  };

const calls: Calls = {
  watch: watching(async (t, id, user) => {
    // The row is replaced where it is there already.
    if (!(await ids(t, 'WATCHLIST')).includes(id)) return insertRow(t, 'WATCHLIST', id, { user, notified: false });
    await t.write(`WATCHLIST:${id}`, { user, notified: false });
  }),
  unwatch: watching((t, id) => deleteRow(t, 'WATCHLIST', id)),
  page:
    (namespace = '', title = '') =>
    async (t) =>
      void (await readPage(t, namespace, title)),
  userPage:
    (user = '', namespace = '', title = '') =>
    async (t) => {
      await requireRow(t, 'USER', user);
      await readWhere(t, 'USERGROUPS', (id) => id === user);
      await readPage(t, namespace, title);
    },
  edit:
    (title = '', namespace = '', user = '') =>
    (t) =>
      edit(t, title, namespace, user),
};

const pages: readonly Page[] = [
  { id: '13', namespace: '0', title: 'Paris', latest: '6625' },
  { id: '645', namespace: '1', title: 'Lisbon', latest: '6626' },
  { id: '230', namespace: '0', title: 'Athens', latest: '6627' },
];

/** Each page shows a revision that is there, of this page, with its text; every edit is counted everywhere; no touch of a user is lost. */
const invariant: OutcomeInvariant = ({ ids: idsOf, row, returned }) => {
  for (const page of idsOf('PAGE')) {
    const latest = (row('PAGE', page) as Page | null)?.latest ?? '';
    const revision = idsOf('REVISION').includes(latest) ? (row('REVISION', latest) as Revision | null) : null;
    if (revision?.page !== page) return `page ${page} shows revision ${latest}, which is not there`;
    if (!idsOf('TEXT').includes(revision.text)) return `revision ${latest} has no text`;
  }
  const users = userIds.map((id) => row('USER', id) as User);
  const edits = [
    sum(users.map((user) => user.edits)),
    ...['LOGGING', 'RECENTCHANGES'].map((each) => idsOf(each).length),
  ];
  edits.push(idsOf('REVISION').length - pages.length);
  if (new Set(edits).size > 1) return `${edits.join(', ')} edits of users, in the log, in recent changes, as revisions`;
  const touched = returned.flat().map((each) => (each as { readonly touched: string | null }).touched);
  const lost = users.find((user) => user.touched !== count(touched, user.name));
  if (lost !== undefined)
    return `user ${lost.name} was touched ${lost.touched} times instead of ${count(touched, lost.name)}`;
  return null;
};

const userIds = ['2324', '111', '777', '68'];

export function wikipedia(text: string): Program {
  const users = Object.fromEntries(userIds.map((id) => [id, { name: id, edits: 0, touched: 0 }]));
  const watched = ['2324:0:Benidorm', '777:0:Fado', '777:1:Fado', '68:0:Cyprus'];
  return client(
    text,
    calls,
    {
      ...rowsOf('USER', users),
      ...rowsOf('PAGE', Object.fromEntries(pages.map((page) => [page.id, page]))),
      ...rowsOf(
        'REVISION',
        Object.fromEntries(
          pages.map(({ id, latest }, i) => [latest, { id: latest, page: id, text: String(1747 + i) }]),
        ),
      ),
      ...rowsOf('TEXT', Object.fromEntries(pages.map(({ id }, i) => [String(1747 + i), { page: id }]))),
      ...rowsOf(
        'WATCHLIST',
        Object.fromEntries(watched.map((id) => [id, { user: id.split(':')[0], notified: false }])),
      ),
      ...Object.fromEntries(
        ['PAGERESTRICTIONS', 'IPBLOCKS', 'USERGROUPS', 'RECENTCHANGES', 'LOGGING'].map((table) => [table, []]),
      ),
    },
    invariant,
  );
}

const texts: Readonly<Record<string, string>> = {
  'wikipedia 1':
    'unwatch 111 0 Paris; userPage 2324 0 Paris; edit Rome 0 2324 | watch 68 0 Paris; page 1 Lisbon; page 0 Paris | edit Paris 0 2324; userPage 2324 1 Paris; userPage 68 0 Madrid',
  'wikipedia 2':
    'watch 1 0 Paris; userPage 667 0 Paris; watch 1 1 Rome | unwatch 111 0 Madrid; watch 111 1 Lisbon; edit Lisbon 0 2324 | edit Paris 0 777; page 0 Paris; unwatch 777 0 Fado',
  'wikipedia 3':
    'unwatch 777 0 Athens; unwatch 111 0 Lisbon; page 0 Lisbon | edit Athens 0 68; page 0 Athens; userPage 777 0 Athens | watch 68 0 Paris; userPage 777 0 Athens; watch 68 1 Rome',
  'wikipedia 4':
    'page 0 Paris; userPage 2324 0 Paris; page 0 Athens | edit Athens 0 111; page 0 Athens; page 0 Paris | edit Paris 0 2324; page 0 Paris; page 0 Athens',
  'wikipedia 5':
    'watch 2324 0 Paris; watch 111 0 Paris; watch 777 0 Paris | page 0 Paris; page 0 Athens; userPage 777 0 Paris | watch 777 0 Paris; unwatch 777 0 Paris; watch 777 0 Paris',
};

export const wikipediaClients = clientsOf(wikipedia, texts);

/** Five programs of five sessions of five transactions: for measuring how the number of histories grows. */
export const wikipediaGrowing = growing(texts);
