/** Random statements that change tables. */
import type { Statement } from './answer.ts';
import { QueryMaker } from './queries.ts';
import type { Column, Table } from './schema.ts';

export class WriteMaker extends QueryMaker {
  insert(): Statement {
    const table = this.#target();
    const columns = this.#some(table);
    const rows = this.choices.list(1, 3, () => this.#row(columns));
    const head = `INSERT INTO ${table.name} (${columns.map(({ name }) => name).join(', ')})`;
    const forms = [
      `${head} VALUES ${rows.join(', ')}${this.#returning(table)}`,
      `${head} VALUES ${rows[0]}${this.#returning(table)}`,
      `INSERT INTO ${table.name} ${this.dialect === 'postgres' ? 'DEFAULT VALUES' : '() VALUES ()'}`,
      `INSERT INTO ${table.name} VALUES ${rows[0]}`,
      `INSERT INTO ${table.name} (id, r) SELECT id + ${this.choices.pick(['10', '1', '20'])}, r FROM ${this.choices.pick(this.tables).name}${this.#returning(table)}`,
    ];
    if (this.dialect === 'mysql') forms.push(`INSERT INTO ${table.name} SET ${this.#assignments(table, false)}`);
    return { sql: this.choices.pick(forms) };
  }

  upsert(): Statement {
    const table = this.choices.pick(this.tables.slice(0, 2));
    const columns = this.#some(table);
    const head = `INTO ${table.name} (${columns.map(({ name }) => name).join(', ')})`;
    const rows = this.choices.list(1, 2, () => this.#row(columns)).join(', ');
    if (this.dialect === 'mysql') {
      const target = columns.at(-1)?.name ?? 'r';
      return {
        sql: this.choices.pick([
          `INSERT ${head} VALUES ${rows} ON DUPLICATE KEY UPDATE ${target} = VALUES(${target})`,
          `INSERT ${head} VALUES ${rows} ON DUPLICATE KEY UPDATE r = r + 1`,
          `INSERT ${head} VALUES ${rows} ON DUPLICATE KEY UPDATE ${this.#assignments(table)}`,
          `INSERT IGNORE ${head} VALUES ${rows}`,
          `REPLACE ${head} VALUES ${rows}`,
        ]),
      };
    }
    const key = this.choices.pick(['id', 'id', ...table.unique]);
    const target = columns.at(-1)?.name ?? 'r';
    return {
      sql: `${this.choices.pick([
        `INSERT ${head} VALUES ${rows} ON CONFLICT DO NOTHING`,
        `INSERT ${head} VALUES ${rows} ON CONFLICT (${key}) DO NOTHING`,
        `INSERT ${head} VALUES ${rows} ON CONFLICT (${key}) DO UPDATE SET ${target} = excluded.${target}`,
        `INSERT ${head} VALUES ${rows} ON CONFLICT (${key}) DO UPDATE SET r = ${table.name}.r + 1 WHERE ${table.name}.id > 1`,
        `INSERT ${head} VALUES ${rows} ON CONFLICT ON CONSTRAINT ${table.name}_pkey DO UPDATE SET r = excluded.id`,
      ])}${this.#returning(table)}`,
    };
  }

  update(): Statement {
    const table = this.#target();
    const source = [{ alias: table.name, columns: table.columns }];
    const where = this.choices.rarely(4) ? '' : ` WHERE ${this.condition(source, 1)}`;
    const other = this.choices.pick(this.tables);
    const both = [...source, { alias: 'o', columns: other.columns }];
    const set = this.#assignments(table);
    const forms = [
      `UPDATE ${table.name} SET ${set}${where}${this.#updateReturning(table)}`,
      `UPDATE ${table.name} SET id = id + ${this.choices.pick(['10', '1', '0'])}${where}`,
    ];
    if (this.dialect === 'postgres') {
      forms.push(
        // Each row of the target meets at most one other, or which one counts is open.
        `UPDATE ${table.name} SET r = o.id FROM (SELECT DISTINCT id FROM ${other.name}) o WHERE o.id = ${table.name}.${this.choices.pick(['id', 'r'])}${this.#updateReturning(table)}`,
        `UPDATE ${table.name} SET (r, id) = (SELECT max(o.id), ${table.name}.id FROM ${other.name} o WHERE ${this.condition(both, 1)})${where}`,
      );
    } else {
      forms.push(
        `UPDATE ${table.name} SET ${set}${where} ORDER BY ${table.name}.id DESC LIMIT ${table.isKeyed ? '2' : '100'}`,
        `UPDATE ${table.name} JOIN t0 AS o ON o.id = ${table.name}.r SET ${table.name}.r = o.id${this.choices.pick(['', ' + 1'])}`,
        `UPDATE IGNORE ${table.name} SET ${set}`,
      );
    }
    return { sql: this.choices.pick(forms) };
  }

  delete(): Statement {
    const table = this.#target();
    const source = [{ alias: table.name, columns: table.columns }];
    const other = this.choices.pick(this.tables);
    const both = [...source, { alias: 'o', columns: other.columns }];
    const forms = [`DELETE FROM ${table.name} WHERE ${this.condition(source, 1)}${this.#returning(table)}`];
    if (this.dialect === 'postgres') {
      forms.push(
        `DELETE FROM ${table.name} USING ${other.name} o WHERE ${table.name}.id = o.r AND ${this.condition(both, 1)}`,
      );
    } else {
      forms.push(
        `DELETE FROM ${table.name} WHERE ${this.condition(source, 1)} ORDER BY id LIMIT ${table.isKeyed ? '1' : '100'}`,
        `DELETE ${table.name} FROM ${table.name} JOIN ${other.name} o ON o.id = ${table.name}.r WHERE ${this.condition(both, 1)}`,
      );
    }
    return { sql: this.choices.pick(forms) };
  }

  /** Statements inside WITH that change tables; PostgreSQL only. */
  modifyingWith(): Statement {
    const [table, other] = [this.#target(), this.choices.pick(this.tables)];
    const source = [{ alias: table.name, columns: table.columns }];
    const where = this.condition(source, 1);
    return {
      sql: this.choices.pick([
        `WITH gone AS (DELETE FROM ${table.name} WHERE ${where} RETURNING id, r) SELECT count(*), min(id) FROM gone`,
        `WITH changed AS (UPDATE ${table.name} SET ${this.#assignments(table)} WHERE ${where} RETURNING *) SELECT * FROM changed`,
        `WITH made AS (INSERT INTO t2 (id, r) SELECT id, r FROM ${other.name} RETURNING id) SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM t2)`,
        `WITH gone AS (DELETE FROM t2 RETURNING id) INSERT INTO t2 (id) SELECT id + 1 FROM gone RETURNING id`,
      ]),
    };
  }

  transaction(): Statement {
    const words = [
      'BEGIN',
      'COMMIT',
      'ROLLBACK',
      'SAVEPOINT s',
      'ROLLBACK TO SAVEPOINT s',
      'RELEASE SAVEPOINT s',
      'SAVEPOINT s',
      'BEGIN',
    ];
    return { sql: this.choices.pick(words) };
  }

  define(): Statement {
    const table = this.#target();
    const { column } = this.anyColumn([{ alias: table.name, columns: table.columns }]);
    const name = table.name;
    const view = `CREATE ${this.choices.pick(['', 'OR REPLACE '])}VIEW v AS SELECT id, ${column.name} AS c FROM ${name} WHERE id > 0`;
    const both = [
      view,
      'SELECT * FROM v',
      'SELECT count(*) FROM v JOIN t0 ON t0.id = v.id',
      'DROP VIEW v',
      'DROP VIEW IF EXISTS v',
      `ALTER TABLE ${name} ADD COLUMN extra int DEFAULT 7`,
      `ALTER TABLE ${name} DROP COLUMN extra`,
      `SELECT extra FROM ${name}`,
      `CREATE INDEX ${name}_more ON ${name} (r)`,
      `CREATE UNIQUE INDEX ${name}_r ON ${name} (r)`,
      `DROP INDEX ${name}_more${this.dialect === 'mysql' ? ` ON ${name}` : ''}`,
      `TRUNCATE TABLE ${name}`,
      `DROP TABLE ${name}`,
      `CREATE TABLE ${name} (id int)`,
      `CREATE TABLE IF NOT EXISTS ${name} (id int)`,
      'ALTER TABLE t2 ADD CONSTRAINT ck CHECK (r < 5)',
      `ALTER TABLE ${name} RENAME COLUMN r TO rr`,
    ];
    const own =
      this.dialect === 'postgres'
        ? [
            'CREATE SEQUENCE s START 5 INCREMENT 2',
            "SELECT nextval('s'), currval('s')",
            "SELECT setval('s', 20)",
            'DROP SEQUENCE s',
            `ALTER TABLE ${name} ALTER COLUMN r TYPE bigint`,
            `ALTER TABLE ${name} ALTER COLUMN r SET NOT NULL`,
            `ALTER TABLE ${name} ALTER COLUMN r SET DEFAULT 2`,
            `PREPARE p (int) AS SELECT id FROM ${name} WHERE id = $1`,
            'EXECUTE p (1)',
            "EXECUTE p ('x')",
            'DEALLOCATE p',
            `TRUNCATE ${name} RESTART IDENTITY CASCADE`,
            'UPDATE v SET c = c WHERE id = 1',
          ]
        : [
            'SELECT LAST_INSERT_ID()',
            'ALTER TABLE t2 MODIFY r BIGINT',
            `ALTER TABLE ${name} ADD UNIQUE KEY uk (r)`,
            'SELECT ROW_COUNT()',
            'SELECT FOUND_ROWS()',
          ];
    return { sql: this.choices.pick([...both, ...own]) };
  }

  #target(): Table {
    return this.choices.pick(this.tables);
  }

  #some({ name, columns }: Table): Column[] {
    const rest = columns.slice(2).filter(() => !this.choices.rarely(3));
    const id = name === 't1' && !this.choices.rarely(3) ? [] : columns.slice(0, 1);
    return [...id, ...columns.slice(1, 2), ...rest];
  }

  #row(columns: readonly Column[]): string {
    return `(${columns.map((column) => this.#newValue(column)).join(', ')})`;
  }

