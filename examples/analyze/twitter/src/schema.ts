import { bigint, integer, pgTable, primaryKey, timestamp, varchar } from 'drizzle-orm/pg-core';

export const userProfiles = pgTable('user_profiles', {
  uid: integer().primaryKey(),
  name: varchar({ length: 255 }).notNull(),
  email: varchar({ length: 255 }).notNull(),
  followers: integer().notNull(),
});

export const followers = pgTable('followers', { f1: integer().notNull(), f2: integer().notNull() }, (table) => [
  primaryKey({ columns: [table.f1, table.f2] }),
]);

export const follows = pgTable('follows', { f1: integer().notNull(), f2: integer().notNull() }, (table) => [
  primaryKey({ columns: [table.f1, table.f2] }),
]);

export const tweets = pgTable('tweets', {
  id: bigint({ mode: 'number' }).primaryKey(),
  uid: integer().notNull(),
  text: varchar({ length: 140 }).notNull(),
  createdate: timestamp().notNull(),
});
