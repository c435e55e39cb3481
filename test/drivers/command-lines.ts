/** psql and mariadb, fed with scripts. */
import { Command } from './command.ts';
import type { Served } from './shop.ts';
import { tables } from './sql-shop.ts';

export interface CommandLine {
  readonly name: string;
  readonly dialect: 'postgres' | 'mysql';
  readonly how: string;
  readonly program: string;
  readonly debian: string;
  readonly start: (served: Served) => Command;
  readonly script: string;
  readonly answer: string;
}

const inserts = `
insert into author (name) values ('ann'), ('bob');
insert into book (author_id, title, price, is_sold, meta, added)
  values (1, 'zoë', 12.50, true, '{"pages": 320}', '2024-02-29 12:34:56.789');
insert into book (author_id, title) values (1, 'plain'), (2, 'gone');
select b.title, b.price, b.is_sold, b.meta from book b join author a on a.id = b.author_id
  where a.name = 'ann' order by b.title desc limit 2;
update book set price = 3 where title = 'plain';
delete from book where title = 'gone';
begin;
update book set price = 4 where title = 'plain';
commit;
begin;
update book set price = 5 where title = 'plain';
savepoint inner_work;
update book set price = 6 where title = 'plain';
rollback to savepoint inner_work;
select price from book where title = 'plain';
rollback;
select price from book where title = 'plain';
insert into author (name) values ('ann');
`;

export const psql: CommandLine = {
  name: 'psql',
  dialect: 'postgres',
  how: 'simple queries; `\\dt`',
  program: 'psql',
  debian: 'postgresql-client',
  start: ({ host, port }) =>
    new Command('psql', ['-X', '-A', '-t', '-h', host, '-p', String(port), '-U', 'ann', '-d', 'shop'], {
      PGCLIENTENCODING: 'UTF8',
    }),
  script: `${tables.postgres.join(';')};
\\dt
${inserts}\\echo :LAST_ERROR_SQLSTATE
insert into author (name) values ('cat') returning id, name;
begin isolation level serializable;
show transaction_isolation;
end;
`,
  answer: `CREATE TABLE
CREATE TABLE
public|author|table|ann
public|book|table|ann
INSERT 0 2
INSERT 0 1
INSERT 0 2
zoë|12.50|t|{"pages": 320}
plain|9.99|f|
UPDATE 1
DELETE 1
BEGIN
UPDATE 1
COMMIT
BEGIN
UPDATE 1
SAVEPOINT
UPDATE 1
ROLLBACK
5.00
ROLLBACK
4.00
ERROR:  duplicate key value violates unique constraint "author_name_key"
DETAIL:  Key (name)=(ann) already exists.
23505
4|cat
INSERT 0 1
BEGIN
serializable
COMMIT
`,
};

export const mariadbCommand: CommandLine = {
  name: 'mariadb (command line)',
  dialect: 'mysql',
  how: 'text protocol; SHOW TABLES, DESCRIBE',
  program: 'mariadb',
  debian: 'mariadb-client',
  start: ({ host, port }) =>
    new Command('mariadb', [
      '--no-defaults',
      `--host=${host}`,
      `--port=${port}`,
      '--user=root',
      '--default-character-set=utf8mb4',
      '--skip-column-names',
      '--force',
      '--unbuffered',
      'shop',
    ]),
  script: `${tables.mysql.join(';')};
show tables;
describe author;
${inserts}insert into author (name) values ('cat');
select last_insert_id(), row_count();
update book set price = 4 where title = 'plain';
select row_count();
set transaction isolation level serializable;
start transaction;
commit;
select database(), user();
`,
  answer: `author
book
id	int	NO	PRI	NULL	auto_increment
name	varchar(40)	NO	UNI	NULL	
zoë	12.50	1	{"pages": 320}
plain	9.99	0	NULL
5.00
4.00
--------------
insert into author (name) values ('ann')
--------------

ERROR 1062 (23000) at line N: Duplicate entry 'ann' for key 'author.name'
4	1
0
shop	root@%
`,
};
