/** Twitter (Difallah et al., 2013) of the evaluation of PLDI 2023: who follows whom, tweets, timelines and news. */
import type { Program, TransactionHandle } from 'moirai';
import {
  type Calls,
  client,
  clientsOf,
  ids,
  insertId,
  insertRow,
  type OutcomeInvariant,
  readWhere,
  rowsOf,
} from './tables.ts';

const users = ['48954574', '45096855', '7179295', '3110559', '26427248', '47327392', '42306731', '48280880'];

const follows: readonly (readonly [string, string])[] = [
  ['45096855', '48954574'],
  ['48954574', '45096855'],
  ['48954574', '7179295'],
  ['48954574', '3110559'],
  ['45096855', '26427248'],
  ['45096855', '47327392'],
  ['45096855', '42306731'],
  ['45096855', '48280880'],
  ['7179295', '20850125'],
  ['7179295', '50910006'],
];

const timeline = (t: TransactionHandle, user: string) => readWhere(t, 'TWEETS', (id) => id.endsWith(`:${user}`));

const calls: Calls = {
  follow:
    (who = '', whom = '') =>
    async (t) => {
      await insertId(t, 'FOLLOWS', `${who}:${whom}`);
      await insertId(t, 'FOLLOWERS', `${whom}:${who}`);
      return { follows: `${who}:${whom}` };
    },
  tweet:
    (id = '', user = '') =>
    async (t) => {
      await insertRow(t, 'TWEETS', `${id}:${user}`, 'a tweet');
      return { tweet: `${id}:${user}` };
    },
  timeline:
    (user = '') =>
    async (t) =>
      void (await timeline(t, user)),
  news:
    (user = '') =>
    async (t) => {
      let tweets = 0;
      for (const id of await ids(t, 'FOLLOWS')) {
        const [who, whom = ''] = id.split(':');
        if (who === user) tweets += (await timeline(t, whom)).length;
      }
      return { newsOf: user, tweets };
    },
  followers:
    (user = '') =>
    async (t) => {
      const followers = new Set(
        (await ids(t, 'FOLLOWERS')).flatMap((id) => (id.split(':')[0] === user ? [id.split(':')[1]] : [])),
      );
      await readWhere(t, 'USERS', (id) => followers.has(id));
    },
};

interface Said {
  readonly tweet?: string;
  readonly follows?: string;
  readonly newsOf?: string;
  readonly tweets?: number;
}

/** No tweet and nobody who follows is lost, both lists of them agree, and what was in the news of a session stays there. */
const invariant: OutcomeInvariant = ({ ids: idsOf, returned }) => {
  const said = returned.flat() as Said[];
  for (const { tweet, follows: pair } of said) {
    if (tweet !== undefined && !idsOf('TWEETS').includes(tweet)) return `tweet ${tweet} is lost`;
    if (pair !== undefined && !idsOf('FOLLOWS').includes(pair)) return `that ${pair.replace(':', ' follows ')} is lost`;
  }
  const turned = idsOf('FOLLOWERS').map((pair) => pair.split(':').toReversed().join(':'));
  if (turned.toSorted().join() !== idsOf('FOLLOWS').toSorted().join()) return 'the lists of who follows whom disagree';
  for (const session of returned as readonly (readonly Said[])[]) {
    const seen = new Map<string, number>();
    for (const { newsOf, tweets = 0 } of session) {
      if (newsOf === undefined) continue;
      if (tweets < (seen.get(newsOf) ?? 0)) return `a tweet has gone from the news of ${newsOf}`;
      seen.set(newsOf, tweets);
    }
  }
  return null;
};

export function twitter(text: string): Program {
  const tweets = ['0', '1'].flatMap((n) => users.map((user, i) => [`10010${n}${i}:${user}`, 'a tweet'] as const));
  return client(
    text,
    calls,
    {
      ...rowsOf('USERS', Object.fromEntries(users.map((user) => [user, { name: user }]))),
      ...rowsOf('TWEETS', Object.fromEntries(tweets)),
      FOLLOWS: follows.map(([who, whom]) => `${who}:${whom}`),
      FOLLOWERS: follows.map(([who, whom]) => `${whom}:${who}`),
    },
    invariant,
  );
}

const texts: Readonly<Record<string, string>> = {
  'twitter 1':
    'tweet 102889127 48954574; timeline 7179295; timeline 3110559 | follow 7179295 45096855; timeline 3110559; followers 45096855 | follow 7179295 26427248; followers 26427248; news 7179295',
  'twitter 2':
    'follow 48280880 48954574; timeline 7179295; tweet 102889127 48954574 | tweet 666 47327392; followers 45096855; follow 45096855 20850125 | follow 7179295 26427248; news 3110559; tweet 13251170 50910006',
  'twitter 3':
    'follow 48280880 48954574; timeline 48280880; tweet 203 48280880 | follow 48280880 48954574; timeline 48280880; tweet 204 48280880 | follow 48280880 48954574; timeline 48280880; tweet 205 48280880',
  'twitter 4':
    'tweet 200 48954574; tweet 201 48954574; tweet 202 48954574 | tweet 203 48954574; tweet 204 48954574; tweet 205 48954574 | news 48954574; news 48954574; news 48954574',
  'twitter 5':
    'tweet 199 26427248; tweet 200 7179295; tweet 201 26427248 | tweet 202 7179295; tweet 203 26427248; tweet 204 7179295 | news 48954574; news 48954574; news 48954574',
};

export const twitterClients = clientsOf(twitter, texts);
