/** Random SELECTs over two small tables, each with an order that leaves nothing open: for comparing with a real server. */
import type { Chooser } from '../../src/base/chooser.ts';

/** `a` and `b`: unique and plain indexes, NULLs, equal values. */
export const randomQueryTables: readonly string[] = [
  'CREATE TABLE a (id int PRIMARY KEY, x int, y int, s text)',
  'CREATE TABLE b (id int PRIMARY KEY, x int, y int, s text, UNIQUE (x, y))',
  'CREATE INDEX a_x_y ON a (x, y)',
  'CREATE INDEX a_s ON a (s) WHERE y IS NOT NULL',
  "INSERT INTO a VALUES (1, 1, 1, 'p'), (2, 1, 2, 'q'), (3, 2, NULL, 'p'), (4, NULL, 3, NULL), (5, 3, 1, 'r'), (6, 2, 2, 'q')",
  "INSERT INTO b VALUES (1, 1, 1, 'q'), (2, 2, 1, NULL), (3, NULL, NULL, 'p'), (4, 1, NULL, 'p'), (5, 5, 2, 's'), (6, 2, 3, 'r')",
];

export class QueryMaker {
  readonly #chooser: Chooser;
  #names = 0;

  constructor(chooser: Chooser) {
    this.#chooser = chooser;
  }

  query(): string {
    const shape = this.#pick(['plain', 'plain', 'plain', 'group', 'set', 'distinct', 'window']);
    if (shape === 'set') {
      const word = this.#pick(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL', 'INTERSECT ALL']);
      return `${this.#simple(['x', 'y'])} ${word} ${this.#simple(['y', 'id'])} ORDER BY 1, 2`;
    }
    const { text, names } = this.#from();
    const where = this.#coin() ? ` WHERE ${this.#condition(names, 2)}` : '';
    if (shape === 'group') {
      const [key, value] = [this.#column(names), this.#column(names)];
      const having = this.#coin() ? ` HAVING count(*) > ${this.#number()}` : '';
      return `SELECT ${key}, count(*), sum(${value}), min(${value}), count(DISTINCT ${value}) FROM ${text}${where} GROUP BY ${key}${having} ORDER BY 1`;
    }
    if (shape === 'distinct') {
      return `SELECT DISTINCT ${this.#column(names)}, ${this.#column(names)} FROM ${text}${where} ORDER BY 1, 2`;
    }
    const columns = names.flatMap((name) => [`${name}.id`, `${name}.x`]).join(', ');
    const order = names.map((name) => `${name}.id`).join(', ');
    if (shape === 'window') {
      const call = this.#pick(['rank()', 'sum(', 'count(*)', 'row_number()', 'lag(']);
      const full = call.endsWith('(') ? `${call}${this.#column(names)})` : call;
      return `SELECT ${columns}, ${full} OVER (PARTITION BY ${this.#column(names)} ORDER BY ${order}) FROM ${text}${where} ORDER BY ${order}`;
    }
    const limit = this.#coin() ? ` LIMIT ${this.#number()} OFFSET ${this.#pick(['0', '1'])}` : '';
    const direction = this.#pick(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']);
    return `SELECT ${columns} FROM ${text}${where} ORDER BY ${this.#column(names)}${direction}, ${order}${limit}`;
  }

  #simple(columns: readonly string[]): string {
    const name = this.#pick(['a', 'b']);
    const where = this.#coin() ? ` WHERE ${this.#condition([name], 1)}` : '';
    return `SELECT ${columns.join(', ')} FROM ${name}${where}`;
  }

  #from(): { text: string; names: string[] } {
    const first = this.#item();
    let text = first.text;
    const names = [first.name];
    for (let joins = this.#chooser.choose(3); joins > 0; joins--) {
      const { text: right, name } = this.#item();
      const kind = this.#pick([',', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'CROSS JOIN']);
      const before = [...names];
      names.push(name);
      if (kind === ',' || kind === 'CROSS JOIN') {
        // A comma binds less than JOIN: what stands before would be out of sight of a later ON.
        text = `${text} CROSS JOIN ${right}`;
        continue;
      }
      // PostgreSQL does full joins over equalities only.
      const equal = `${this.#pick(before)}.${this.#pick(['id', 'x', 'y'])} = ${name}.${this.#pick(['id', 'x', 'y'])}`;
      const on = kind === 'FULL JOIN' ? equal : `${equal}${this.#coin() ? ` AND ${this.#condition(names, 1)}` : ''}`;
      text = `${text} ${kind} ${right} ON ${on}`;
    }
    return { text, names };
  }

  #item(): { text: string; name: string } {
    const name = `t${++this.#names}`;
    const table = this.#pick(['a', 'b']);
    if (this.#chooser.choose(6) > 0) return { text: `${table} ${name}`, name };
    return { text: `(SELECT id, x, y + 1 AS y, s FROM ${table} WHERE ${this.#condition([table], 1)}) ${name}`, name };
  }

  #condition(names: readonly string[], depth: number): string {
    if (depth > 0 && this.#chooser.choose(3) === 0) {
      const [left, right] = [this.#condition(names, depth - 1), this.#condition(names, depth - 1)];
      return this.#pick([`(${left} AND ${right})`, `(${left} OR ${right})`, `NOT (${left})`, `${left} AND ${right}`]);
    }
    const column = this.#column(names);
    const inner = `i${++this.#names}`;
    return this.#pick([
      `${column} = ${this.#number()}`,
      `${column} ${this.#pick(['<', '<=', '>', '>=', '<>'])} ${this.#number()}`,
      `${column} ${this.#pick(['=', '<', '>='])} ${this.#column(names)}`,
      `${column} IN (${this.#number()}, ${this.#number()})`,
      `${column} BETWEEN ${this.#number()} AND ${this.#number()}`,
      `${column} IS NULL`,
      `${column} IS NOT NULL`,
      `${column} = ANY (ARRAY[${this.#number()}, NULL])`,
      `${this.#pick(names)}.s = '${this.#pick(['p', 'q', 'r'])}'`,
      `(${column}, ${this.#column(names)}) = (${this.#number()}, ${this.#number()})`,
      `EXISTS (SELECT 1 FROM b ${inner} WHERE ${inner}.x = ${column})`,
      `${column} IN (SELECT ${inner}.y FROM a ${inner} WHERE ${inner}.x > ${this.#number()})`,
      `${column} NOT IN (SELECT ${inner}.id FROM b ${inner} WHERE ${inner}.x = ${this.#column(names)})`,
      `${column} > (SELECT min(${inner}.x) FROM b ${inner} WHERE ${inner}.id <> ${column})`,
    ]);
  }

  #column(names: readonly string[]): string {
    return `${this.#pick(names)}.${this.#pick(['id', 'x', 'y'])}`;
  }

  #number(): string {
    return this.#pick(['0', '1', '2', '3']);
  }

  #coin(): boolean {
    return this.#chooser.choose(2) === 1;
  }

  #pick<T>(options: readonly T[]): T {
    return options[this.#chooser.choose(options.length)] as T;
  }
}
