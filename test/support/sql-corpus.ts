/**
 * Scripts of SQL that mean the same to a real PostgreSQL and to us, one statement a line. What PostgreSQL 15 answered is recorded beside
 * (`sql-corpus.answers.json`), so that the unit test needs no server; the test that has one checks the record.
 */
export interface CorpusScript {
  readonly name: string;
  readonly text: string;
}

const tables = `
CREATE TABLE dept (id int PRIMARY KEY, name text NOT NULL UNIQUE)
CREATE TABLE emp (id serial PRIMARY KEY, dept_id int REFERENCES dept, name varchar(20), salary numeric(8,2), boss int)
INSERT INTO dept VALUES (1, 'sales'), (2, 'dev'), (3, 'empty')
INSERT INTO emp (dept_id, name, salary, boss) VALUES (1, 'ann', 100, NULL), (1, 'bob', 80.5, 1), (2, 'cat', 120, 1), (2, 'dan', 120, 3), (NULL, 'eve', NULL, 3)
`;

export const corpus: readonly CorpusScript[] = [
  {
    name: 'one table',
    text: `${tables}
SELECT * FROM emp ORDER BY id
SELECT name, salary * 2 AS double FROM emp WHERE salary > 100 ORDER BY name DESC
SELECT e.* FROM emp e WHERE e.id IN (1, 3, 3, 99) ORDER BY 1
SELECT id FROM emp WHERE id BETWEEN 2 AND 3 ORDER BY id
SELECT id FROM emp WHERE id > 2 AND id <= 4 ORDER BY id DESC
SELECT id FROM emp WHERE id = ANY (ARRAY[5, 1]) ORDER BY id
SELECT id FROM emp WHERE id = 2.0
SELECT id FROM emp WHERE id = 2.5
SELECT id FROM emp WHERE id < 2.5 ORDER BY id
SELECT id FROM emp WHERE boss = NULL
SELECT id FROM emp WHERE boss IS NULL
SELECT name FROM emp ORDER BY salary NULLS FIRST, name LIMIT 2
SELECT name FROM emp ORDER BY salary DESC, name OFFSET 1 LIMIT 2
SELECT name FROM emp ORDER BY salary DESC NULLS LAST, id FETCH FIRST 1 ROW ONLY
SELECT salary s FROM emp ORDER BY s, id
SELECT upper(name) FROM emp ORDER BY length(name), name LIMIT 1
SELECT DISTINCT dept_id FROM emp ORDER BY dept_id
SELECT DISTINCT ON (dept_id) dept_id, name FROM emp ORDER BY dept_id, salary DESC, name
SELECT 1 WHERE false
SELECT count(*) FROM emp WHERE id = 1 AND id = 2
SELECT name FROM emp WHERE (id, dept_id) = (1, 1)
SELECT nosuch FROM emp
SELECT emp.nosuch FROM emp
SELECT x.id FROM emp
SELECT * FROM nosuch
SELECT id FROM emp, dept
SELECT name FROM emp LIMIT -1
SELECT name FROM emp ORDER BY 3
SELECT id FROM emp e, emp e
SELECT * FROM emp WHERE salary
SELECT DISTINCT name FROM emp ORDER BY salary
SELECT *
`,
  },
  {
    name: 'joins',
    text: `${tables}
SELECT e.name, d.name FROM emp e, dept d WHERE e.dept_id = d.id ORDER BY 1
SELECT e.name, d.name FROM emp e JOIN dept d ON d.id = e.dept_id AND d.name = 'dev' ORDER BY 1
SELECT e.name, d.name FROM emp e LEFT JOIN dept d ON d.id = e.dept_id ORDER BY 1
SELECT e.name, d.name FROM emp e RIGHT JOIN dept d ON d.id = e.dept_id ORDER BY 1, 2
SELECT e.name, d.name FROM emp e FULL JOIN dept d ON d.id = e.dept_id ORDER BY 1, 2
SELECT e.name, d.name FROM emp e LEFT JOIN dept d ON d.id = e.dept_id AND e.salary > 100 ORDER BY 1
SELECT e.name, d.name FROM emp e LEFT JOIN dept d ON d.id = e.dept_id WHERE d.id IS NULL
SELECT count(*) FROM emp CROSS JOIN dept
SELECT e.name, b.name FROM emp e JOIN emp b ON e.boss = b.id ORDER BY 1
SELECT e.name, b.name, bb.name FROM emp e LEFT JOIN emp b ON e.boss = b.id LEFT JOIN emp bb ON b.boss = bb.id ORDER BY 1
SELECT * FROM dept JOIN (SELECT id, name AS n FROM emp) x USING (id) ORDER BY id
SELECT id, dept.name FROM dept FULL JOIN (SELECT id FROM emp) x USING (id) ORDER BY id
SELECT * FROM dept NATURAL JOIN (VALUES (1, 'a'), (2, 'b')) v(id, word) ORDER BY id
SELECT * FROM dept NATURAL LEFT JOIN (SELECT 1 AS id, 7 AS seven) s ORDER BY id
SELECT d.name, x.c FROM dept d, LATERAL (SELECT count(*) c FROM emp e WHERE e.dept_id = d.id) x ORDER BY 1
SELECT d.name, x.name FROM dept d LEFT JOIN LATERAL (SELECT e.name FROM emp e WHERE e.dept_id = d.id ORDER BY salary DESC, name LIMIT 1) x ON true ORDER BY 1
SELECT d.id, g FROM dept d, generate_series(1, d.id) g ORDER BY 1, 2
SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS t(a, b)
SELECT * FROM unnest(ARRAY['x', 'y']) u
SELECT * FROM (SELECT 1 a, 2 b) s(x)
SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS t(n, w) WHERE n > 1
VALUES (1, 'a'), (2, NULL) ORDER BY 1 DESC
SELECT e.name FROM emp e JOIN dept d ON e.dept_id = d.id JOIN dept d2 ON d2.id = d.id WHERE d2.name = 'sales' ORDER BY 1
SELECT d.name FROM dept d WHERE EXISTS (SELECT 1 FROM emp WHERE dept_id = d.id) ORDER BY 1
SELECT d.name FROM dept d WHERE d.id NOT IN (SELECT dept_id FROM emp WHERE dept_id IS NOT NULL)
SELECT name, (SELECT d.name FROM dept d WHERE d.id = emp.dept_id) AS dept FROM emp ORDER BY 1
SELECT (SELECT name FROM dept)
SELECT ARRAY(SELECT id FROM dept ORDER BY id)
SELECT name FROM emp WHERE salary > ALL (SELECT salary FROM emp WHERE dept_id = 1) ORDER BY 1
SELECT * FROM dept JOIN emp USING (nosuch)
SELECT name FROM dept JOIN emp USING (id)
`,
  },
  {
    name: 'groups and windows',
    text: `${tables}
SELECT dept_id, count(*), sum(salary), avg(salary), min(name), max(name) FROM emp GROUP BY dept_id ORDER BY dept_id
SELECT count(*), count(salary), sum(salary) FROM emp WHERE false
SELECT dept_id FROM emp GROUP BY 1 HAVING count(*) > 1 ORDER BY 1
SELECT dept_id d, count(*) FROM emp GROUP BY d ORDER BY count(*) DESC, d
SELECT length(name) + 1, count(*) FROM emp GROUP BY length(name) + 1
SELECT upper(name) || '!' FROM emp GROUP BY upper(name) ORDER BY 1
SELECT d.id, d.name, count(e.id) FROM dept d LEFT JOIN emp e ON e.dept_id = d.id GROUP BY d.id ORDER BY d.id
SELECT count(DISTINCT dept_id), count(*) FILTER (WHERE salary > 100) FROM emp
SELECT string_agg(name, ',' ORDER BY name DESC) FROM emp
SELECT array_agg(id ORDER BY id) FROM emp
SELECT sum(salary) > 100 FROM emp GROUP BY dept_id HAVING sum(salary) IS NOT NULL ORDER BY 1
SELECT name, row_number() OVER (ORDER BY salary DESC, id) FROM emp ORDER BY 2
SELECT name, rank() OVER (ORDER BY salary DESC), dense_rank() OVER (ORDER BY salary DESC) FROM emp ORDER BY 2, 1
SELECT name, sum(salary) OVER (PARTITION BY dept_id ORDER BY id) FROM emp ORDER BY id
SELECT name, count(*) OVER (), avg(salary) OVER (PARTITION BY dept_id) FROM emp ORDER BY id
SELECT name, lag(name) OVER (ORDER BY id), lead(name, 2, 'none') OVER (ORDER BY id) FROM emp ORDER BY id
SELECT name, first_value(name) OVER w, last_value(name) OVER w FROM emp WINDOW w AS (PARTITION BY dept_id ORDER BY id) ORDER BY id
SELECT dept_id, sum(count(*)) OVER (ORDER BY dept_id) FROM emp GROUP BY dept_id ORDER BY 1
SELECT * FROM (SELECT name, row_number() OVER (PARTITION BY dept_id ORDER BY salary DESC, id) r FROM emp) x WHERE r = 1 ORDER BY name
SELECT name, count(*) FROM emp
SELECT name FROM emp GROUP BY dept_id
SELECT count(count(*)) FROM emp
SELECT id FROM emp WHERE count(*) > 1
SELECT dept_id FROM emp GROUP BY 2
SELECT max(d.name) FROM dept d GROUP BY d.id HAVING d.name > 'e' ORDER BY 1
SELECT (SELECT count(*) FROM emp e WHERE e.dept_id = d.id) n, count(*) FROM dept d GROUP BY d.id ORDER BY d.id
`,
  },
  {
    name: 'set operations and WITH',
    text: `${tables}
SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1
SELECT id FROM dept UNION ALL SELECT id FROM emp ORDER BY id DESC LIMIT 3
SELECT id FROM emp EXCEPT SELECT id FROM dept ORDER BY 1
SELECT id FROM emp INTERSECT SELECT id FROM dept ORDER BY 1
SELECT 1 UNION SELECT 2.5 ORDER BY 1
SELECT NULL UNION SELECT 3 ORDER BY 1
SELECT 'a' AS x UNION ALL SELECT name FROM dept ORDER BY x
(SELECT id FROM emp ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM emp ORDER BY id LIMIT 1)
SELECT 1 UNION SELECT 'x'
SELECT 1, 2 UNION SELECT 1
WITH rich AS (SELECT * FROM emp WHERE salary > 90) SELECT count(*), max(name) FROM rich
WITH a AS (SELECT 1 x), b AS (SELECT x + 1 y FROM a) SELECT * FROM a, b
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t
WITH RECURSIVE chain AS (SELECT id, name, boss FROM emp WHERE id = 4 UNION ALL SELECT e.id, e.name, e.boss FROM emp e JOIN chain c ON e.id = c.boss) SELECT name FROM chain
WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT (n + 1) % 3 FROM t) SELECT n FROM t ORDER BY n
WITH x(a) AS (SELECT 1), y AS (SELECT a FROM x UNION SELECT 2) SELECT * FROM y ORDER BY a
WITH gone AS (DELETE FROM emp WHERE boss = 3 RETURNING name) SELECT * FROM gone ORDER BY name
SELECT count(*) FROM emp
WITH made AS (INSERT INTO dept VALUES (9, 'new') RETURNING id) INSERT INTO emp (dept_id, name) SELECT id, 'zoe' FROM made RETURNING dept_id, name
WITH u AS (UPDATE emp SET salary = 1 WHERE id = 1 RETURNING id, salary) SELECT u.salary, e.salary FROM u JOIN emp e USING (id)
SELECT * FROM (SELECT id FROM dept UNION SELECT 77) x WHERE id > 5 ORDER BY id
SELECT id FROM dept ORDER BY nosuch
`,
  },
  {
    name: 'insert',
    text: `
CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int DEFAULT 7, b text NOT NULL, c numeric(5,2) CHECK (c > 0), d int GENERATED ALWAYS AS (a * 2) STORED, UNIQUE (a, b))
INSERT INTO t (b) VALUES ('x') RETURNING *
INSERT INTO t (a, b, c) VALUES (DEFAULT, 'y', 1.005), (3, 'z', NULL) RETURNING id, a, b, c, d
INSERT INTO t (id, b) VALUES (1, 'q')
INSERT INTO t (id, b) OVERRIDING SYSTEM VALUE VALUES (100, 'q') RETURNING id
INSERT INTO t (a, b) VALUES (7, 'x')
INSERT INTO t (a) VALUES (1)
INSERT INTO t (b, c) VALUES ('neg', -1)
INSERT INTO t (b, nosuch) VALUES (1, 2)
INSERT INTO t (b, b) VALUES ('1', '2')
INSERT INTO t (b) VALUES ('1', '2')
INSERT INTO t (a, b) VALUES (1)
INSERT INTO t (d, b) VALUES (1, 'x')
INSERT INTO t (a, b) VALUES ('twelve', 'x')
INSERT INTO t (a, b) VALUES ('12', 'x') RETURNING a
INSERT INTO t (a, b) VALUES (true, 'x')
INSERT INTO t (c, b) VALUES (12345.6, 'wide')
INSERT INTO t (a, b) SELECT a + 100, b || b FROM t WHERE a < 10 ORDER BY id RETURNING a, b
INSERT INTO t (a, b) VALUES (7, 'x'), (8, 'w') ON CONFLICT DO NOTHING RETURNING a, b
INSERT INTO t (a, b) VALUES (8, 'w') ON CONFLICT (a, b) DO UPDATE SET c = 5, b = excluded.b || '!' RETURNING a, b, c
INSERT INTO t (a, b) VALUES (8, 'w!') ON CONFLICT (b, a) DO UPDATE SET c = t.c + 1 WHERE t.c > 5 RETURNING *
INSERT INTO t (a, b) VALUES (8, 'w!') ON CONFLICT ON CONSTRAINT t_a_b_key DO UPDATE SET c = t.c + 1 RETURNING c
INSERT INTO t (a, b) VALUES (8, 'w!') ON CONFLICT (a) DO NOTHING
INSERT INTO t (a, b) VALUES (5, 'p'), (5, 'p') ON CONFLICT (a, b) DO UPDATE SET c = 1
INSERT INTO t (a, b) VALUES (8, 'w!') ON CONFLICT (id) DO NOTHING
INSERT INTO t DEFAULT VALUES
INSERT INTO nosuch VALUES (1)
SELECT a, b, c, d FROM t ORDER BY a, b
CREATE TABLE u (k varchar(3) PRIMARY KEY, v int)
INSERT INTO u VALUES ('abc', 1), ('abc', 2)
INSERT INTO u VALUES ('abcd', 1)
INSERT INTO u VALUES ('abc   ', 1)
INSERT INTO u VALUES ('x')
SELECT * FROM u ORDER BY k
CREATE TABLE s (id serial PRIMARY KEY, n int)
INSERT INTO s (n) VALUES (1), (2) RETURNING id
INSERT INTO s VALUES (3, 3)
INSERT INTO s (n) VALUES (4)
INSERT INTO s (n) VALUES (4) RETURNING id
INSERT INTO s VALUES (DEFAULT, 9) RETURNING id
INSERT INTO s (id) VALUES (NULL)
`,
  },
  {
    name: 'update and delete',
    text: `${tables}
UPDATE emp SET salary = salary + 1 WHERE dept_id = 1 RETURNING id, salary
UPDATE emp SET (name, salary) = ('x', 1) WHERE id = 5 RETURNING name, salary
UPDATE emp SET (name, salary) = (SELECT d.name, d.id FROM dept d WHERE d.id = emp.dept_id) WHERE id = 4 RETURNING name, salary
UPDATE emp SET boss = id, id = boss WHERE id = 99
UPDATE emp e SET name = d.name FROM dept d WHERE d.id = e.dept_id AND d.name = 'dev' RETURNING e.id, e.name, d.id
UPDATE emp SET salary = DEFAULT WHERE id = 1 RETURNING salary
UPDATE emp SET dept_id = 42 WHERE id = 1
UPDATE emp SET name = NULL, name = 'a'
UPDATE emp SET nosuch = 1
UPDATE emp SET salary = 'much'
UPDATE emp SET name = 5 WHERE id = 2 RETURNING name
UPDATE emp SET salary = 12345678
UPDATE dept SET id = 1 WHERE id = 3
UPDATE dept SET id = 30 WHERE id = 3 RETURNING *
UPDATE dept SET id = 10 WHERE id = 1
UPDATE dept SET name = NULL WHERE id = 2
DELETE FROM dept WHERE id = 1
DELETE FROM dept WHERE id = 30 RETURNING name
DELETE FROM emp USING dept WHERE emp.dept_id = dept.id AND dept.name = 'dev' RETURNING emp.id
DELETE FROM emp WHERE id IN (SELECT id FROM emp WHERE boss IS NULL)
DELETE FROM emp
SELECT count(*) FROM emp
DELETE FROM dept WHERE nosuch = 1
TRUNCATE dept
TRUNCATE dept CASCADE
SELECT count(*) FROM dept
`,
  },
  {
    name: 'foreign keys',
    text: `
CREATE TABLE p (id int PRIMARY KEY, k text UNIQUE)
CREATE TABLE c1 (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE)
CREATE TABLE c2 (id int PRIMARY KEY, k text DEFAULT 'd' REFERENCES p (k) ON DELETE SET NULL ON UPDATE SET DEFAULT)
CREATE TABLE c3 (id int PRIMARY KEY, c1 int, FOREIGN KEY (c1) REFERENCES c1 (id) ON DELETE CASCADE)
CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree)
INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'd')
INSERT INTO c1 VALUES (10, 1), (11, 1), (12, 2), (13, NULL)
INSERT INTO c2 VALUES (20, 'a'), (21, 'b')
INSERT INTO c3 VALUES (30, 10), (31, 12)
INSERT INTO c1 VALUES (14, 9)
INSERT INTO tree VALUES (1, 2), (2, NULL)
INSERT INTO tree VALUES (3, 3)
INSERT INTO tree VALUES (4, 5)
DELETE FROM tree WHERE id = 2
DELETE FROM tree
UPDATE p SET id = 5 WHERE id = 1
SELECT * FROM c1 ORDER BY id
UPDATE p SET k = 'z' WHERE id = 2
SELECT * FROM c2 ORDER BY id
DELETE FROM p WHERE id = 5
SELECT * FROM c1 ORDER BY id
SELECT * FROM c3 ORDER BY id
SELECT * FROM c2 ORDER BY id
CREATE TABLE bad (x int REFERENCES nosuch)
CREATE TABLE bad (x int REFERENCES p (k))
CREATE TABLE bad (x int, FOREIGN KEY (x) REFERENCES c1 (p))
DROP TABLE p
DROP TABLE p CASCADE
INSERT INTO c1 VALUES (99, 99)
`,
  },
  {
    name: 'definitions',
    text: `
CREATE TABLE t (a int, b text)
CREATE TABLE t (a int)
CREATE TABLE IF NOT EXISTS t (a int)
INSERT INTO t VALUES (1, 'x'), (2, 'y')
ALTER TABLE t ADD COLUMN c int DEFAULT 5 NOT NULL
SELECT * FROM t ORDER BY a
ALTER TABLE t ADD COLUMN d serial
SELECT a, d FROM t ORDER BY a
ALTER TABLE t ADD COLUMN e int NOT NULL
ALTER TABLE t ADD PRIMARY KEY (a)
INSERT INTO t (a) VALUES (1)
INSERT INTO t (b) VALUES ('z')
ALTER TABLE t DROP COLUMN b
SELECT * FROM t ORDER BY a
INSERT INTO t VALUES (3, 6) RETURNING *
ALTER TABLE t RENAME COLUMN c TO cc
SELECT cc FROM t ORDER BY a
ALTER TABLE t ALTER COLUMN cc TYPE text USING 'n' || cc
SELECT cc FROM t ORDER BY a
ALTER TABLE t ALTER cc DROP NOT NULL, ALTER cc DROP DEFAULT
INSERT INTO t (a) VALUES (4) RETURNING cc
ALTER TABLE t ALTER cc SET NOT NULL
UPDATE t SET cc = 'new' WHERE cc IS NULL
ALTER TABLE t ALTER cc SET NOT NULL
ALTER TABLE t ADD CONSTRAINT short CHECK (length(cc) < 3)
ALTER TABLE t ADD CONSTRAINT short CHECK (length(cc) < 4)
INSERT INTO t (a, cc) VALUES (5, 'long')
ALTER TABLE t ADD CONSTRAINT u UNIQUE (cc)
ALTER TABLE t DROP CONSTRAINT short
INSERT INTO t (a, cc) VALUES (5, 'long')
ALTER TABLE t DROP CONSTRAINT nosuch
ALTER TABLE t RENAME TO tt
SELECT count(*) FROM t
SELECT count(*) FROM tt
CREATE UNIQUE INDEX ON tt (lower(cc))
INSERT INTO tt (a, cc) VALUES (6, 'LONG')
CREATE UNIQUE INDEX part ON tt (d) WHERE d > 100
INSERT INTO tt (a, cc, d) VALUES (6, 'g', 1), (7, 'h', 101)
INSERT INTO tt (a, cc, d) VALUES (8, 'i', 101)
DROP INDEX part
INSERT INTO tt (a, cc, d) VALUES (8, 'i', 101)
DROP INDEX tt_pkey
CREATE VIEW v AS SELECT a, cc FROM tt WHERE a > 5
SELECT * FROM v ORDER BY a
CREATE OR REPLACE VIEW v AS SELECT a, cc, d FROM tt WHERE a = 6
SELECT * FROM v
DROP TABLE tt
DROP TABLE tt CASCADE
SELECT * FROM v
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')
CREATE TABLE m (id int, mood mood)
INSERT INTO m VALUES (1, 'ok'), (2, 'happy'), (3, 'sad')
INSERT INTO m VALUES (4, 'angry')
SELECT id FROM m WHERE mood > 'sad' ORDER BY mood DESC
DROP TYPE mood
CREATE SEQUENCE s INCREMENT 5 START 10
SELECT nextval('s'), nextval('s')
CREATE TABLE made AS SELECT 1 AS one, 'x'::text AS x
SELECT * FROM made
SELECT one INTO made2 FROM made
SELECT * FROM made2
CREATE SCHEMA app
CREATE TABLE app.t (id int PRIMARY KEY)
INSERT INTO app.t VALUES (1), (1)
SELECT * FROM app.t
SELECT t.id FROM app.t
SELECT app.t.id FROM app.t
DROP SCHEMA app
DROP SCHEMA app CASCADE
DROP TABLE IF EXISTS nosuch
DROP TABLE nosuch
CREATE TABLE dup (a int, a int)
CREATE TABLE two (a int PRIMARY KEY, b int PRIMARY KEY)
CREATE TABLE ty (a nosuch)
`,
  },
  {
    name: 'sequences that a column owns',
    text: `
CREATE TABLE t (id int PRIMARY KEY, n int, m int)
CREATE SEQUENCE s OWNED BY t.id
CREATE SEQUENCE u
ALTER SEQUENCE u OWNED BY t.n
ALTER TABLE t ALTER n SET DEFAULT nextval('u')
SELECT nextval('s'), nextval('u')
INSERT INTO t (id) VALUES (nextval('s'))
SELECT * FROM t
TRUNCATE t RESTART IDENTITY
SELECT nextval('s'), nextval('u')
ALTER SEQUENCE s RENAME TO s2
SELECT nextval('s2')
ALTER TABLE t DROP COLUMN id
SELECT nextval('s2')
ALTER SEQUENCE u OWNED BY t.m
ALTER TABLE t DROP COLUMN n
SELECT nextval('u')
BEGIN
DROP TABLE t
SELECT nextval('u')
ROLLBACK
SELECT nextval('u')
ALTER SEQUENCE u OWNED BY NONE
DROP TABLE t
SELECT nextval('u')
CREATE TABLE t (id serial, n int GENERATED ALWAYS AS IDENTITY)
ALTER SEQUENCE t_id_seq OWNED BY NONE
ALTER SEQUENCE t_n_seq OWNED BY NONE
ALTER SEQUENCE t_n_seq OWNED BY t.id
DROP TABLE t
SELECT nextval('t_id_seq')
CREATE SCHEMA app
CREATE TABLE app.other (id int)
ALTER SEQUENCE u OWNED BY nosuch.id
ALTER SEQUENCE u OWNED BY app.other.id
ALTER SEQUENCE u OWNED BY other
CREATE TABLE o (id int)
ALTER SEQUENCE u OWNED BY o.nosuch
CREATE SEQUENCE w OWNED BY o.nosuch
ALTER SEQUENCE u OWNED BY o.id
DROP SEQUENCE u
DROP TABLE o
`,
  },
  {
    name: 'definitions in transactions',
    text: `
CREATE TABLE t (a int PRIMARY KEY)
INSERT INTO t VALUES (1)
BEGIN
ALTER TABLE t ADD COLUMN b int DEFAULT 2
SELECT * FROM t
CREATE TABLE u (x int)
INSERT INTO u VALUES (1)
INSERT INTO t VALUES (2, 3)
ROLLBACK
SELECT * FROM t
SELECT * FROM u
BEGIN
DROP TABLE t
ROLLBACK
SELECT * FROM t
BEGIN
TRUNCATE t
ROLLBACK
SELECT * FROM t
BEGIN
ALTER TABLE t ALTER a TYPE text
INSERT INTO t VALUES ('x')
ROLLBACK
INSERT INTO t VALUES (5)
SELECT * FROM t ORDER BY a
BEGIN
CREATE UNIQUE INDEX i ON t ((a % 4))
ROLLBACK
INSERT INTO t VALUES (9)
`,
  },
  {
    name: 'catalogs',
    text: `${tables}
CREATE TYPE mood AS ENUM ('sad', 'ok')
CREATE TABLE x (a bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, b varchar(10) DEFAULT 'new' NOT NULL, c numeric(10,2) DEFAULT 0, d timestamptz DEFAULT now(), e boolean DEFAULT true, f text[], g mood, h jsonb DEFAULT '{}', i uuid, j timestamp(3) DEFAULT CURRENT_TIMESTAMP, CHECK (c >= 0), UNIQUE (b, c))
CREATE INDEX x_d ON x (d DESC, lower(b)) WHERE e
select table_name, is_insertable_into from information_schema.tables where table_name = 'emp' and table_schema = 'public'
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1
SELECT column_name, ordinal_position, is_nullable, data_type, udt_name, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, is_identity, identity_generation FROM information_schema.columns WHERE table_name = 'x' ORDER BY ordinal_position
SELECT column_name, column_default FROM information_schema.columns WHERE table_name IN ('x', 'emp') ORDER BY table_name, ordinal_position
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name IN ('x', 'emp', 'dept') AND constraint_name NOT LIKE '%not_null' ORDER BY 1
SELECT tc.constraint_name, kcu.column_name, ccu.table_name, ccu.column_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = tc.constraint_name WHERE tc.constraint_type = 'FOREIGN KEY'
SELECT constraint_name, unique_constraint_name, match_option, update_rule, delete_rule FROM information_schema.referential_constraints
SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'pg_t%' ORDER BY 1
SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' ORDER BY 1
SELECT a.attname, a.attnum, a.attnotnull, a.atthasdef, a.attidentity, t.typname, a.atttypmod FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_class c ON c.oid = a.attrelid WHERE c.relname = 'x' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT i.relname AS name, ix.indisprimary AS primary, ix.indisunique AS unique, array_agg(a.attname) AS columns FROM pg_class t, pg_class i, pg_index ix, pg_attribute a WHERE t.oid = ix.indrelid AND i.oid = ix.indexrelid AND a.attrelid = t.oid AND a.attnum = ANY(ix.indkey) AND t.relkind = 'r' AND t.relname = 'emp' GROUP BY i.relname, ix.indexrelid, ix.indisprimary, ix.indisunique ORDER BY i.relname
SELECT conname, contype, confdeltype, confupdtype, conkey, confkey FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid WHERE t.relname IN ('x', 'emp', 'dept') ORDER BY conname
SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('dept', 'emp') ORDER BY 1
SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1
SELECT e.enumlabel FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typname = 'mood' ORDER BY e.enumsortorder
SELECT oid, typname, typlen, typtype, typcategory, typelem, typarray FROM pg_catalog.pg_type WHERE typname IN ('bool', 'int4', 'text', 'timestamptz', 'numeric', '_int4', '_text', 'uuid', 'jsonb') ORDER BY oid
SELECT typname, typlen, typbyval FROM pg_type WHERE typname IN ('void', 'unknown', 'record') ORDER BY 1
SELECT typtype, typcategory, typname FROM pg_type WHERE typname IN ('mood', '_mood') ORDER BY 3
SELECT sequence_name, data_type, start_value, increment FROM information_schema.sequences ORDER BY 1
SELECT count(*) FROM pg_catalog.pg_type a LEFT JOIN pg_catalog.pg_type b ON b.oid = a.typelem WHERE a.typcategory = 'A' AND b.typname = 'mood' GROUP BY b.oid, b.typarray ORDER BY b.oid
COMMENT ON TABLE x IS 'a table'
`,
  },
  {
    name: 'what drivers and ORMs send',
    text: `${tables}
CREATE TABLE jobs (id serial PRIMARY KEY, state text DEFAULT 'new', run_at int)
INSERT INTO jobs (run_at) VALUES (3), (1), (2)
UPDATE jobs SET state = 'taken' WHERE id = (SELECT id FROM jobs WHERE state = 'new' ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, state
UPDATE jobs SET state = 'taken' WHERE id IN (SELECT id FROM jobs WHERE state = 'new' ORDER BY run_at FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id
WITH next AS (SELECT id FROM jobs WHERE state = 'new' LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE jobs SET state = 'taken' FROM next WHERE jobs.id = next.id RETURNING jobs.*
DELETE FROM jobs WHERE id = (SELECT min(id) FROM jobs) RETURNING id
SELECT * FROM jobs ORDER BY id FOR UPDATE
SELECT j.id FROM jobs j JOIN dept d ON d.id = j.id FOR UPDATE OF j
SELECT count(*) FROM jobs FOR UPDATE
SELECT id FROM jobs FOR UPDATE OF nosuch
SELECT id FROM jobs ORDER BY id LIMIT 1 FOR NO KEY UPDATE
SELECT DISTINCT id FROM jobs FOR SHARE
select "t"."id", "t"."name", "t_emps"."data" as "emps" from "dept" "t" left join lateral (select coalesce(json_agg(json_build_array("e"."id", "e"."name") order by "e"."id"), '[]'::json) as "data" from (select * from "emp" "x" where "x"."dept_id" = "t"."id") "e") "t_emps" on true order by "t"."id"
SELECT COUNT(*) FROM (SELECT "public"."emp"."id" FROM "public"."emp" WHERE 1=1 OFFSET 0) AS "sub"
SELECT "public"."emp"."id", "public"."emp"."name" FROM "public"."emp" WHERE ("public"."emp"."salary" >= 100 AND 1=1) ORDER BY "public"."emp"."id" ASC LIMIT 2 OFFSET 0
SELECT "e"."id" AS "e_id", "d"."name" AS "d_name" FROM "emp" "e" LEFT JOIN "dept" "d" ON "d"."id"="e"."dept_id" WHERE ( ("e"."name" = 'bob') ) AND ( "e"."id" IN (1, 2) )
SELECT DISTINCT "distinctAlias"."e_id" AS "ids_e_id" FROM (SELECT "e"."id" AS "e_id", "d"."name" AS "d_name" FROM "emp" "e" LEFT JOIN "dept" "d" ON "d"."id"="e"."dept_id") "distinctAlias" ORDER BY "e_id" ASC LIMIT 2
INSERT INTO "dept" ("id", "name") VALUES (7, 'seven') ON CONFLICT ("id") DO UPDATE SET "name" = EXCLUDED."name" RETURNING "id", "name"
insert into dept as d (id, name) values (7, 'again') on conflict (id) do update set name = d.name || excluded.name where d.id = 7 returning d.name
insert into dept (id, name) select 7, 'x' where not exists (select 1 from dept where id = 7)
UPDATE "emp" SET "salary" = ("public"."emp"."salary" + 10) WHERE ("public"."emp"."id" = 1 AND 1=1) RETURNING "public"."emp"."salary"
SELECT 1 AS "one" FROM "emp" WHERE "emp"."name" = 'ann' LIMIT 1
SELECT e AS whole FROM emp e WHERE id = 1
SELECT row_to_json(d) FROM dept d WHERE id = 1
SELECT count(e) FROM emp e
SELECT json_agg(x)::jsonb FROM (SELECT id FROM dept ORDER BY id) x
SELECT (SELECT json_agg(j)::jsonb FROM (SELECT e.name FROM emp e WHERE e.dept_id = d.id ORDER BY e.id) j) FROM dept d ORDER BY d.id
SELECT emp.*, dept.name AS dn FROM emp, dept WHERE emp.dept_id = dept.id AND emp.id = 1
SELECT CASE WHEN salary > 100 THEN 'rich' ELSE 'poor' END, coalesce(salary, 0), salary::int, 'x', 1 + 1, now() IS NULL, NOT true, name LIKE 'a%' FROM emp WHERE id = 3
SELECT "name" FROM emp WHERE lower(name) = 'ann' OR id = 2 ORDER BY name DESC NULLS LAST
SELECT max(id) + 1 AS next FROM emp
SELECT avg(salary)::float FROM emp
SELECT EXISTS (SELECT 1 FROM emp WHERE id = 99), 5 IN (SELECT id FROM emp)
SELECT EXISTS (SELECT 1 / 0), EXISTS (SELECT 1 / (id - 1) FROM emp WHERE id < 3)
SELECT * FROM emp WHERE dept_id IN (SELECT id FROM dept WHERE name LIKE 's%') ORDER BY id
SELECT d.*, (SELECT count(*) FROM emp WHERE emp.dept_id = d.id) AS n FROM dept d ORDER BY n DESC, d.id
SELECT e.name FROM emp e WHERE e.salary = (SELECT max(salary) FROM emp x WHERE x.dept_id = e.dept_id) ORDER BY 1
SELECT e.name FROM emp e WHERE NOT EXISTS (SELECT * FROM emp x WHERE x.boss = e.id) ORDER BY 1
DELETE FROM emp e WHERE EXISTS (SELECT 1 FROM dept d WHERE d.id = e.dept_id AND d.name = 'sales') AND id = 2 RETURNING e.name
EXPLAIN SELECT nosuch FROM dept
SELECT generate_series(1, 3), 'x'
SELECT id, unnest(ARRAY['a', 'b']) FROM dept WHERE id = 1
SELECT dept_id, name FROM emp UNION SELECT id, name FROM dept ORDER BY 2, 1
TABLE dept ORDER BY id
SELECT * FROM dept WHERE (id, name) IN ((1, 'sales'), (2, 'x'))
SELECT * FROM dept WHERE id = ANY ('{1,2}') ORDER BY id
SELECT * FROM dept WHERE id <> ALL ('{1,2}') ORDER BY id
SELECT dept.id FROM dept WHERE dept.name IN ('dev', NULL)
SELECT * FROM dept ORDER BY random() LIMIT 0
SELECT a.id FROM dept a JOIN dept b ON a.id < b.id ORDER BY a.id, b.id
SELECT x.id, y.id FROM dept x LEFT JOIN (dept y JOIN emp z ON z.dept_id = y.id) ON x.id = y.id ORDER BY 1, 2
SELECT x.id, y.n FROM dept x LEFT JOIN (SELECT dept_id, count(*) n FROM emp GROUP BY dept_id) y ON y.dept_id = x.id ORDER BY 1
WITH t AS MATERIALIZED (SELECT 1 a) SELECT t1.a, t2.a FROM t t1, t t2
WITH RECURSIVE tree AS (SELECT id, boss, 1 AS depth FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, e.boss, depth + 1 FROM emp e, tree t WHERE e.boss = t.id) SELECT depth, count(*) FROM tree GROUP BY depth ORDER BY 1
SELECT salary, count(*) OVER (PARTITION BY salary ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM emp ORDER BY id
`,
  },
];

/** The statements of a script, one a line. */
export function statementsOf({ text }: CorpusScript): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
