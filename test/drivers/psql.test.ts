/** What psql's backslash commands show of a schema, beside what they show of the same schema on a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres } from '../support/postgres-server.ts';
import { findProgram, startedOrSkipped } from '../support/server-process.ts';
import { Command } from './command.ts';
import { type ServedHere, serve } from './served.ts';

const schema = `
create type mood as enum ('sad', 'ok');
create table author (id serial primary key, name text not null unique, born date);
create table book (
  id bigint generated always as identity primary key,
  author_id integer not null references author (id) on update cascade on delete set null,
  title varchar(80) not null default 'untitled',
  price numeric(10,2) check (price > 0),
  tags text[],
  feeling mood default 'ok',
  made timestamptz not null default now(),
  doubled numeric generated always as (price * 2) stored,
  extra jsonb,
  pages int default 100,
  state varchar(10) default 'new' check (state in ('new', 'old')),
  is_new boolean default true,
  unique (author_id, title),
  constraint fits check (pages between 1 and 9 or title <> 'short' and not is_new),
  constraint sums check (pages + 2 * 3 - 1 > 0 and (pages + 1) * 2 < 100000 and tags is not null));
create index book_price on book (price desc);
create unique index book_made on book (made) where price > 1;
create index book_lower on book (lower(title), pages);
create sequence counter increment by 5;
create sequence small as smallint maxvalue 100 cycle;
create view cheap as select id, title, lower(title) as low from book where price < 10;
create table loan (book_id bigint references book (id), n int);
create table "Odd name" ("A b" int, plain "char");
create schema other;
create table other.t (a int primary key, b int references author (id));
comment on table author is 'who writes';
comment on column author.name is 'as printed';
`;

/** Those whose answer has to be the same to the letter. */
const same = [
  '\\d',
  '\\d author',
  '\\d book',
  '\\d loan',
  '\\d "Odd name"',
  '\\d other.t',
  '\\d cheap',
  '\\d counter',
  '\\d small',
  '\\d author_id_seq',
  '\\d book_id_seq',
  '\\d author_pkey',
  '\\d book_price',
  '\\d book_made',
  '\\d book_lower',
  '\\d+ author',
  '\\d+ book',
  '\\d+ counter',
  '\\d+ book_lower',
  '\\d bo*',
  '\\d other.*',
  '\\dt other.*',
  '\\du+',
  '\\dn+',
  '\\dT+',
];

const alone = String.raw`\dt \di \ds \dv \df \du \dn \dT \dp \db \dm \det \drds \dE \dRp \dD`.split(' ');

/** We keep no pages, so that the sizes of tables differ, and columns with them. */
const sized = ['\\dt+', '\\di+', '\\ds+', '\\dv+'];

const hasPsql = findProgram(['psql']) !== undefined;
const server = await startedOrSkipped(startPostgres);
afterAll(() => server?.stop());

describe.skipIf(!hasPsql || server === undefined)('psql', () => {
  let served: ServedHere;
  const psql = (port: number, input: string): Promise<string> =>
    new Command('psql', ['-X', '-q', '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', 'postgres'], {
      LC_ALL: 'C.UTF-8',
      PGCONNECT_TIMEOUT: '20',
    }).end(input);

  beforeAll(async () => {
    served = await serve({ engine: 'postgres' });
    for (const port of [served.port, server?.port ?? 0]) {
      const said = await psql(port, schema);
      if (said !== '') throw new Error(said);
    }
    return () => served.close();
  });

  const both = async (command: string): Promise<[ours: string, theirs: string]> => [
    await psql(served.port, `${command}\n`),
    await psql(server?.port ?? 0, `${command}\n`),
  ];

  test.each([...same, ...alone])('%s', async (command) => {
    const [ours, theirs] = await both(command);
    expect(ours).toBe(theirs);
    expect(ours).not.toMatch(/^$|ERROR|could not connect/);
  });

  test.each(sized)('%s, but for sizes', async (command) => {
    const [ours, theirs] = (await both(command)).map((text) =>
      text
        .replaceAll(/\d+ (bytes|kB)/g, 'size')
        .replaceAll(/-+|={2,}/g, '-')
        .replaceAll(/ +/g, ' '),
    );
    expect(ours).toBe(theirs);
  });

  test('checks and indexes are shown as PostgreSQL keeps them', async () => {
    const [ours] = await both('\\d book');
    expect(ours).toContain(
      `CHECK (state::text = ANY (ARRAY['new'::character varying, 'old'::character varying]::text[]))`,
    );
    expect(ours).toContain('"book_lower" btree (lower(title::text), pages)');
  });

  test('\\l: one database, without templates', async () => {
    const [ours, theirs] = await both('\\l');
    const line = (text: string): string | undefined => /^ postgres +\|.*$/m.exec(text)?.[0].replaceAll(/ +/g, ' ');
    expect(line(ours)).toBe(line(theirs));
  });
});