  #newValue(column: Column): string {
    if (column.name === 'id') return this.choices.pick(['7', '1', '2', '8', '30', 'NULL', '1 + 1', 'DEFAULT']);
    if (column.name === 'r') return this.choices.pick(['1', 'NULL', '2', '99', 'DEFAULT']);
    const kind = this.choices.choose(12);
    if (kind === 11 && column.odd.length > 0) return this.choices.pick(column.odd);
    if (kind >= 9) return kind === 9 ? 'NULL' : 'DEFAULT';
    return this.choices.pick(column.literals);
  }

  #assignments({ name, columns }: Table, mayCompute = true): string {
    const able = columns.slice(1);
    const chosen = this.choices.list(1, 2, () => this.choices.pick(able));
    const unlike = [...new Set(chosen)];
    return unlike
      .map((column) => {
        const computed = column.family === 'number' ? `${name}.${column.name} + 1` : `${name}.${column.name}`;
        return `${column.name} = ${mayCompute && this.choices.rarely(3) ? computed : this.#newValue(column)}`;
      })
      .join(', ');
  }

  #returning(table: Table): string {
    if (this.dialect === 'mysql') return '';
    return this.choices.pick(['', ' RETURNING *', ` RETURNING ${table.name}.id AS i, r + 1`]);
  }

  #updateReturning(table: Table): string {
    return this.#returning(table).replace('*', `${table.name}.*`).replace(', r + 1', `, ${table.name}.r + 1`);
  }
}
