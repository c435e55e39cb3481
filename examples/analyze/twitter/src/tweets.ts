/** The Twitter benchmark's transactions, with Drizzle. */
import { desc, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { followers, follows, tweets, userProfiles } from './schema.ts';

const db = drizzle({ client: new Pool() });
const followersMax = 20;
const tweetsMax = 10;

export async function getTweet(id: number): Promise<unknown> {
  return db.transaction(async (tx) => tx.select().from(tweets).where(eq(tweets.id, id)));
}

export async function getUserTweets(user: number): Promise<unknown> {
  return db.transaction(async (tx) => tx.select().from(tweets).where(eq(tweets.uid, user)).limit(tweetsMax));
}

export async function getFollowers(user: number): Promise<unknown> {
  return db.transaction(async (tx) => {
    const found = await tx
      .select({ f2: followers.f2 })
      .from(followers)
      .where(eq(followers.f1, user))
      .limit(followersMax);
    const names: unknown[] = [];
    for (const { f2 } of found) {
      names.push(
        await tx
          .select({ uid: userProfiles.uid, name: userProfiles.name })
          .from(userProfiles)
          .where(eq(userProfiles.uid, f2)),
      );
    }
    return names;
  });
}

export async function getTweetsFromFollowing(user: number): Promise<unknown> {
  return db.transaction(async (tx) => {
    const found = await tx.select({ f2: follows.f2 }).from(follows).where(eq(follows.f1, user)).limit(followersMax);
    const all: unknown[] = [];
    for (const { f2 } of found) all.push(await tx.select().from(tweets).where(eq(tweets.uid, f2)).limit(tweetsMax));
    return all;
  });
}

/** The number of a tweet is one more than that of the user's last one, in a range of the user's own. */
export async function insertTweet(user: number, text: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [last] = await tx
      .select({ id: tweets.id })
      .from(tweets)
      .where(eq(tweets.uid, user))
      .orderBy(desc(tweets.id))
      .limit(1);
    const id = last === undefined ? user * 1_000_000 : last.id + 1;
    await tx.insert(tweets).values({ id, uid: user, text, createdate: new Date() });
  });
}
