/**
 * Tweets, timelines and news feeds (MonkeyDB, OOPSLA 2021, section 7.1; Twissandra).
 *
 * Bea tweets from two devices and looks at her timeline. Ali looks at it too, follows her, and looks at his news feed. Nothing deletes a
 * tweet, so what somebody has tweeted or seen should be in what they see later.
 */
import { program, type SessionHandle } from 'moirai';

const publish = (session: SessionHandle, user: string, tweet: string) =>
  session.transaction(async (t) => {
    const tweets = await t.read<string[]>(`tweets:${user}`);
    await t.write(`tweets:${user}`, [...tweets, tweet]);
  });

const follow = (session: SessionHandle, user: string, followed: string) =>
  session.transaction(async (t) => {
    const following = await t.read<string[]>(`following:${user}`);
    await t.write(`following:${user}`, [...following, followed]);
  });

const timeline = (session: SessionHandle, user: string) => session.read<string[]>(`tweets:${user}`);

const newsFeed = (session: SessionHandle, user: string) =>
  session.transaction(async (t) => {
    const feed: string[] = [];
    for (const followed of await t.read<string[]>(`following:${user}`))
      feed.push(...(await t.read<string[]>(`tweets:${followed}`)));
    return feed;
  });

const publishTwice = async (session: SessionHandle, tweets: readonly string[]) => {
  for (const tweet of tweets) await publish(session, 'bea', tweet);
  return { seen: tweets, feed: await timeline(session, 'bea') };
};

export default program({
  initial: { 'tweets:bea': [], 'following:ali': [] },
  sessions: {
    'bea-phone': (session) => publishTwice(session, ['phone 1', 'phone 2']),
    'bea-laptop': (session) => publishTwice(session, ['laptop 1', 'laptop 2']),
    ali: async (session) => {
      const seen = await timeline(session, 'bea');
      await follow(session, 'ali', 'bea');
      return { seen, feed: await newsFeed(session, 'ali') };
    },
  },
  invariant: ({ results, sometimes }) => {
    sometimes('ali saw a tweet before he followed', results.ali.seen.length > 0);
    for (const { seen, feed } of Object.values(results)) {
      const missing = seen.find((tweet) => !feed.includes(tweet));
      if (missing !== undefined) return `the tweet "${missing}" is missing in a feed`;
    }
    return true;
  },
});
